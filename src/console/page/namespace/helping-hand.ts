/**
 * The commands that `borough why` names, as what a button does. A command that is not here is shown and can be copied:
 * it asks a person to look, or to be sure of something outside of the cluster.
 */
import type { Explanation } from '../../../apis/namespaces/explain.ts'
import { releaseFinalizer } from '../../../apis/namespaces/release.ts'
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import { pendingLabel } from '../../../apis/templates/types.ts'
import type { ReviewedAction } from '../access-review.ts'
import type { Cluster } from '../cluster.ts'

export interface HelpingHand {
  readonly title: string
  /** The rights without which the server would refuse. */
  readonly needs: readonly ReviewedAction[]
  act(cluster: Cluster): Promise<unknown>
}

const patienceMs = 60_000

/** @param left what is in a namespace that is being deleted */
export function helpingHand(command: string, namespace: string, left: Explanation['left']): HelpingHand | undefined {
  const named = { resource: 'namespaces', namespace, name: namespace }
  const finalizer = /^borough finalize \S+ --remove (\S+)$/.exec(command)?.[1]
  if (finalizer !== undefined) {
    return {
      title: `Remove finalizer ${finalizer}`,
      needs: releaseNeeds(namespace, finalizer, left),
      act: ({ client }) =>
        releaseFinalizer(client, namespace, { finalizer, dryRun: false }, AbortSignal.timeout(patienceMs)),
    }
  }
  if (command === `kubectl delete namespace ${namespace}`) {
    return {
      title: 'Give it up',
      needs: [{ ...named, verb: 'delete' }],
      act: ({ client }) => client.delete(namespaceResource, { name: namespace }),
    }
  }
  if (command === `kubectl label namespace ${namespace} ${pendingLabel}-`) {
    return {
      title: 'Go on without its templates',
      needs: [{ ...named, verb: 'initialize' }],
      act: ({ client }) =>
        client.patch(namespaceResource, { name: namespace }, { metadata: { labels: { [pendingLabel]: null } } }),
    }
  }
  const initializer = /^kubectl patch namespace \S+ --type=json -p .*"value":"([^"]+)"/.exec(command)?.[1]
  if (initializer !== undefined) {
    return {
      title: `Go on without ${initializer}`,
      needs: [{ ...named, verb: 'initialize' }],
      act: (cluster) => skipInitializer(cluster, namespace, initializer),
    }
  }
  return undefined
}

/** A finalizer is taken off content by a patch of it, which its owner may do; off the namespace by its `/finalize`. */
function releaseNeeds(namespace: string, finalizer: string, left: Explanation['left']): readonly ReviewedAction[] {
  const held = (left?.objects ?? []).filter(({ finalizers }) => finalizers.includes(finalizer))
  if (held.length === 0) {
    return [{ resource: 'namespaces', namespace, name: namespace, verb: 'update', subresource: 'finalize' }]
  }
  const byResource = new Map(
    held.map(({ resource, type: { group, resource: plural } }) => [resource, { group, plural }]),
  )
  return [...byResource.values()].map(({ group, plural }) => ({ verb: 'patch', group, resource: plural, namespace }))
}

/** @throws StatusError Conflict if the namespace changed meanwhile; Error if another one is awaited by now */
async function skipInitializer({ client }: Cluster, name: string, initializer: string): Promise<unknown> {
  const namespace = (await client.get(namespaceResource, { name })) as Namespace
  const [first, ...later] = namespace.spec?.initializers?.pending ?? []
  if (first?.name !== initializer) throw new Error(`${initializer} is not awaited any more`)
  const spec = { ...namespace.spec, initializers: { ...namespace.spec?.initializers, pending: later } }
  return client.update(namespaceResource, { ...namespace, spec })
}
