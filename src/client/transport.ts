/** How a client's requests travel: into the pipeline of this process, or over the network. */
import type { Stream } from '../base/stream.ts'
import type { JsonValue, KubeObject } from '../kube/types.ts'

export interface TransportRequest {
  readonly method: string
  /** Path with encoded elements. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Instead of `body`, for a transport that shares values. */
  readonly value?: JsonValue
  readonly signal?: AbortSignal
  /** The answer is a stream of bytes rather than one body. */
  readonly streaming?: boolean
}

export interface TransportResponse {
  readonly status: number
  readonly header: (name: string) => string | undefined
  /** Bytes as they come; for a request that is not `streaming`, one item or none. */
  readonly body: Uint8Array | Stream<Uint8Array>
  /** What the body says, from a transport that shares values; `body` is then without meaning. Never to be changed. */
  readonly shared?: { readonly object: KubeObject } | { readonly events: Stream<readonly SharedEvent[]> }
}

export type SharedEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly stored: { readonly object: KubeObject } }
  | { readonly type: 'BOOKMARK'; readonly revision: number }

export interface Transport {
  /** The server refuses an apply with `If-None-Match: *` if the object exists; others ignore the header. */
  readonly knowsIfNoneMatch?: boolean
  /** It takes bodies of patches as values and answers with objects of the server, which the caller may not change. */
  readonly sharesValues?: boolean
  /** Rejects only when no answer was had. */
  send(request: TransportRequest): Promise<TransportResponse>
}
