/** `borough template describe`, `borough template plan` and `borough template rollback`. */
import { type Command, InvalidArgumentError } from 'commander'
import type { RolloutState } from '../apis/templates/await-rollout.ts'
import { visibleText } from '../base/shell-text.ts'
import type { Client } from '../client/client.ts'
import type { KubeObject } from '../kube/types.ts'
import { durationOption, minuteMs } from './duration.ts'
import { outputOption, printAnswer } from './output.ts'
import { progressOf, withQuietFlag } from './progress-line.ts'
import { readDocuments } from './read-documents.ts'
import { openFlags, patienceMs, type RemoteFlags, withRemoteFlags } from './remote-flags.ts'
import { warningLines } from './warning-lines.ts'

interface PlanFlags extends RemoteFlags {
  readonly filename: readonly string[]
  readonly delete: readonly string[]
  readonly each: boolean
}

interface RollbackFlags extends RemoteFlags {
  readonly toGeneration?: number
  readonly wait: boolean
  readonly timeout: number
  readonly dryRun: boolean
}

/** What a plan says to a script. 1 is a fault: there is no plan. */
const exitCodes = { nothing: 0, changes: 2 } as const
/** Two requests per object, and there may be thousands of namespaces. */
const planPatienceMs = 30 * minuteMs
const defaultWaitMs = 10 * minuteMs

export function addTemplateCommand(program: Command): void {
  const template = program
    .command('template')
    .description('what templates ask and give, what they would do, and what they said before')
  addDescribeCommand(template)
  const plan = template.command('plan')
  withRemoteFlags(
    withQuietFlag(plan)
      .description('say what namespace templates would do to the namespaces that exist, and do nothing')
      .option('-f, --filename <files...>', 'NamespaceTemplates in YAML or JSON; - is standard input', [])
      .option('--delete <templates...>', 'names of templates whose deletion is planned', [])
      .option('--each', 'ask about each namespace, also of more than 1,000', false),
  )
    .addOption(outputOption('it'))
    .addHelpText(
      'after',
      `
For each namespace: what would be created, changed (from, to), pruned, refused and why. The server is asked by dry runs
as the user who runs this, so it takes the rights to write the objects. Namespaces that would be treated alike are named
together. Of more than 1,000, what 100 answered alike is not asked again where the same were applied to the same, and
the plan says so: what only one of the others would refuse (a full quota, a policy that names it) is found with --each.
Exit codes: 0 nothing would change, 2 something would, 1 there is no plan (the template itself would be refused).

Examples:
  borough template plan -f default.yaml
  borough template plan --delete default
  borough template plan -f default.yaml --each
  borough template plan -f default.yaml -o name      # the namespaces that would change
  kubectl get nstpl default -o json | jq '.spec.templates=[]' | borough template plan -f - -o json`,
    )
    .action(async (flags: PlanFlags, command: Command) => {
      const { systemClock } = await import('../base/clock.ts')
      const { planTemplates } = await import('../apis/templates/plan.ts')
      const { isChange, planText } = await import('./plan-text.ts')
      const templates = (await Promise.all(flags.filename.map(readTemplates))).flat()
      if (flags.filename.length > 0 && templates.length === 0) {
        throw new Error(`${flags.filename.join(', ')} holds no NamespaceTemplate`)
      }
      if (templates.length === 0 && flags.delete.length === 0) throw new Error('name templates by -f or by --delete')
      const { client } = await openFlags(flags, 'template-plan')
      const signal = AbortSignal.timeout(planPatienceMs)
      using progress = progressOf(command)
      const each = flags.each ? { asksEachUpTo: Number.POSITIVE_INFINITY } : {}
      const deps = { client, clock: systemClock, signal, report: progress.report, ...each }
      const plans = await planTemplates(deps, templates, flags.delete)
      progress[Symbol.dispose]()
      // Who wants the names alone shall hear of them all the same.
      if (command.getOptionValue('output') === 'name')
        plans.flatMap((p) => p.warnings ?? []).forEach(warningLines(command))
      const changing = plans.flatMap((p) => p.namespaces.filter((n) => isChange([n])))
      await printAnswer(command, {
        value: plans,
        text: (paint, isWide) => plans.map((p) => planText(p, paint, isWide)).join('\n'),
        names: [...new Set(changing.map(({ namespace }) => `namespace/${namespace}`))],
      })
      process.exitCode = changing.length > 0 ? exitCodes.changes : exitCodes.nothing
    })

  addRollbackCommand(template)
  addWaitCommand(template)
}

function addRollbackCommand(template: Command): void {
  withRemoteFlags(
    template
      .command('rollback')
      .description('make a template say again what it said before')
      .argument('<template>')
      .option('--to-generation <n>', 'which; default: the one before the present one', parseGeneration)
      .option('--dry-run', 'say what would be done', false)
      .option('--wait', 'until all namespaces have it, and tell how far it is on standard error', false)
      .addOption(durationOption('--timeout <duration>', 'how long to wait', defaultWaitMs)),
  )
    .addOption(outputOption('it'))
    .addHelpText(
      'after',
      `
The last ten generations of a template are kept as ControllerRevisions in kube-system. A step back is a change like any
other: it gets a new generation, and reaches namespaces as spec.rollout says.
Exit codes: 0 done, and with --wait all namespaces have it; 2 it did not reach all of them: it failed in some, it
stopped, another change came, or the time was up; 1 it was not done.

Examples:
  kubectl get controllerrevisions -n kube-system -l policy.borough.dev/namespace-template=default
  borough template rollback default
  borough template rollback default --to-generation 7 --dry-run
  borough template rollback default --wait --timeout 30m`,
    )
    .action(async (name: string, flags: RollbackFlags, command: Command) => {
      const { rollbackTemplate } = await import('../apis/templates/rollback.ts')
      const { client } = await openFlags(flags, 'template-rollback', { onWarning: warningLines(command) })
      const { toGeneration, dryRun } = flags
      const request = { name, dryRun, ...(toGeneration === undefined ? {} : { generation: toGeneration }) }
      const done = await rollbackTemplate(client, request, AbortSignal.timeout(patienceMs))
      const verb = dryRun ? 'would be' : 'is'
      await printAnswer(command, {
        value: { name, dryRun, ...done },
        text: (_paint, _isWide, shown) =>
          `${shown.name} ${verb} back at generation ${done.to}, as generation ${done.generation}\n`,
        names: [nameOf(name)],
      })
      if (flags.wait && !dryRun) {
        const { outcome } = await waitForRollout(client, name, done.generation, flags.timeout)
        process.exitCode = outcome === 'complete' ? exitCodes.nothing : exitCodes.changes
      }
    })
}

function addWaitCommand(template: Command): void {
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
          isComplete ? `${shown.name}: all namespaces have generation ${generation}\n` : '',
        names: isComplete ? [nameOf(name)] : [],
      })
      process.exitCode = isComplete ? exitCodes.nothing : exitCodes.changes
    })
}

type RolloutOutcome = NonNullable<RolloutState['outcome']> | 'timeout'

/** As it was when the wait ended. */
interface RolloutEnd extends Omit<RolloutState, 'outcome' | 'message'> {
  readonly outcome: RolloutOutcome
}

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
  let last: Omit<RolloutEnd, 'outcome'> = { matched: 0, synced: 0, failed: 0 }
  try {
    for await (const { outcome, message, ...figures } of rolloutStates(client, name, generation, signal)) {
      tell(progressText(generation, figures))
      if (outcome === 'superseded') tell('another change came')
      if (outcome === 'stopped') tell(`it stopped: ${message}`)
      last = figures
      if (outcome !== undefined) return { ...last, outcome }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  tell('the time is up, and it goes on')
  return { ...last, outcome: 'timeout' }
}

/** `1 of 2 namespaces have generation 3, 1 failed, first team-a: ConfigMap/one: Invalid: …` */
function progressText(generation: number, { matched, synced, failed, failure }: Omit<RolloutEnd, 'outcome'>): string {
  const far = `${synced} of ${matched} namespaces have generation ${generation}`
  if (failure === undefined) return failed > 0 ? `${far}, ${failed} failed` : far
  const { namespace, object, reason, message } = failure
  const first = [namespace, object, reason, message].filter((part) => part !== undefined)
  return `${far}, ${failed} failed, first ${visibleText(first.join(': '))}`
}

function addDescribeCommand(template: Command): void {
  withRemoteFlags(
    template
      .command('describe')
      .description('say what a template asks of the author of a namespace, and what it gives')
      .argument('<template>'),
  )
    .addOption(outputOption('it'))
    .addHelpText(
      'after',
      `
Which namespaces it selects, what right it takes to create one, which labels and annotations the namespace must or may
give, and what it is given.

Examples:
  borough template describe team`,
    )
    .action(async (name: string, flags: RemoteFlags, command: Command) => {
      const { describeTemplate } = await import('../apis/templates/describe.ts')
      const { descriptionText } = await import('./description-text.ts')
      const { client } = await openFlags(flags, 'template-describe')
      const description = await describeTemplate(client, name, AbortSignal.timeout(patienceMs))
      await printAnswer(command, {
        value: description,
        text: (paint, _isWide, shown) => descriptionText(shown, paint),
        names: [nameOf(name)],
      })
    })
}

const nameOf = (template: string): string => `namespacetemplate.policy.borough.dev/${template}`

function parseGeneration(value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw new InvalidArgumentError('It must be a whole number from 1.')
  return Number(value)
}

async function readTemplates(file: string): Promise<KubeObject[]> {
  const { isTemplate } = await import('../apis/templates/plan.ts')
  const all = await readDocuments(file, '--filename')
  const templates = all.filter(isTemplate)
  const others = all.filter((object) => !isTemplate(object))
  // A template of a mistyped group is none of the others: left out, it would look as if it changed nothing.
  const wrong = others.find(({ kind }) => templates.length === 0 || kind === 'NamespaceTemplate')
  if (wrong !== undefined) {
    throw new Error(`${file}: only NamespaceTemplates can be planned, this is a ${wrong.kind} of ${wrong.apiVersion}`)
  }
  if (others.length > 0) {
    const names = others.map(({ kind, metadata }) => `${kind} ${metadata?.name}`).join(', ')
    process.stderr.write(`${file}: only NamespaceTemplates are planned, left out: ${visibleText(names)}\n`)
  }
  return templates.map((object) => {
    if (!object.metadata?.name) throw new Error(`${file}: a template without metadata.name`)
    return { ...object, metadata: object.metadata }
  })
}
