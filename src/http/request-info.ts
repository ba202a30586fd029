/**
 * The URL grammar, parsed once, first.
 *
 *   /api/v1/…  /apis/{group}/{version}/…           followed by one of
 *     {resource}[/{name}[/{subresource}]]
 *     namespaces/{ns}/{resource}[/{name}[/{subresource}]]
 *     namespaces/{name}[/status|/finalize]
 *     watch/…                                       any of the above, always a watch (legacy)
 *     list/{resource}                               all namespaces (legacy)
 *
 * @see k8s.io/apiserver/pkg/endpoints/request/requestinfo.go v0.36
 */
export interface RequestInfo {
  readonly isResource: boolean
  /** For non-resource requests: the lower-case method. */
  readonly verb: string
  readonly path: string
  readonly group: string
  readonly version: string
  /** For `/namespaces/x` itself: x. */
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** Path elements after the resource, itself included. */
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}
