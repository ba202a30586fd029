/** What every group of rows is given. */
import { readFileSync } from 'node:fs'
import type { BareServer } from '../bare-server.ts'
import type { Endpoint, Protocol } from '../load/connection.ts'
import type { Load } from '../load/load.ts'
import type { Borough, Target } from '../target.ts'

export interface Bench {
  readonly borough: Borough
  readonly peer: Target | undefined
  /** Its file. */
  readonly peerKubeconfig: string | undefined
  readonly bare: BareServer
  readonly load: Load
  readonly rounds: number
  readonly roundMs: number
  readonly quick: boolean
  readonly full: boolean
  /** Of the fairness rows, those whose name holds it; absent = all. */
  readonly attack: string | undefined
  /** For the rows about scale; undefined = their own. */
  readonly namespaces: readonly number[] | undefined
  /** For the soak; undefined = its own. */
  readonly minutes: number | undefined
  /** A fresh folder. */
  readonly tempDir: () => Promise<string>
  readonly say: (text: string) => void
}

export const targetsOf = ({ borough, peer }: Bench): readonly Target[] => [borough, ...(peer ? [peer] : [])]

/** The bare server trusts the same client certificates. */
export function bareEndpoint({ bare, borough }: Bench, protocol: Protocol): Endpoint {
  return { ...borough.endpoint, host: '127.0.0.1', port: protocol === 'h2' ? bare.http2Port : bare.http1Port }
}

const ticksPerSecond = 100

/** CPU time of a process of this machine so far, all its threads; undefined where /proc is missing. */
export function cpuMsOf(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export const configMap = (name: string, dataBytes: number): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: 'bench', tier: 'backend' } },
  data: { key: 'x'.repeat(dataBytes) },
})
