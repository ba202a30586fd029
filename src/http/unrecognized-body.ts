/** The refusal of a body that is no object at all, in upstream's words. */
import type { ResourceType } from '../kube/resource-type.ts'
import { badRequest, type StatusError } from '../kube/status-error.ts'

const snippetBytes = 30

export function unrecognized(type: Pick<ResourceType, 'kind'>, problem: string, bytes: Uint8Array): StatusError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${type.kind}): ${problem} (${snippet(bytes)})`,
  )
}

/** What Go says before it knows what an object is. YAML is made JSON before that. */
export const noTypeMeta = (problem: string): string => `couldn't get version/kind; json parse error: ${problem}`

/** The beginning of the body: as text if it looks like JSON, else as hex. */
function snippet(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>'
  const head = Buffer.from(bytes.subarray(0, snippetBytes))
  const text = head[0] === 0x7b ? head.toString('utf8') : head.toString('hex')
  return bytes.length > snippetBytes ? `${text} ...` : text
}
