/** How far work has come that takes a while. */
export interface Progress {
  /** `copying`, `verifying` */
  readonly doing: string
  readonly done: number
  /** Of how many; absent: not known before the end. */
  readonly total?: number
  /** Of what: `entries`, `namespaces`. */
  readonly unit: string
  /** Beside the figures: `34.5 MiB`. */
  readonly note?: string
}

/** Called as often as something was done; what shows it leaves most of it out. */
export type ReportProgress = (progress: Progress) => void
