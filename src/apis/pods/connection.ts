/**
 * What a client says in the URL of a connection to a pod, a Service or a node, as the object admission is asked about.
 */
import type { KubeObject } from '../../kube/types.ts'

const flags = ['stdin', 'stdout', 'stderr', 'tty'] as const
const isSet = (text: string | null): boolean => text !== null && text !== '0' && text.toLowerCase() !== 'false'

/** @param kind `PodExecOptions`, `PodAttachOptions`, `PodPortForwardOptions`, `…ProxyOptions` */
export function connectionOptions(kind: string, query: URLSearchParams): KubeObject {
  const object: KubeObject = { kind, apiVersion: 'v1', metadata: {} }
  if (kind === 'PodPortForwardOptions') {
    const ports = query.getAll('ports').map(Number)
    return ports.length === 0 ? object : { ...object, ports }
  }
  if (kind.endsWith('ProxyOptions')) {
    const path = query.get('path')
    return path ? { ...object, path } : object
  }
  for (const flag of flags) if (isSet(query.get(flag))) object[flag] = true
  const container = query.get('container')
  if (container) object['container'] = container
  const command = query.getAll('command')
  if (command.length > 0) object['command'] = command
  return object
}
