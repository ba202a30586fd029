/** `host:port` on the command line. */
import { InvalidArgumentError } from 'commander'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export function parseListenAddress(text: string): ListenAddress {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new InvalidArgumentError('It must be host:port, such as 127.0.0.1:6443.')
  return { host: match[1] ?? (match[2] || '127.0.0.1'), port }
}
