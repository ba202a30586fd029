/** The life of `borough populate`: reach the cluster, install, answer, say so, wait for a signal, finish. */
import type { Command } from 'commander'
import { systemClock } from '../base/clock.ts'
import { randomIds } from '../base/ids.ts'
import { PopulateMetrics, type PopulateOptions, startPopulate } from '../populate/populate.ts'
import { endBy, listenForEnding } from './ending.ts'
import { isForReaders, printReady } from './output.ts'
import type { PopulateFlags } from './populate-flags.ts'
import { populateReadyText } from './populate-ready-text.ts'
import { processLog } from './process-log.ts'
import { openFlags } from './remote-flags.ts'

/** Until a signal; a second one ends the process at once. */
export async function runPopulate(flags: PopulateFlags, command: Command): Promise<void> {
  const log = processLog(flags.logLevel)
  const metrics = new PopulateMetrics()
  const { client, server } = await openFlags(flags, 'populate', {
    onAnswer: (method, status) => metrics.answered(method, status),
  })
  using ending = listenForEnding()
  const { signal, asked } = ending
  const { listen, namespace, admission, failOpen } = flags
  const options = { client, clock: systemClock, ids: randomIds, log, metrics, listen, namespace, admission, failOpen }
  await using populate = await startPopulate({ ...options, reachedAt: reachedAt(flags), signal }).catch(
    async (error: unknown) => {
      if (!signal.aborted || error !== signal.reason) throw error
      endBy(await asked, 'it ends before it served, and the cluster is told what it was told before', ending)
      return undefined
    },
  )
  if (populate === undefined) return
  const { url, policies, registered } = populate
  await printReady(command, {
    value: { cluster: server, url, pid: process.pid, policies, failOpen, registered },
    text: (_paint, _isWide, shown) => populateReadyText(shown),
    names: registered,
  })
  const name = await asked
  if (isForReaders(command)) {
    process.stderr.write(
      `\n${name}: finishing what is under way; a second signal ends it at once. The cluster keeps what was ` +
        'registered: start this again, or take it off with borough populate --uninstall\n',
    )
  }
}

function reachedAt({ webhookUrl }: PopulateFlags): PopulateOptions['reachedAt'] {
  if (webhookUrl !== undefined) return { url: webhookUrl }
  // Every pod has it.
  return process.env['KUBERNETES_SERVICE_HOST'] === undefined ? 'listen' : 'service'
}
