/** The life of `borough populate`: reach the cluster, install, answer, say so, wait for a signal, finish. */
import { once } from 'node:events'
import { systemClock } from '../base/clock.ts'
import { randomIds } from '../base/ids.ts'
import { type Populate, PopulateMetrics, type PopulateOptions, startPopulate } from '../populate/populate.ts'
import type { PopulateFlags } from './populate-flags.ts'
import { processLog } from './process-log.ts'
import { openFlags } from './remote-flags.ts'

/** Until SIGINT or SIGTERM; a second signal ends the process at once. */
export async function runPopulate(flags: PopulateFlags): Promise<void> {
  const log = processLog(flags.logLevel)
  const metrics = new PopulateMetrics()
  const { client, server } = await openFlags(flags, 'populate', {
    onAnswer: (method, status) => metrics.answered(method, status),
  })
  await using populate = await startPopulate({
    client,
    clock: systemClock,
    ids: randomIds,
    log,
    metrics,
    listen: flags.listen,
    namespace: flags.namespace,
    reachedAt: reachedAt(flags),
    admission: flags.admission,
    failOpen: flags.failOpen,
  })
  const signalled = Promise.race([
    once(process, 'SIGINT').then(() => 'SIGINT'),
    once(process, 'SIGTERM').then(() => 'SIGTERM'),
  ])
  // After that: a process that waits for this line may send a signal at once.
  const { url, policies, registered } = populate
  const { failOpen } = flags
  process.stdout.write(
    flags.output === 'json'
      ? `${JSON.stringify({ cluster: server, url, pid: process.pid, policies, failOpen, registered })}\n`
      : `Namespaces of ${server} are populated from templates; webhooks at ${url}\n` +
          `Registered: ${registered.join(', ')}\n` +
          `While no replica answers, ${absenceOf(policies, failOpen)}\n`,
  )
  const signal = await signalled
  if (flags.output !== 'json') {
    process.stderr.write(
      `\n${signal}: finishing what is under way; a second signal ends it at once. The cluster keeps what was ` +
        'registered: start this again, or take it off with borough populate --uninstall\n',
    )
  }
  const impatient = (): void => process.exit(130)
  process.once('SIGINT', impatient)
  process.once('SIGTERM', impatient)
}

/** What becomes of namespaces then. */
function absenceOf(policies: Populate['policies'], failOpen: boolean): string {
  if (policies === 'all') {
    const set = 'those that a template gives labels, annotations or an end are'
    return `namespaces are created and wait for their templates; ${set} ${failOpen ? 'created without' : 'refused'}`
  }
  if (failOpen) return 'namespaces are created unasked (--fail-open) and populated later'
  return 'namespaces are neither created nor changed; --fail-open lets them'
}

function reachedAt({ webhookUrl }: PopulateFlags): PopulateOptions['reachedAt'] {
  if (webhookUrl !== undefined) return { url: webhookUrl }
  // Every pod has it.
  return process.env['KUBERNETES_SERVICE_HOST'] === undefined ? 'listen' : 'service'
}
