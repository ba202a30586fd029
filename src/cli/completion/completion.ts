/** `borough completion`, and `borough __complete`, which the scripts that it prints ask. */
import { Argument, type Command } from 'commander'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { type Candidates, findCandidates, type NameSource } from './candidates.ts'
import { completionScripts, type Shell, shells } from './scripts.ts'

/** Of Cobra's protocol: no file may stand here. */
const noFile = 4
/** A shell waits for it at each key. */
const patienceMs = 1500
const mostNames = 500

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print what a shell reads to complete the commands, flags and names of borough')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText(
      'after',
      `
Names of namespaces and templates are asked of the server of the kubeconfig. For kubectl borough, kubectl asks by itself
where the executable kubectl_complete-borough is on the PATH, which the package brings.

Examples:
  source <(borough completion bash)
  borough completion zsh > "\${fpath[1]}/_borough"
  borough completion fish > ~/.config/fish/completions/borough.fish`,
    )
    .action((shell: Shell) => {
      process.stdout.write(completionScripts[shell])
    })
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      process.stdout.write(printCandidates(await findCandidates(program, words, serverNames)))
    })
}

export function printCandidates({ values, isFile }: Candidates): string {
  const lines = values.map(({ value, description }) => (description === '' ? value : `${value}\t${description}`))
  return `${[...lines, `:${isFile ? 0 : noFile}`].join('\n')}\n`
}

/**
 * Those that Kubernetes takes. A shell puts the only candidate into the line as it is, where `$(…)` would run: a server
 * may say what it likes.
 */
export const namesToType = (names: readonly string[]): readonly string[] =>
  names.filter((name) => /^[a-z0-9][a-z0-9.-]*$/.test(name))

const resourceOf: Readonly<Record<string, GroupVersionResource>> = {
  namespace: { group: '', version: 'v1', resource: 'namespaces' },
  template: { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' },
}

/** A server that can't be asked has no names: a completion has no place for an error. */
const serverNames: NameSource = {
  async namesOf(argument, flags) {
    const resource = resourceOf[argument.toLowerCase()]
    if (resource === undefined) return []
    const [kubeconfig, context] = [flags.get('kubeconfig'), flags.get('context')]
    const { openFlags } = await import('../remote-flags.ts')
    try {
      const { client } = await openFlags(
        { ...(kubeconfig === undefined ? {} : { kubeconfig }), ...(context === undefined ? {} : { context }) },
        'completion',
      )
      const { items } = await client.list(resource, { limit: mostNames, signal: AbortSignal.timeout(patienceMs) })
      return namesToType(items.flatMap(({ metadata: { name } }) => name ?? []))
    } catch {
      return []
    }
  },
}
