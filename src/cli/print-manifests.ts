/** `borough populate --print-manifests`: what an administrator reads, and then applies. */
import type { Command } from 'commander'
import { stringify } from 'yaml'
import { visibleText } from '../base/shell-text.ts'
import type { ServedKind } from '../client/client.ts'
import { heldKinds, kindsInTemplates, manifests, reachOf, servedKinds } from '../populate/populate.ts'
import { printAnswer } from './output.ts'
import type { PopulateFlags } from './populate-flags.ts'
import { readDocuments } from './read-documents.ts'
import { openFlags, patienceMs } from './remote-flags.ts'
import { placeOf } from './settings.ts'

/** With `--kubeconfig`, for the templates of that cluster too; without, no cluster is asked anything. */
export async function printManifests(flags: PopulateFlags, command: Command): Promise<void> {
  const remote = flags.kubeconfig === undefined ? undefined : await openFlags(flags, 'populate')
  const place = placeOf(command, 'filename')
  const templates = (await Promise.all(flags.filename.map((path) => readDocuments(path, place)))).flat()
  const held = remote === undefined ? [] : await heldKinds(remote.client, AbortSignal.timeout(patienceMs))
  const discovery = remote?.client.discovery
  const given = await servedKinds(kindsInTemplates(templates), discovery)
  const [fault] = given.unknown
  if (fault !== undefined) {
    const hint =
      remote === undefined ? 'name a cluster that serves it with --kubeconfig' : 'the cluster does not serve it'
    throw new Error(`${fault}: ${hint}`)
  }
  // What a template of the cluster held once may be served no more: that must not stop all others.
  const stored = await servedKinds(held, discovery)
  for (const line of stored.unknown) {
    process.stderr.write(`borough: ${visibleText(line)}, which the cluster does not serve: no right is given for it\n`)
  }
  const kinds = distinct([...given.kinds, ...stored.kinds])
  const objects = manifests({ namespace: flags.namespace, image: flags.image, kinds })
  const word = reachOf(kinds)
  const documents = objects.map((object) => `---\n${stringify(object, { lineWidth: 0 })}`)
  await printAnswer(command, {
    value: { apiVersion: 'v1', kind: 'List', items: objects },
    text: () => `# ${word.replaceAll('. ', '.\n# ')}\n${documents.join('')}`,
    names: objects.map(({ apiVersion, kind, metadata }) =>
      nameOf(String(apiVersion), String(kind), metadata.name ?? ''),
    ),
  })
  // Who pipes this on would not see it.
  if (!process.stdout.isTTY) process.stderr.write(`${word}\n`)
}

function distinct(kinds: readonly ServedKind[]): ServedKind[] {
  const byType = new Map(kinds.map((kind) => [`${kind.group}/${kind.version}/${kind.kind}`, kind]))
  return [...byType.values()]
}

/** As kubectl's `-o name`: `clusterrole.rbac.authorization.k8s.io/admin` */
function nameOf(apiVersion: string, kind: string, name: string): string {
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : ['']
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${name}`
}
