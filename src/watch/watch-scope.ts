/** Which objects a session can see at all. */
export interface WatchScope {
  /** '' = all namespaces, or a cluster-scoped type. */
  readonly namespace: string
  /** The only name it wants; '' = any. */
  readonly name: string
}
