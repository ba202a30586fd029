/**
 * 'OpenShift Origin managing a Kubernetes Namespace', the example of the Namespaces design document, step by step: a
 * second controller with a finalizer and a storage of its own takes part in the termination of a namespace.
 */
import { expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client } from '../../src/client/client.ts'
import { Informer } from '../../src/client/informer.ts'
import type { ControllerSpec } from '../../src/controller/controller.ts'
import { runController } from '../../src/controller/run-controller.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane } from '../../src/testing/index.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const services = { group: '', version: 'v1', resource: 'services' }
const origin = 'openshift.com/origin'

const finalizersOf = (o: KubeObject): string[] => (o['spec'] as { finalizers?: string[] }).finalizers ?? []
const stateOf = (o: KubeObject): string => `${(o['status'] as { phase: string }).phase} [${finalizersOf(o).join(' ')}]`

/** Purges its own storage when a namespace goes, but only after `kubernetes` has: so that each state can be seen. */
function originController(client: Client, itsStorage: Map<string, string>, answers: string[]): ControllerSpec {
  return {
    name: 'origin-namespace-controller',
    workers: 1,
    sources: [
      {
        run: (enqueue, signal) =>
          new Informer({
            client,
            clock: systemClock,
            resource: namespaces,
            onChange: (next) => next?.metadata.name && enqueue({ namespace: '', name: next.metadata.name }),
          }).run(signal),
      },
    ],
    reconciler: {
      async reconcile({ name }) {
        const { items } = await client.list(namespaces, { fieldSelector: `metadata.name=${name}` })
        const namespace = items[0]
        if (!namespace?.metadata.deletionTimestamp || !finalizersOf(namespace).includes(origin)) return undefined
        if (finalizersOf(namespace).includes('kubernetes')) return undefined
        itsStorage.delete(name)
        const finalizers = finalizersOf(namespace).filter((f) => f !== origin)
        const next = { ...namespace, spec: { finalizers } }
        answers.push(stateOf(await client.update(namespaces, next, { subresource: 'finalize' })))
        return undefined
      },
    },
  }
}

it('a namespace goes when both controllers have let it go, and every state of the document is seen', async () => {
  await using plane = await startControlPlane({ population: false })
  const { client } = plane
  const stop = new AbortController()
  const itsStorage = new Map<string, string>()
  const answers: string[] = []
  const running = runController(
    originController(client, itsStorage, answers),
    { clock: systemClock, log: silentLog },
    stop.signal,
  )

  try {
    const created = await client.create(namespaces, {
      metadata: { name: 'development', labels: { name: 'development' } },
      spec: { finalizers: [origin, 'kubernetes'] },
      status: { phase: 'Active' },
    })
    expect(stateOf(created)).toBe('Active [openshift.com/origin kubernetes]')
    await client.create(services, {
      metadata: { name: 'web', namespace: 'development' },
      spec: { ports: [{ port: 80 }] },
    })
    itsStorage.set('development', 'routes and builds, unknown to Kubernetes')
    const states: string[] = []
    const events = client.watch(namespaces, {
      fieldSelector: 'metadata.name=development',
      resourceVersion: created.metadata.resourceVersion ?? '',
      signal: stop.signal,
    })
    await client.delete(namespaces, { name: 'development' })
    for await (const { type, object } of events) {
      expect(object.metadata.deletionTimestamp).toBeDefined()
      expect(object.metadata.labels).toMatchObject({ name: 'development' })
      if (states.at(-1) !== stateOf(object)) states.push(stateOf(object))
      if (type === 'DELETED') break
    }
    expect(states).toEqual(['Terminating [openshift.com/origin kubernetes]', 'Terminating [openshift.com/origin]'])
    expect(itsStorage.size).toBe(0)
    expect((await client.list(services, { namespace: 'development' })).items).toEqual([])
    expect((await client.list(namespaces, { fieldSelector: 'metadata.name=development' })).items).toEqual([])
  } finally {
    stop.abort()
    await running
  }
  // The write that empties the list is the one that removes the namespace: its answer is all that shows the last state.
  expect(answers).toEqual(['Terminating []'])
})
