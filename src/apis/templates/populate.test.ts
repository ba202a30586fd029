/** One pass over one namespace: in which order objects are made, what is recorded, and which bindings are withheld. */
import { beforeEach, describe, expect, test } from 'vitest'
import {
  binding,
  configMap,
  holding,
  object,
  rbac,
  role,
  team,
  told,
  World,
} from '../../../test/support/population-pass.ts'
import { conflict, forbidden, internalError, StatusError } from '../../kube/status-error.ts'
import type { Namespace } from '../namespaces/types.ts'
import { Conditions } from './conditions.ts'
import { configDigest } from './held-config.ts'
import { isPopulated, populate, settledIn } from './populate.ts'
import { render } from './render.ts'
import { type NamespaceTemplate, pendingLabel } from './types.ts'

const configMaps = { group: '', resource: 'configmaps' }
const ruleless = { templates: [object('Role', 'r', {}, `${rbac}/v1`), binding] }
let world: World
beforeEach(() => {
  world = new World()
})

const roleConflict = new StatusError('Apply failed', {
  reason: 'Conflict',
  details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "curl" using v1', field: '.rules' }] },
})
const notOurs = 'Role/r, which it binds and its template holds, is not made by its template'

describe('what is recorded', () => {
  test('everything is announced before anything is applied, and settled afterwards', async () => {
    expect(told(await world.pass([holding('t', configMap, role)]))).toEqual([
      'ConfigMap/c: configured',
      'Role/r: configured',
    ])
    expect(world.sent).toEqual(['announce ConfigMap/c Role/r', 'apply ConfigMap/c', 'apply Role/r'])
    expect(world.settled).toEqual(['ConfigMap/c of t, uid of ConfigMap/c', 'Role/r of t, uid of Role/r'])
  })

  test('nothing is applied where that can not be announced', async () => {
    world.failures.set('announce ConfigMap/c Role/r', forbidden({ group: '', resource: 'configmaps' }, 'x', 'no'))
    const why = 'NotRecorded, tried again: configmaps "x" is forbidden: no'
    expect(told(await world.pass([holding('t', configMap, role)]))).toEqual([`ConfigMap/c: ${why}`, `Role/r: ${why}`])
    expect(world.sent).toEqual(['announce ConfigMap/c Role/r'])
    expect(world.settled).toEqual([])
  })

  test('a fault ends the pass: what was done before is settled all the same', async () => {
    world.failures.set('apply Role/r', new Error('a fault'))
    await expect(world.pass([holding('t', configMap, role)])).rejects.toThrow('a fault')
    expect(world.settled).toEqual(['ConfigMap/c of t, uid of ConfigMap/c'])
  })

  test('a dry run has no record', async () => {
    const { records: _, corrections: _c, ...deps } = world.deps
    const request = { namespace: team, templates: [holding('t', configMap)], signal: new AbortController().signal }
    expect(told(await populate(deps, { ...request, policyOf: () => 'Delete' }))).toEqual(['ConfigMap/c: configured'])
    expect(world.sent).toEqual(['apply ConfigMap/c'])
  })

  test.each<{ name: string; error: StatusError; settled: string[] }>([
    { name: 'a refusal', error: forbidden(configMaps, 'c', 'no'), settled: ['-/ConfigMap/c'] },
    { name: 'a conflict', error: conflict(configMaps, 'c', 'no'), settled: [] },
    { name: 'a fault of the server', error: internalError('broken'), settled: [] },
    { name: 'a time that is over', error: new StatusError('late', { code: 408 }), settled: [] },
  ])('of what was announced, $name leaves $settled', async ({ error, settled }) => {
    world.failures.set('apply ConfigMap/c', error)
    await world.pass([holding('t', configMap)])
    expect(world.settled).toEqual(settled)
  })

  test('what was announced by a process that ended stays, where an object of that name is there', async () => {
    world.put(configMap)
    world.claim({ apiVersion: 'v1', kind: 'ConfigMap', name: 'c' })
    world.failures.set('apply ConfigMap/c', forbidden(configMaps, 'c', 'no'))
    await world.pass([holding('t', configMap)])
    expect(world.settled).toEqual([])
  })

  test('what is there just as it is wanted is neither announced nor applied', async () => {
    world.put(configMap, { isOurs: true })
    const [rendered] = render([holding('t', configMap)], team, () => ({ content: {}, digest: '' })).objects
    world.know('ConfigMap/c', { applied: rendered?.config ?? '' })
    expect(told(await world.pass([holding('t', configMap)]))).toEqual(['ConfigMap/c: unchanged'])
    expect(world.sent).toEqual([])
    expect(world.settled).toEqual(['ConfigMap/c of t, uid of ConfigMap/c'])
    // One in its place that is another's is not held, whatever it says.
    world.claim({ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'another' })
    expect(told(await world.pass([holding('t', configMap)]))).toEqual(['ConfigMap/c: configured'])
  })
})

describe('a RoleBinding whose Role its template holds', () => {
  test('is made after the Role, and of nothing but what the Role came to', async () => {
    expect(told(await world.pass([holding('t', binding, role)]))).toEqual([
      'Role/r: configured',
      'RoleBinding/b: configured',
    ])
    expect(world.sent.slice(1)).toEqual(['apply Role/r', 'apply RoleBinding/b'])
  })

  test.each<{ name: string; before: () => void; results: string[]; templates?: NamespaceTemplate[]; sent: string[] }>([
    {
      name: 'another made the Role',
      before: () => world.put(role),
      results: [
        'Role/r: AlreadyExists: it was there before and no template created it; spec.adopt: true would take it over',
        `RoleBinding/b: RoleNotOurs: ${notOurs}`,
      ],
      sent: ['apply Role/r'],
    },
    {
      name: 'the Role is refused',
      before: () => world.failures.set('apply Role/r', internalError('a moment')),
      results: [
        'Role/r: InternalError, tried again: Internal error occurred: a moment',
        `RoleBinding/b: RoleNotOurs, tried again: ${notOurs}`,
      ],
      sent: ['apply Role/r'],
    },
    {
      name: 'the version of the Role is not served',
      before: () => world.put(role),
      templates: [holding('t', { ...role, apiVersion: `${rbac}/v9` }, binding)],
      results: [
        `Role/r: UnknownKind, tried again: no kind Role in ${rbac}/v9 is served`,
        `RoleBinding/b: RoleNotOurs, tried again: ${notOurs}`,
      ],
      sent: [],
    },
    {
      name: 'the Role is left out, for it names a creator and none is recorded',
      before: () => world.put(role),
      templates: [holding('t', { ...role, metadata: { name: 'r', annotations: { of: '$(CREATOR)' } } }, binding)],
      results: ['Role/r: undefined', `RoleBinding/b: RoleNotOurs: ${notOurs}`],
      sent: [],
    },
    {
      name: 'the Role is refused, and a kind of that name in another group is made',
      before: () => world.put(role),
      templates: [holding('t', { ...role, apiVersion: 'ex.io/v1' }, role, binding)],
      results: [
        'Role/r: configured',
        'Role/r: AlreadyExists: it was there before and no template created it; spec.adopt: true would take it over',
        `RoleBinding/b: RoleNotOurs: ${notOurs}`,
      ],
      sent: ['apply Role/r', 'apply Role/r'],
    },
    {
      name: 'the Role is refused, and something else of the template is made',
      before: () => world.put(role),
      templates: [holding('t', configMap, role, binding)],
      results: [
        'ConfigMap/c: configured',
        'Role/r: AlreadyExists: it was there before and no template created it; spec.adopt: true would take it over',
        `RoleBinding/b: RoleNotOurs: ${notOurs}`,
      ],
      sent: ['apply ConfigMap/c', 'apply Role/r'],
    },
    {
      name: 'another template holds the Role and comes first',
      before: () => {},
      templates: [holding('s', role), holding('t', role, binding)],
      results: [
        'Role/r: Conflict: template "s" holds the same object and comes first',
        'Role/r: configured',
        `RoleBinding/b: RoleNotOurs: ${notOurs}`,
      ],
      sent: ['apply Role/r'],
    },
    {
      name: 'a Role of that uid was another template’s until now: it is made again first',
      before: () => world.put(role, { isOurs: true, template: 'former' }),
      results: ['Role/r: configured', 'RoleBinding/b: configured'],
      sent: ['apply Role/r', 'apply RoleBinding/b'],
    },
    {
      name: 'a tenant put another in its place: it is made again first',
      before: () => {
        world.put(role, { uid: 'theirs' })
        world.claim({ apiVersion: `${rbac}/v1`, kind: 'Role', name: 'r', uid: 'ours' })
        world.failures.set('apply Role/r', forbidden({ group: rbac, resource: 'roles' }, 'r', 'no'))
      },
      results: [
        `Role/r: Forbidden, tried again: roles.${rbac} "r" is forbidden: no`,
        `RoleBinding/b: RoleNotOurs, tried again: ${notOurs}`,
      ],
      sent: ['apply Role/r'],
    },
    {
      name: 'the Role is ours, and may have been made stronger: what its apply comes to is awaited',
      before: () => {
        world.put(role, { isOurs: true })
        world.failures.set('apply Role/r', internalError('a moment'))
      },
      results: [
        'Role/r: InternalError, tried again: Internal error occurred: a moment',
        `RoleBinding/b: RoleNotOurs, tried again: ${notOurs}`,
      ],
      templates: [holding('t', binding, role)],
      sent: ['apply Role/r'],
    },
    {
      name: 'of the rules of the Role the template says nothing: an apply leaves what is there',
      before: () => world.put(role),
      templates: [{ metadata: { name: 't' }, spec: { adopt: true, ...ruleless } }],
      results: ['Role/r: configured', `RoleBinding/b: RoleNotOurs: ${notOurs}`],
      sent: ['apply Role/r'],
    },
    {
      name: 'the rules of the Role are left to other managers',
      before: () => {},
      templates: [
        { metadata: { name: 't' }, spec: { objects: [{ yieldTo: ['m'], template: role }, { template: binding }] } },
      ],
      results: ['Role/r: configured', `RoleBinding/b: RoleNotOurs: ${notOurs}`],
      sent: ['apply Role/r'],
    },
    {
      name: 'it binds another Role, which its author may bind',
      before: () => {},
      templates: [holding('t', { ...binding, roleRef: { apiGroup: rbac, kind: 'Role', name: 'other' } })],
      results: ['RoleBinding/b: configured'],
      sent: ['apply RoleBinding/b'],
    },
    {
      name: 'it binds a ClusterRole of that name',
      before: () => {
        world.put(role)
      },
      templates: [holding('t', { ...binding, roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'r' } }, role)],
      results: [
        'RoleBinding/b: configured',
        'Role/r: AlreadyExists: it was there before and no template created it; spec.adopt: true would take it over',
      ],
      sent: ['apply RoleBinding/b', 'apply Role/r'],
    },
  ])('$name', async ({ before, templates = [holding('t', role, binding)], results, sent }) => {
    before()
    expect(told(await world.pass(templates))).toEqual(results)
    expect(world.sent.filter((what) => what.startsWith('apply'))).toEqual(sent)
  })

  test.each<{ name: string; before: () => void; templates?: NamespaceTemplate[]; obstructed: boolean }>([
    { name: 'its Role is', before: () => world.put(role), obstructed: true },
    {
      name: 'its Role is, by what is only reported of it',
      before: () => {
        world.put({ ...role, rules: [] }, { isOurs: true })
        world.failures.set('apply Role/r', roleConflict)
      },
      templates: [{ metadata: { name: 't' }, spec: { driftPolicy: 'Report', templates: [role, binding] } }],
      obstructed: true,
    },
    {
      name: 'its Role stands under a condition that can not be judged',
      before: () => {},
      templates: [
        {
          metadata: { name: 't' },
          spec: {
            objects: [{ when: "namespaceObject.metadata.labels['a'] == 'b'", template: role }, { template: binding }],
          },
        },
      ],
      obstructed: true,
    },
    {
      name: 'its Role is refused',
      before: () => world.failures.set('apply Role/r', internalError('a moment')),
      obstructed: false,
    },
    {
      name: 'its Role is, and would not be whole anyway',
      before: () => world.put(role),
      templates: [holding('t', ...ruleless.templates)],
      obstructed: false,
    },
  ])('is said to be obstructed if $name: $obstructed', async ({ before, templates, obstructed }) => {
    before()
    const results = await world.pass(templates ?? [holding('t', role, binding)])
    const said = results.find(({ failure }) => failure?.reason === 'RoleNotOurs')?.failure
    expect(said).toEqual({
      ...{ reason: 'RoleNotOurs', message: expect.stringMatching(/^Role.r, which it binds/) },
      retriable: expect.any(Boolean),
      ...(obstructed ? { isObstructed: true } : {}),
    })
  })

  test.each<Namespace>([
    { ...team, metadata: { ...team.metadata, labels: { [pendingLabel]: 'true' } } },
    { ...team, spec: { initializers: { pending: [{ name: 'namespace-template' }] } } },
  ])('is made at once where no other client can write yet', async (namespace) => {
    expect(told(await world.pass([holding('t', binding, role)], { namespace }))).toEqual([
      'RoleBinding/b: configured',
      'Role/r: configured',
    ])
  })
})

describe('what can not be made', () => {
  test('is told, and keeps nothing else from being made', async () => {
    world.failures.set('find Pod', internalError('its server is down'))
    const [node, pod, odd] = [object('Node', 'n'), object('Pod', 'p'), object('Widget', 'w', {}, 'ex.io/v1')]
    expect(told(await world.pass([holding('t', node, pod, odd, configMap)]))).toEqual([
      'Node/n: UnknownKind, tried again: Node does not live in namespaces',
      'Pod/p: UnknownKind, tried again: Internal error occurred: its server is down',
      'Widget/w: UnknownKind, tried again: no kind Widget in ex.io/v1 is served',
      'ConfigMap/c: configured',
    ])
    world.failures.set('find Widget', internalError('its server is down'))
    expect(told(await world.pass([holding('t', odd)]))).toEqual([
      'Widget/w: UnknownKind, tried again: APIService v1.ex.io does not answer (Internal error occurred: its server ' +
        'is down)',
    ])
    world.failures.set('find Pod', new Error('a fault'))
    await expect(world.pass([holding('t', pod)])).rejects.toThrow('a fault')
  })

  test('is left where it is for want of a creator, which is no failure', async () => {
    const results = await world.pass([holding('t', object('ConfigMap', 'a', { data: { who: '$(CREATOR)' } }))])
    const message = 'it names $(CREATOR), and none is recorded of this namespace'
    expect(results).toEqual([{ template: 't', object: 'ConfigMap/a', skipped: { reason: 'CreatorUnknown', message } }])
  })

  const copies = (): NamespaceTemplate => ({
    metadata: { name: 't' },
    spec: { objects: [{ cloneFrom: { namespace: 'p', apiVersion: 'v1', kind: 'Secret', name: 's' } }] },
  })
  const wanting: NamespaceTemplate = {
    metadata: { name: 't' },
    spec: { parameters: [{ name: 'size', fromLabel: 'size', required: true }] },
  }
  const isNew: Namespace = { ...team, metadata: { ...team.metadata, labels: { [pendingLabel]: 'true' } } }
  test.each([
    { name: 'a source', template: copies(), namespace: team, failure: { retriable: false, isAwaited: true } },
    { name: 'a source of one that is new', template: copies(), namespace: isNew, failure: { isAwaited: true } },
    { name: 'a parameter', template: wanting, namespace: team, failure: { retriable: false } },
    { name: 'a parameter of one that is new', template: wanting, namespace: isNew, failure: { retriable: true } },
  ])('waits for $name', async ({ template, namespace, failure }) => {
    const [result] = await world.pass([template], { namespace })
    expect(result?.failure).toMatchObject(failure)
    expect(result?.failure?.isAwaited).toBe('isAwaited' in failure ? true : undefined)
  })
})

describe('of one template alone', () => {
  test('only what it holds is made and told, by what all of them say', async () => {
    const both = [holding('s', configMap), holding('t', configMap, role, object('Widget', 'w', {}, 'ex.io/v1'))]
    expect(told(await world.pass(both, { only: 't' }))).toEqual([
      'ConfigMap/c: Conflict: template "s" holds the same object and comes first',
      'Widget/w: UnknownKind, tried again: no kind Widget in ex.io/v1 is served',
      'Role/r: configured',
    ])
    expect(world.sent).toEqual(['announce Role/r', 'apply Role/r'])
    world.sent.length = 0
    expect(told(await world.pass(both, { only: 's' }))).toEqual(['ConfigMap/c: configured'])
  })
})

describe('what is there', () => {
  const rendered = (...templates: NamespaceTemplate[]) =>
    render(templates, team, () => ({ content: {}, digest: '' })).objects
  const template = holding('t', configMap)
  const [wanted] = rendered(template)

  test('is as it is wanted where it says so itself and the record says that nothing was added', async () => {
    world.put(configMap, { isOurs: true })
    const held = configDigest(wanted?.object ?? { metadata: {} })
    world.know('ConfigMap/c', { held, digest: 'content' })
    world.claim({ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'uid of ConfigMap/c', content: 'content' })
    expect(told(await world.pass([template]))).toEqual(['ConfigMap/c: unchanged'])
    expect(world.sent).toEqual(['up to date ConfigMap/c'])
    for (const more of [
      { held, digest: 'other' },
      { held: 'other', digest: 'content' },
    ]) {
      world.know('ConfigMap/c', more)
      expect(told(await world.pass([template]))).toEqual(['ConfigMap/c: configured'])
    }
  })

  test('and holds more is told so again', async () => {
    world.put(configMap, { isOurs: true })
    world.know('ConfigMap/c', { applied: wanted?.config ?? '', extended: 'more' })
    expect(await world.pass([template])).toMatchObject([
      { outcome: 'unchanged', extended: { reason: 'Extended', message: 'more' }, applied: { content: '' } },
    ])
  })

  test('and was made by nobody known is not ours from then on', async () => {
    world.put(configMap)
    await world.pass([template])
    expect(world.settled).toEqual(['-/ConfigMap/c'])
  })

  test('is not looked through for more by a plan, but where the template is strict', async () => {
    const strict: NamespaceTemplate = {
      metadata: { name: 't' },
      spec: { objects: [{ drift: 'Strict', template: configMap }] },
    }
    world.added.set('ConfigMap/c', { immutable: true })
    for (const [given, isExtended] of [
      [template, false],
      [strict, true],
    ] as const) {
      world.put(configMap, { isOurs: true })
      world.sent.length = 0
      const [result] = await world.pass([given], { ignoresExtra: true })
      expect(result).not.toHaveProperty('extended')
      expect(world.sent.includes('replace ConfigMap/c')).toBe(isExtended)
    }
  })

  test('is corrected without a count of corrections, too', async () => {
    world.put(configMap)
    const digest = wanted?.config ?? ''
    world.claim({ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'uid of ConfigMap/c', digest })
    const { corrections: _, ...deps } = world.deps
    const request = { namespace: team, templates: [template], signal: new AbortController().signal }
    const [result] = await populate(deps, { ...request, policyOf: () => 'Delete' })
    expect(result?.corrected).toEqual({ message: 'what others had changed was put back', isNews: false })
  })

  test('a binding is withheld for its kind, not for what it says', async () => {
    world.put(role)
    const alike = { ...configMap, roleRef: { kind: 'Role', name: 'r' } }
    expect(told(await world.pass([holding('t', role, alike)]))).toContain('ConfigMap/c: configured')
  })

  const setBy = (name: string): Namespace => ({
    metadata: {
      ...team.metadata,
      labels: { a: 'b' },
      annotations: { 'policy.borough.dev/set-by-templates': JSON.stringify({ labels: { a: name } }) },
    },
  })
  test.each<{
    name: string
    namespace?: Namespace
    lives?: object
    claims?: number
    templates?: NamespaceTemplate[]
    isSo: boolean
  }>([
    { name: 'all of it, and unchanged', isSo: true },
    { name: 'changed', lives: { applied: 'former' }, isSo: false },
    { name: 'and more', lives: { extended: 'more' }, isSo: false },
    { name: 'gone', lives: { uid: 'another' }, isSo: false },
    { name: 'with another object', claims: 2, isSo: false },
    { name: 'none of it', claims: 0, isSo: false },
    {
      name: 'but what can not be known',
      templates: [holding('t', configMap, object('ConfigMap', 'a', { data: { who: '$(CREATOR)' } }))],
      isSo: false,
    },
    {
      name: 'but labels of the namespace',
      templates: [
        { ...template, spec: { ...template.spec, namespaceMetadata: { labels: { a: 'b' } } } } as NamespaceTemplate,
      ],
      isSo: false,
    },
    { name: 'and labels of the namespace that it no longer sets', namespace: setBy('t'), isSo: false },
    { name: 'and labels that another template set', namespace: setBy('u'), isSo: true },
  ])('may be what is wanted, $name: $isSo', ({ namespace = team, lives, claims = 1, templates = [template], isSo }) => {
    world.put(configMap, { isOurs: true })
    world.know('ConfigMap/c', { applied: wanted?.config ?? '', ...lives })
    if (claims === 2) world.claim({ apiVersion: 'v1', kind: 'ConfigMap', name: 'd', uid: 'd' })
    const of = [...world.claims.values()].slice(0, claims)
    const index = { livesIn: (name: string) => (name === 'team' ? world.lives.values() : []) } as never
    const clones = () => ({ content: {}, digest: '' })
    expect(isPopulated(templates, of, { index, clones, conditions: new Conditions(namespace) })).toBe(isSo)
  })

  test('of labels and annotations what an older version set stays', () => {
    const request = { namespace: team, templates: [template, holding('u')], policyOf: () => 'Delete' as const }
    const signal = new AbortController().signal
    const settled = settledIn({ ...request, signal, isOlder: (name) => name === 'u' })
    expect(settled.templates).toEqual([template])
    expect([settled.policyOf('t'), settled.policyOf('u')]).toEqual(['Delete', 'Keep'])
    expect(settledIn({ ...request, signal }).templates).toHaveLength(2)
  })
})
