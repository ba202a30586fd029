/** The names that the serving certificate must cover. */
import { isIP } from 'node:net'
import { addressBytes } from '../base/x509-certificate.ts'

export interface ServingNamesOptions {
  /** Host names or addresses that the server listens on; a wildcard stands for `addresses`. */
  readonly listenHosts: readonly string[]
  readonly hostName: string
  /** The machine's own addresses. */
  readonly addresses: readonly string[]
  /** What the operator adds. */
  readonly extra?: readonly string[]
}

const wellKnown = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]

/** Each once; what can't stand in a certificate (zones, odd host names) is left out. */
export function servingNames(options: ServingNamesOptions): string[] {
  const listen = options.listenHosts.flatMap((host) => (isWildcard(host) ? options.addresses : [host]))
  const all = [...wellKnown, options.hostName, ...listen, ...(options.extra ?? [])].map((name) => name.toLowerCase())
  return [...new Set(all)].filter((name) => (isIP(name) ? addressBytes(name) !== undefined : isHostName(name)))
}

const isWildcard = (host: string): boolean => host === '' || addressBytes(host)?.every((byte) => byte === 0) === true

const isHostName = (name: string): boolean =>
  name.length <= 253 && /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/.test(name)
