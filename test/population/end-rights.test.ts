/**
 * Who may give, change and take off the end of a namespace, by which way: each cell of one table, on Borough and
 * through `borough populate`. What one of them allows and the other refuses is a way round, or a hindrance.
 */
import { expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { waitUntilAllowed } from '../support/wait-for.ts'
import { AnyWorld, anyCluster } from './any-world.ts'
import { namespaceResource } from './population-world.ts'

const hourMs = 3_600_000
const [ttl, at] = ['borough.dev/ttl', 'borough.dev/expires-at']

const usersOf: Readonly<Record<string, readonly string[]>> = {
  writer: [],
  deleter: ['delete'],
  extender: ['extend'],
  keeper: ['delete', 'extend'],
}
/** Hours from now at which they end; undefined = they do not. A template lets those of `days` live for 48. */
const states: Readonly<Record<string, number | undefined>> = {
  'free-none': undefined,
  'free-ends': 10,
  'days-ends': 24,
}
const inHours = (hours: number): string => new Date(Date.now() + hours * hourMs).toISOString().replace(/\.\d+/, '')
const changes: Readonly<Record<string, () => Readonly<Record<string, string | null>>>> = {
  'a ttl, earlier': () => ({ [ttl]: '2h' }),
  'a ttl, later': () => ({ [ttl]: '30h' }),
  'a ttl beyond max': () => ({ [ttl]: '90h' }),
  'no ttl': () => ({ [ttl]: 'soon' }),
  'a ttl with another end': () => ({ [ttl]: '2h', [at]: inHours(30) }),
  'an end, earlier': () => ({ [at]: inHours(2) }),
  'an end, later': () => ({ [at]: inHours(30) }),
  'an end beyond max': () => ({ [at]: inHours(90) }),
  'an end that is over': () => ({ [at]: '2020-01-01T00:00:00Z' }),
  'no end': () => ({ [at]: 'tomorrow' }),
  'what is taken off': () => ({ [at]: null, [ttl]: null }),
  protection: () => ({ 'borough.dev/deletion-protection': 'true' }),
  'something else': () => ({ note: 'x' }),
}
const merge = { 'content-type': 'application/merge-patch+json' }
const ways = ['', '/status', '/finalize'] as const

async function prepare(world: AnyWorld): Promise<void> {
  const { admin } = world
  const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
  const resources = ['namespaces', 'namespaces/status', 'namespaces/finalize']
  for (const [name, more] of Object.entries(usersOf)) {
    const rules = [
      { apiGroups: [''], resources, verbs: ['get', 'update', 'patch'] },
      ...more.map((verb) => ({ apiGroups: [''], resources: ['namespaces'], verbs: [verb] })),
    ]
    await admin.create(rbac('clusterroles'), { metadata: { name: `ends-${name}` }, rules } as KubeObject)
    await admin.create(rbac('clusterrolebindings'), {
      metadata: { name: `ends-${name}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `ends-${name}` },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }],
    } as KubeObject)
    for (const verb of ['update', ...more]) await waitUntilAllowed(world.clientAs(name), verb, namespaceResource)
  }
  await world.template('days', [], { expiry: { default: '24h', max: '48h' } })
  for (const [name, hours] of Object.entries(states)) {
    const annotations = hours === undefined || name.startsWith('days') ? {} : { [at]: inHours(hours) }
    await admin.create(namespaceResource, { metadata: { name, annotations } })
    await world.ready(name)
  }
}

/** Of each way, state, change and user what is answered. Nothing is stored, so that no cell is another's doing. */
async function tableOf(world: AnyWorld): Promise<Record<string, string>> {
  await prepare(world)
  const { plane } = world.cluster
  const table: Record<string, string> = {}
  for (const [name] of Object.entries(states)) {
    const { metadata, spec } = await world.admin.get(namespaceResource, { name })
    for (const [change, annotationsOf] of Object.entries(changes)) {
      for (const way of ways) {
        for (const username of Object.keys(usersOf)) {
          const annotations = annotationsOf()
          const url = `http://server/api/v1/namespaces/${name}${way}?dryRun=All`
          const given = { ...metadata.annotations, ...annotations } as JsonObject
          for (const key in given) if (given[key] === null) delete given[key]
          const request =
            way === '/finalize'
              ? {
                  method: 'PUT',
                  headers: { 'content-type': 'application/json' },
                  body: JSON.stringify({
                    ...{ apiVersion: 'v1', kind: 'Namespace', spec },
                    metadata: { ...metadata, annotations: given },
                  }),
                }
              : { method: 'PATCH', headers: merge, body: JSON.stringify({ metadata: { annotations } }) }
          const answer = await plane.send(new Request(url, request), { username, groups: ['system:authenticated'] })
          const { reason = '' } = (await answer.json()) as { readonly reason?: string }
          table[`${username}: ${change} on ${name}${way}`] = `${answer.status} ${reason}`.trim()
        }
      }
    }
  }
  return table
}

const allowedIn = (table: Readonly<Record<string, string>> = {}): Record<string, boolean> =>
  Object.fromEntries(Object.entries(table).map(([cell, answer]) => [cell, answer === '200']))

test('who may do what to an end, by which way, is the same on Borough and through borough populate', async () => {
  const tables: Record<string, string>[] = []
  for (const { start } of anyCluster) {
    await using world = new AnyWorld(await start())
    tables.push(await tableOf(world))
  }
  const [onBorough, elsewhere] = tables
  // Of two things that are wrong either may be told first.
  expect(allowedIn(elsewhere)).toEqual(allowedIn(onBorough))
  const cells = Object.entries(onBorough ?? {})
  expect(cells).toHaveLength(4 * 3 * 13 * 3)
  const of = (words: string): string | undefined => onBorough?.[words]
  // Neither allows all nor refuses all.
  for (const way of ways) {
    expect([
      of(`writer: an end, earlier on free-ends${way}`),
      of(`deleter: an end, earlier on free-ends${way}`),
      of(`deleter: an end, later on free-ends${way}`),
      of(`extender: an end, later on free-ends${way}`),
      of(`keeper: an end beyond max on days-ends${way}`),
      of(`writer: something else on days-ends${way}`),
    ]).toEqual(['403 Forbidden', '200', '403 Forbidden', '200', '422 Invalid', '200'])
  }
})
