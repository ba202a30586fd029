/**
 * `/namespaces/x/finalize` and `/namespaces/x/status` are about the namespace x. A resource type of that name could
 * never be reached under `/namespaces/x/`, whatever its group.
 */
export const namespaceSubresources: ReadonlySet<string> = new Set(['finalize', 'status'])
