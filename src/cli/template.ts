/** `borough template describe` and `borough template plan`. */
import type { Command } from 'commander'
import { visibleText } from '../base/shell-text.ts'
import type { KubeObject } from '../kube/types.ts'
import { minuteMs } from './duration.ts'
import { outputOption, printAnswer } from './output.ts'
import { progressOf, withQuietFlag } from './progress-line.ts'
import { readDocuments } from './read-documents.ts'
import { openFlags, patienceMs, type RemoteFlags, withRemoteFlags } from './remote-flags.ts'
import { addRollbackCommand, addWaitCommand, nameOf } from './template-rollout.ts'
import { warningLines } from './warning-lines.ts'

interface PlanFlags extends RemoteFlags {
  readonly filename: readonly string[]
  readonly delete: readonly string[]
  readonly each: boolean
}

/** What a plan says to a script. 1 is a fault: there is no plan. */
const exitCodes = { nothing: 0, changes: 2 } as const
/** Two requests per object, and there may be thousands of namespaces. */
const planPatienceMs = 30 * minuteMs

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
        const where = flags.filename.map((name) => (name === '-' ? 'standard input' : name))
        throw new Error(`${where.join(', ')} holds no NamespaceTemplate`)
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
give, what it is given, who has rights in it, and which quotas limit it, those over several namespaces included. The
example is a command: it goes into bash, zsh or sh as it stands.

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

async function readTemplates(file: string): Promise<KubeObject[]> {
  const { isServedTemplate, servedTemplates } = await import('../apis/templates/plan.ts')
  const all = await readDocuments(file, '--filename')
  const templates = all.filter(isServedTemplate)
  const others = all.filter((object) => !isServedTemplate(object))
  // A template of a mistyped group is none of the others: left out, it would look as if it changed nothing.
  const wrong = others.find(({ kind }) => templates.length === 0 || kind === 'NamespaceTemplate')
  if (wrong !== undefined) {
    const told = `${wrong.kind ?? 'object without a kind'} of ${wrong.apiVersion ?? 'no apiVersion'}`
    throw new Error(
      `${file}: only NamespaceTemplates of ${servedTemplates} can be planned, this is a ${visibleText(told)}`,
    )
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
