/** `borough populate --print-manifests`: what an administrator reads, and then applies. */
import { stringify } from 'yaml'
import { findKinds, heldKinds, kindsInTemplates, manifests, reachOf } from '../populate/populate.ts'
import type { PopulateFlags } from './populate-flags.ts'
import { readDocuments } from './read-documents.ts'
import { openFlags, patienceMs } from './remote-flags.ts'

/** With `--kubeconfig`, for the templates of that cluster too; without, no cluster is asked anything. */
export async function printManifests(flags: PopulateFlags): Promise<void> {
  const remote = flags.kubeconfig === undefined ? undefined : await openFlags(flags, 'populate')
  const documents = (await Promise.all(flags.filename.map(readDocuments))).flat()
  const held = remote === undefined ? [] : await heldKinds(remote.client, AbortSignal.timeout(patienceMs))
  const texts = [...kindsInTemplates(documents), ...held]
  const kinds = await findKinds(texts, remote?.client.discovery)
  const objects = manifests({ namespace: flags.namespace, image: flags.image, kinds })
  const word = reachOf(kinds)
  const yaml = objects.map((object) => `---\n${stringify(object, { lineWidth: 0 })}`)
  process.stdout.write(`# ${word.replaceAll('. ', '.\n# ')}\n${yaml.join('')}`)
  // Who pipes this on would not see it.
  if (!process.stdout.isTTY) process.stderr.write(`${word}\n`)
}
