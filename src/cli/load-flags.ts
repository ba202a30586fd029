/** Flags that say what clients may do to the server before it defends itself; upstream's names where there is one. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Config, defaultConfig, defaultConnections, leastMemoryBytes } from '../app/config.ts'
import { durationOption } from './duration.ts'
import { type ListenAddress, parseListenAddress } from './listen-address.ts'
import { parseCount } from './number.ts'
import { oneLine } from './one-line.ts'

export interface LoadFlags {
  readonly adminListen?: ListenAddress
  readonly maxMemory: number
  readonly maxConnections?: number
  readonly maxConnectionsPerAddress?: number
  readonly maxConnectionsPerUser?: number
  readonly http2MaxStreamsPerConnection: number
  readonly maxRequestsInflight: number
  readonly maxMutatingRequestsInflight: number
  readonly requestTimeout: number
  readonly tlsHandshakeTimeout: number
  readonly headersTimeout: number
  readonly idleTimeout: number
  readonly slowTimeout: number
  readonly minBytesPerSecond: number
}

const mib = 1024 * 1024

/** As kube-apiserver. Their sum is the default of the configuration. */
const seats = { ofRequests: 400, ofMutatingRequests: 200 }

export function addLoadOptions(command: Command): void {
  const { maxMemoryBytes, deadlines, http2 } = defaultConfig.load
  const durations = [
    ['request-timeout', 'how long a request may be worked on; watches may last', deadlines.handlerMs],
    ['tls-handshake-timeout', 'how long a TLS handshake may take', deadlines.handshakeMs],
    [
      'headers-timeout',
      'how long a connection may take to its first request, and a request to end its headers',
      deadlines.headersMs,
    ],
    ['idle-timeout', 'after how long a connection without a request is closed', deadlines.idleMs],
    [
      'slow-timeout',
      'how long a body that comes in, or an answer that is read, may stay below the least rate',
      deadlines.slowMs,
    ],
  ] as const
  command
    .addOption(
      new Option(
        '--admin-listen <host:port>',
        'a second address, for members of system:masters alone, with connections of its own',
      ).argParser(parseListenAddress),
    )
    .addOption(
      new Option('--max-memory <mib>', 'what clients may make the server take beyond its cache and indices')
        .argParser(parseMemory)
        .default(maxMemoryBytes / mib, String(maxMemoryBytes / mib)),
    )
    .option(
      '--max-connections <n>',
      `open at once (default: ${defaultConnections} with the default of --max-memory)`,
      parseCount,
    )
    .option(
      '--max-connections-per-address <n>',
      'of one address, before a user is known on them (default: half of all)',
      parseCount,
    )
    .option('--max-connections-per-user <n>', 'of one user (default: half of all)', parseCount)
    .option(
      '--http2-max-streams-per-connection <n>',
      'requests and watches at once on one connection',
      parseCount,
      http2.streams,
    )
    .option(
      '--max-requests-inflight <n>',
      'with --max-mutating-requests-inflight: the seats that priority levels share',
      parseCount,
      seats.ofRequests,
    )
    .option(
      '--max-mutating-requests-inflight <n>',
      'added to --max-requests-inflight; reads and writes share the sum',
      parseCount,
      seats.ofMutatingRequests,
    )
    .option(
      '--min-bytes-per-second <n>',
      'the least rate of a body that comes in and of an answer that is read',
      parseCount,
      deadlines.leastBytesPerSecond,
    )
  for (const [name, about, ms] of durations) {
    command.addOption(durationOption(`--${name} <duration>`, about, ms))
  }
}

export function loadOf(flags: LoadFlags): Pick<Config, 'load' | 'adminListen'> {
  const { http2 } = defaultConfig.load
  const streams = flags.http2MaxStreamsPerConnection
  return {
    ...(flags.adminListen === undefined ? {} : { adminListen: flags.adminListen }),
    load: {
      maxMemoryBytes: flags.maxMemory * mib,
      connections: {
        ...(flags.maxConnections === undefined ? {} : { all: flags.maxConnections }),
        ...(flags.maxConnectionsPerAddress === undefined ? {} : { perAddress: flags.maxConnectionsPerAddress }),
        ...(flags.maxConnectionsPerUser === undefined ? {} : { perUser: flags.maxConnectionsPerUser }),
      },
      http2: { ...http2, streams, resets: Math.max(http2.resets, 2 * streams) },
      serverSeats: flags.maxRequestsInflight + flags.maxMutatingRequestsInflight,
      deadlines: {
        handlerMs: flags.requestTimeout,
        handshakeMs: flags.tlsHandshakeTimeout,
        headersMs: flags.headersTimeout,
        idleMs: flags.idleTimeout,
        slowMs: flags.slowTimeout,
        leastBytesPerSecond: flags.minBytesPerSecond,
      },
    },
  }
}

/** The system names an address that it refused, not the flag that asked for it. */
export function refusedAdminListen(error: unknown, asked: LoadFlags['adminListen']): Error | undefined {
  if (asked === undefined || !(error instanceof Error)) return undefined
  const { syscall, port } = error as NodeJS.ErrnoException & { readonly port?: number }
  if (syscall !== 'listen' || port !== asked.port) return undefined
  return new Error(oneLine(error).replace('--listen', '--admin-listen'), { cause: error })
}

/** The part of one of several processes: all together keep what was asked for. */
export function loadOfWorker(load: Config['load'], workers: number): Config['load'] {
  const shared = Object.entries(load.connections ?? {}).map(([name, n]) => [name, Math.ceil(n / workers)])
  return {
    ...load,
    maxMemoryBytes: Math.floor(load.maxMemoryBytes / workers),
    connections: Object.fromEntries(shared) as NonNullable<Config['load']['connections']>,
  }
}

function parseMemory(text: string): number {
  const value = Number(text)
  const least = leastMemoryBytes / mib
  if (!(Number.isSafeInteger(value) && value >= least)) {
    throw new InvalidArgumentError(`It must be a whole number of MiB, ${least} or more.`)
  }
  return value
}
