/**
 * What a process that uses a store and the one that holds it say to each other, and how they say it: everything of one
 * turn travels as one message.
 */
import type { RelayPort } from '../../base/relay-port.ts'
import type { ChangeBatch, Commit, Entry, Revision, Span, StorageErrorCode, StoreReport } from '../storage.ts'
import { StorageError } from '../storage.ts'

/** A ticket is named by its number; `never` = the transaction that was followed has failed. */
export type SentExpect = Revision | 'absent' | 'never' | { readonly left: number }

export interface SentTransaction {
  readonly guards: readonly { readonly key: string; readonly expect: SentExpect }[]
  readonly writes: readonly {
    readonly key: string
    readonly expect: SentExpect
    readonly value: Uint8Array | undefined
  }[]
}

/** `id` is unique among everything that one side asks. */
export type ToHolder =
  | { readonly type: 'get'; readonly id: number; readonly key: string; readonly at: Revision | undefined }
  | {
      readonly type: 'range'
      readonly id: number
      readonly span: Span
      readonly at: Revision | undefined
      readonly limit: number | undefined
    }
  | { readonly type: 'currentRevision' | 'compactedRevision' | 'report'; readonly id: number }
  | { readonly type: 'compact'; readonly id: number; readonly before: Revision }
  /** Tickets up to `settled` will not be named any more, but for those of later messages. */
  | { readonly type: 'commit'; readonly id: number; readonly transaction: SentTransaction; readonly settled: number }
  | { readonly type: 'watch'; readonly id: number; readonly span: Span; readonly after: Revision }
  /** The batch was taken; the next may come. */
  | { readonly type: 'more'; readonly id: number }
  /** The answer, or the rest of the watch, is no longer wanted. */
  | { readonly type: 'forget'; readonly id: number }

export interface SentError {
  readonly code: StorageErrorCode
  readonly message: string
}

export type FromHolder =
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly error: SentError }
  | { readonly type: 'batch'; readonly id: number; readonly batch: ChangeBatch }

/** Values of `answer`. */
export interface Answers {
  readonly get: { readonly revision: Revision; readonly entry: Entry | undefined }
  readonly range: { readonly revision: Revision; readonly entries: readonly Entry[]; readonly more: boolean }
  readonly currentRevision: Revision
  readonly compactedRevision: Revision
  readonly report: StoreReport
  readonly compact: undefined
  readonly commit: Commit
}

/** Joins what is said in one turn. */
export class Outbox<Message> {
  readonly #port: RelayPort
  #waiting: Message[] = []

  constructor(port: RelayPort) {
    this.#port = port
  }

  put(message: Message): void {
    this.#waiting.push(message)
    if (this.#waiting.length > 1) return
    queueMicrotask(() => {
      const messages = this.#waiting
      this.#waiting = []
      this.#port.send(messages)
    })
  }
}

export function toSentError(error: unknown): SentError {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e instanceof StorageError) return { code: e.code, message: e.message }
  }
  return { code: 'unavailable', message: error instanceof Error ? error.message : String(error) }
}

export const fromSentError = ({ code, message }: SentError): StorageError => new StorageError(code, message)
