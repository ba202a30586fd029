/**
 * `borough doctor`: examines a data directory and a server, and says of each thing how it is and what to do. It reads;
 * what it asks of a server changes nothing there.
 */
import type { Clock } from '../base/clock.ts'
import type { Remote } from '../client/remote.ts'
import { examineDataDirectory } from './data-directory.ts'
import type { Finding } from './finding.ts'
import { examinePopulation } from './population.ts'
import { examineReadiness } from './readiness.ts'
import { examineServer, isBorough } from './server.ts'
import { examineWebhooks } from './webhooks.ts'

export type { Finding, Health } from './finding.ts'

export interface Patient {
  readonly dataDir?: string
  readonly remote?: Remote
  /** Where `borough populate` keeps its Secret and its Lease. */
  readonly namespace: string
}

const patienceMs = 60_000

export async function examine({ dataDir, remote, namespace }: Patient, clock: Clock): Promise<readonly Finding[]> {
  const ofDirectory = dataDir === undefined ? [] : await examineDataDirectory(dataDir, clock)
  if (remote === undefined) return ofDirectory
  const { findings: ofServer, gitVersion } = await examineServer(remote, clock)
  const findings = [...ofDirectory, ...ofServer]
  if (gitVersion === undefined) return findings
  const { client } = remote
  const common = { client, nowMs: clock.now(), signal: AbortSignal.timeout(patienceMs) }
  const readiness = await examineReadiness(remote)
  const hooks = await examineWebhooks({ ...common, mayKnowAddresses: isBorough(gitVersion) })
  const population = await examinePopulation({ ...common, gitVersion, namespace })
  return [...findings, ...readiness, ...hooks, ...population]
}
