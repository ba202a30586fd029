/** Requests that are authorized for one name, and ask for more: by their field selector, or by their path. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roleBindingsResource, rolesResource } from '../../src/kube/rbac.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { allow, role, roleBinding, user } from '../support/fake-rbac-source.ts'
import { failure } from '../support/refusal.ts'
import { send } from '../support/send.ts'
import { Wire } from '../support/wire.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })

let plane: TestControlPlane
let dora: Wire

beforeAll(async () => {
  plane = await startControlPlane()
  const { client } = plane
  for (const name of ['mine', 'theirs']) await client.create(core('namespaces'), { metadata: { name } })
  for (const name of ['app', 'db']) await client.create(core('secrets'), { metadata: { name, namespace: 'mine' } })
  const reads = 'get,list,watch'
  await client.create(
    rolesResource,
    role('mine', 'one', allow(reads, '', 'secrets', 'app'), allow(reads, '', 'namespaces', 'mine')),
  )
  await client.create(roleBindingsResource, roleBinding('mine', 'one', 'Role/one', user('dora')))
  dora = new Wire(plane).as('dora')
})
afterAll(() => plane[Symbol.asyncDispose]())

const places = [
  { path: '/api/v1/watch/namespaces/mine/secrets/app', name: 'app', other: 'type=Opaque' },
  { path: '/api/v1/watch/namespaces/mine', name: 'mine', other: 'status.phase=Active' },
]
const caller = { username: 'dora', groups: ['system:authenticated'] }
const query = (selector: string): string => `fieldSelector=${encodeURIComponent(selector)}`
/** A bookmark follows what is there. */
const bookmarked = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

describe.each(places)(
  'attack: a watch of one name at $path is widened by a field selector',
  ({ path, name, other }) => {
    test.each([
      other,
      'metadata.name!=nothing',
      `metadata.name!=${name}`,
      'metadata.name=',
      `metadata.name=other,metadata.name=${name}x`,
      `metadata.name=${name} `,
      `${other},metadata.name!=x`,
      'metadata.namespace=theirs',
      'metadata.namespace!=theirs',
    ])('%s', async (selector) => {
      // Where it is served after all, it ends.
      const { code, body } = await send(plane, `${path}?${query(selector)}&timeoutSeconds=1`, { user: caller })
      expect([code, body]).toEqual([
        400,
        failure({
          message: "fieldSelector metadata.name doesn't match requested name",
          reason: 'BadRequest',
          code: 400,
        }),
      ])
    })

    test.each(['', `metadata.name=${name}`, `metadata.name==${name},${other}`])(
      'shows that one and no other with %o',
      async (selector) => {
        const asked = `${path}?${bookmarked}${selector === '' ? '' : `&${query(selector)}`}`
        const events = await dora.events(asked, (seen) => seen.some(({ type }) => type === 'BOOKMARK'))
        expect(events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
          ['ADDED', name],
          ['BOOKMARK', undefined],
        ])
      },
    )
  },
)

describe('attack: a list or watch whose field selector seems to pin one name', () => {
  const collections = ['/api/v1/namespaces/mine/secrets', '/api/v1/namespaces']
  const selectors = (name: string, other: string): string[] => [
    `${other}\\,metadata.name=${name}`,
    `${other}\\,metadata.name\\=${name}`,
    `metadata.name!=x,${other}`,
    `metadata.name!=${name}`,
    `xmetadata.name=${name}`,
    ` metadata.name=${name}`,
    `metadata.name=${name}\\`,
  ]
  const cases = collections.flatMap((path, i) =>
    selectors(places[i]?.name ?? '', places[i]?.other ?? '').map((selector) => ({ path, selector })),
  )
  test.each(cases)('$path with $selector', async ({ path, selector }) => {
    for (const watch of ['', '&watch=true']) {
      const { code, body } = await send(plane, `${path}?${query(selector)}${watch}&timeoutSeconds=1`, { user: caller })
      expect([403, 400]).toContain(code)
      expect(body).toMatchObject({ kind: 'Status', status: 'Failure' })
    }
  })

  test('the first of repeated selectors is both authorized and served', async () => {
    const [app, all] = [query('metadata.name=app'), 'fieldSelector=']
    const path = '/api/v1/namespaces/mine/secrets'
    const { items } = await dora.must('GET', `${path}?${app}&${all}`)
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['app'])
    expect((await dora.call('GET', `${path}?${all}&${app}`)).body).toMatchObject({ code: 403, reason: 'Forbidden' })
  })
})
