/** `borough template rollback` and `borough template wait`. */
import { type Command, InvalidArgumentError } from 'commander'
import type { RolloutState } from '../apis/templates/await-rollout.ts'
import type { RolledBack } from '../apis/templates/rollback.ts'
import { visibleText } from '../base/shell-text.ts'
import type { Client } from '../client/client.ts'
import { durationOption, minuteMs } from './duration.ts'
import { outputOption, printAnswer } from './output.ts'
import { openFlags, patienceMs, type RemoteFlags, withRemoteFlags } from './remote-flags.ts'
import { warningLines } from './warning-lines.ts'

interface RollbackFlags extends RemoteFlags {
  readonly toGeneration?: number
  readonly wait: boolean
  readonly timeout: number
  readonly dryRun: boolean
}

/** 1 is a fault: it was not done. */
const exitCodes = { everywhere: 0, notEverywhere: 2 } as const
const defaultWaitMs = 10 * minuteMs

export function addRollbackCommand(template: Command): void {
  withRemoteFlags(
    template
      .command('rollback')
      .description('make a template say again what it said before')
      .argument('<template>')
      .option(
        '--to-generation <n>',
        'which; default: the newest of those before it said what it says now',
        parseGeneration,
      )
      .option('--dry-run', 'say what would be done', false)
      .option('--wait', 'until all namespaces have it, and tell how far it is on standard error', false)
      .addOption(durationOption('--timeout <duration>', 'how long to wait', defaultWaitMs)),
  )
    .addOption(outputOption('it'))
    .addHelpText(
      'after',
      `
The last ten generations of a template are kept as ControllerRevisions in kube-system. A step back is a change like any
other: it gets a new generation, and reaches namespaces as spec.rollout says. One that takes away objects is stopped by
maxPrune like any other: then it says what confirms it. After a step back the next leads further back.
Exit codes: 0 done, and with --wait all namespaces have it; 2 it did not reach all of them: it failed in some, it
stopped (or will, as the server says at once; by a dry run: it would), another change came, or the time was up; 1 it
was not done.

Examples:
  kubectl get controllerrevisions -n kube-system -l policy.borough.dev/namespace-template=default
  borough template rollback default
  borough template rollback default --to-generation 7 --dry-run
  borough template rollback default --wait --timeout 30m`,
    )
    .action(async (name: string, flags: RollbackFlags, command: Command) => {
      const { confirmationOf, rollbackTemplate } = await import('../apis/templates/rollback.ts')
      const { client } = await openFlags(flags, 'template-rollback')
      const { toGeneration, dryRun } = flags
      const which = toGeneration === undefined ? {} : { generation: toGeneration }
      const request = { name, dryRun, ...which, onWarning: warningLines(command) }
      const done = await rollbackTemplate(client, request, AbortSignal.timeout(patienceMs))
      const { generation } = done
      const isWaiting = flags.wait && !dryRun
      if (isWaiting) process.stderr.write(`${name}: written as generation ${generation}\n`)
      const end = isWaiting ? await waitForRollout(client, name, generation, flags.timeout) : undefined
      const halt = haltOf(done, end)
      const confirm = halt === 'maxPrune' ? confirmationOf(name, generation) : undefined
      await printAnswer(command, {
        value: { name, dryRun, ...done, ...end, ...(confirm === undefined ? {} : { confirm }) },
        text: (_paint, _isWide, shown) => rollbackText(shown, halt, confirm),
        names: [nameOf(name)],
      })
      const isDone = end === undefined ? halt === undefined : end.outcome === 'complete'
      process.exitCode = isDone ? exitCodes.everywhere : exitCodes.notEverywhere
    })
}

/** What keeps a step back from namespaces, as far as it is known: at its end, or by what the server said at once. */
function haltOf({ stop }: RolledBack, end: RolloutEnd | undefined): string | undefined {
  if (end === undefined) return stop === 'certain' ? 'maxPrune' : stop && 'perhaps maxPrune'
  if (end.outcome !== 'stopped') return undefined
  return end.reason === 'TooManyPrunes' ? 'maxPrune' : end.reason
}

type Written = RolledBack & { readonly name: string; readonly dryRun: boolean }

function rollbackText({ name, dryRun, to, generation }: Written, halt: string | undefined, confirm?: string): string {
  if (halt === undefined)
    return `${name} ${dryRun ? 'would be' : 'is'} back at generation ${to}, as generation ${generation}\n`
  const said = `${name} ${dryRun ? 'would say' : 'says'} again what generation ${to} said, as generation ${generation}`
  const stops = dryRun ? 'would stop' : 'stops'
  if (confirm === undefined)
    return `${said}, but ${halt} ${stops} it${dryRun ? '' : `: borough template wait ${name}`}\n`
  const meant = `If it is meant, confirm it${dryRun ? ' then' : ''} with:`
  return `${said}, but ${halt} ${stops} it before it changes any namespace. ${meant}\n  ${confirm}\n`
}

export function addWaitCommand(template: Command): void {
  withRemoteFlags(
    template
      .command('wait')
      .description('wait until all namespaces have what a template says now')
      .argument('<template>')
      .addOption(durationOption('--timeout <duration>', 'how long to wait', defaultWaitMs)),
  )
    .addOption(outputOption('the end of it'))
    .addHelpText(
      'after',
      `
How far it is, and the first failure, stands on standard error.
Exit codes: 0 all namespaces have it; 2 it did not reach all of them: it failed in some, it stopped, another change
came, or the time was up; 1 it could not be found out.

Examples:
  kubectl apply -f default.yaml && borough template wait default --timeout 30m
  borough template wait default -o json | jq .outcome`,
    )
    .action(async (name: string, flags: RemoteFlags & { readonly timeout: number }, command: Command) => {
      const { presentGeneration } = await import('../apis/templates/await-rollout.ts')
      const { client } = await openFlags(flags, 'template-wait')
      const generation = await presentGeneration(client, name, AbortSignal.timeout(patienceMs))
      const end = await waitForRollout(client, name, generation, flags.timeout)
      const isComplete = end.outcome === 'complete'
      await printAnswer(command, {
        value: { name, generation, ...end },
        text: (_paint, _isWide, shown) =>
          isComplete ? `${shown.name}: all namespaces have generation ${generation}${addedText(end)}\n` : '',
        names: isComplete ? [nameOf(name)] : [],
      })
      process.exitCode = isComplete ? exitCodes.everywhere : exitCodes.notEverywhere
    })
}

type RolloutOutcome = NonNullable<RolloutState['outcome']> | 'timeout'

/** As it was when the wait ended. */
interface RolloutEnd extends Omit<RolloutState, 'outcome'> {
  readonly outcome: RolloutOutcome
}

type Figures = Omit<RolloutState, 'outcome' | 'reason' | 'message'>

/** @throws StatusError */
async function waitForRollout(
  client: Client,
  name: string,
  generation: number,
  timeoutMs: number,
): Promise<RolloutEnd> {
  const { rolloutStates } = await import('../apis/templates/await-rollout.ts')
  const tell = (text: string): boolean => process.stderr.write(`${name}: ${text}\n`)
  const signal = AbortSignal.timeout(timeoutMs)
  let last: Figures = { matched: 0, synced: 0, failed: 0 }
  try {
    for await (const { outcome, reason, message, ...figures } of rolloutStates(client, name, generation, signal)) {
      tell(progressText(generation, figures))
      if (outcome === 'superseded') tell('another change came')
      if (outcome === 'stopped') tell(`it stopped: ${message}`)
      last = figures
      const why = { ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) }
      if (outcome !== undefined) return { ...last, outcome, ...why }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  tell('the time is up, and it goes on')
  return { ...last, outcome: 'timeout' }
}

/** `1 of 2 namespaces have generation 3, 1 failed, first team-a: ConfigMap/one: Invalid: …` */
function progressText(generation: number, figures: Figures): string {
  const { matched, synced, failed, failure, skipped = 0, extended = 0 } = figures
  // What others have added to it, and what is left out, keeps no namespace from having it.
  const reached = synced + skipped + extended
  const far = `${reached} of ${matched} namespaces have generation ${generation}${addedText(figures)}`
  if (failure === undefined) return failed > 0 ? `${far}, ${failed} failed` : far
  const { namespace, object, reason, message } = failure
  const first = [namespace, object, reason, message].filter((part) => part !== undefined)
  return `${far}, ${failed} failed, first ${visibleText(first.join(': '))}`
}

const addedText = ({ extended = 0 }: Figures): string =>
  extended === 0 ? '' : `, and others have added to it in ${extended}`

function parseGeneration(value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw new InvalidArgumentError('It must be a whole number from 1.')
  return Number(value)
}

export const nameOf = (template: string): string => `namespacetemplate.policy.borough.dev/${template}`
