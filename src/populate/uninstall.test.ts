/** In which order a cluster is rid of population. On clusters: `test/population/uninstalled.test.ts`. */
import { expect, test } from 'vitest'
import { templateFinalizer } from '../apis/templates/types.ts'
import { FakeClock } from '../base/fake-clock.ts'
import type { Client } from '../client/client.ts'
import { notFound } from '../kube/status-error.ts'
import { uninstallPopulation } from './uninstall.ts'

interface Cluster {
  readonly client: Client
  /** `delete resource/name`, `release name` */
  readonly done: string[]
}

/** With all that there can be, and one template. */
function clusterOf(populatesItself: boolean): Cluster {
  const done: string[] = []
  const there = { metadata: { name: 'team', finalizers: [templateFinalizer] } }
  const client = {
    discovery: { findKind: async () => (populatesItself ? {} : undefined) },
    async get(resource: { resource: string }, { name }: { name: string }) {
      if (resource.resource === 'leases') throw notFound({ group: '', resource: 'leases' }, name)
      return resource.resource === 'namespacetemplates' ? there : { metadata: { name } }
    },
    list: async () => ({ items: [there] }),
    async patch(_resource: unknown, { name }: { name: string }) {
      done.push(`release ${name}`)
    },
    async delete({ resource }: { resource: string }) {
      done.push(resource)
    },
  }
  return { client: client as unknown as Client, done }
}

const signal = new AbortController().signal

test('what records a creator goes when API servers have read that nothing asks for one any more', async () => {
  const { client, done } = clusterOf(false)
  const clock = new FakeClock()
  const ended = uninstallPopulation({ client, clock, namespace: 'borough-system', signal })
  await clock.advance(1999)
  expect([...new Set(done)]).toEqual([
    ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    ...['validatingadmissionpolicybindings', 'validatingadmissionpolicies'],
  ])
  await clock.advance(1)
  await ended
  expect([...new Set(done)].slice(4)).toEqual([
    ...['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies', 'release team'],
  ])
})

test('a Borough that populates namespaces by itself prunes its templates: none is released', async () => {
  const { client, done } = clusterOf(true)
  const clock = new FakeClock()
  const ended = uninstallPopulation({ client, clock, namespace: 'borough-system', signal })
  await clock.advance(2000)
  expect(await ended).toMatchObject({ released: [], leader: undefined })
  expect(done).not.toContain('release team')
})
