/** What becomes of changes by others, and of an apply that is refused. */
import { beforeEach, describe, expect, test } from 'vitest'
import { configMap, holding, object, team, World } from '../../../test/support/population-pass.ts'
import type { ServedKind } from '../../client/client.ts'
import { alreadyExists, forbidden, invalid, notFound, StatusError } from '../../kube/status-error.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import type { AppliedObject } from './applied-records.ts'
import { type Applied, type ApplyRequest, applyObject, type Kept } from './apply-object.ts'
import { mostCorrections } from './corrections.ts'
import { type Rendered, render } from './render.ts'
import type { NamespaceTemplate } from './types.ts'

let world: World
beforeEach(() => {
  world = new World()
})

describe('an apply that is refused', () => {
  const refused = forbidden({ group: '', resource: 'configmaps' }, 'c', 'no')
  const failure = { reason: 'Forbidden', message: 'configmaps "c" is forbidden: no', retriable: true }

  test('leaves what is ours ours, as this template’s', async () => {
    world.put(configMap, { isOurs: true, template: 'former' })
    world.failures.set('apply ConfigMap/c', refused)
    const [result] = await world.pass([holding('t', configMap)])
    expect(result).toMatchObject({ failure, applied: { template: 't', uid: 'uid of ConfigMap/c' } })
  })

  test('makes nothing ours that was only announced', async () => {
    world.claim({ apiVersion: 'v1', kind: 'ConfigMap', name: 'c' })
    world.failures.set('apply ConfigMap/c', refused)
    expect(await world.pass([holding('t', configMap)])).toEqual([
      { template: 't', object: 'ConfigMap/c', failure, released: '/ConfigMap/c' },
    ])
  })
})

describe('what others change', () => {
  const strict = (): NamespaceTemplate => ({
    metadata: { name: 't', generation: 3 },
    spec: { objects: [{ drift: 'Strict', template: configMap }] },
  })
  const repeated = (template: NamespaceTemplate): void => {
    const [rendered] = render([template], team, () => ({ content: {}, digest: '' })).objects
    world.put(configMap)
    const digest = rendered?.config ?? ''
    world.claim({ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'uid of ConfigMap/c', digest })
  }

  test('is put back, and told', async () => {
    repeated(holding('t', configMap))
    const [result] = await world.pass([holding('t', configMap)])
    expect(result?.corrected).toEqual({ message: 'what others had changed was put back', isNews: true })
    expect((await world.pass([holding('t', configMap)]))[0]?.corrected?.isNews).toBe(false)
  })

  test('what was deleted is made again', async () => {
    repeated(holding('t', configMap))
    world.objects.clear()
    world.claim({ ...(world.claims.get('/ConfigMap/c') as AppliedObject), uid: 'former' })
    const [result] = await world.pass([holding('t', configMap)])
    expect(result?.corrected?.message).toBe('it had been deleted, and is made again')
  })

  test('an edit of the template is no correction', async () => {
    world.put(configMap, { isOurs: true })
    expect((await world.pass([holding('t', configMap)]))[0]).not.toHaveProperty('corrected')
  })

  test('what is added is told, and taken out by a strict template', async () => {
    repeated(holding('t', configMap))
    world.added.set('ConfigMap/c', { immutable: true })
    const [extended] = await world.pass([holding('t', configMap)])
    const message = 'it holds what the template does not: immutable; drift: Strict takes it out'
    expect(extended).toMatchObject({ extended: { reason: 'Extended', message }, applied: { content: '' } })
    repeated(strict())
    world.sent.length = 0
    const [replaced] = await world.pass([strict()])
    expect(replaced).not.toHaveProperty('extended')
    expect(world.sent).toEqual(['announce ConfigMap/c', 'apply ConfigMap/c', 'replace ConfigMap/c'])
  })

  test('a strict template stops after ten times within an hour, and keeps its claim', async () => {
    repeated(strict())
    for (let i = 0; i < mostCorrections; i++) world.corrections.note('n /ConfigMap/c')
    const [stopped] = await world.pass([strict()])
    expect(stopped).toMatchObject({
      failure: {
        reason: 'DriftStopped',
        message:
          'it was put back 10 times within an hour, and is left as other writers have it until that hour is over',
        retriable: false,
        isObstructed: true,
      },
      applied: { uid: 'uid of ConfigMap/c', template: 't' },
    })
    expect(world.sent).toEqual(['announce ConfigMap/c'])
    // What is gone is made again, however often.
    const { lives } = world
    const there = [...lives]
    lives.clear()
    expect((await world.pass([strict()]))[0]?.outcome).toBe('configured')
    for (const [title, live] of there) lives.set(title, live)
    // An edit of the template begins anew.
    world.claim({ ...(world.claims.get('/ConfigMap/c') as AppliedObject), digest: 'former' })
    expect((await world.pass([strict()]))[0]?.outcome).toBe('configured')
  })
})

/** One object on a server that answers as it is told to: applies by how they are sent, replacements in their order. */
class OneObject {
  live: KubeObject | undefined = {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' }, status: { seen: true } },
    metadata: { name: 'c', namespace: 'team', uid: 'u', resourceVersion: '7' },
  }
  /** What an apply comes to; else what is there. */
  applied: Record<string, KubeObject | Error> = {}
  readonly replaced: (JsonObject | Error)[] = []
  readonly sent: string[] = []
  readonly bodies: KubeObject[] = []

  apply(
    said: Partial<NonNullable<NonNullable<NamespaceTemplate['spec']>['objects']>[number]>,
    { adopt, driftPolicy, ...about }: About = {},
  ): Promise<Applied | Kept> {
    const template: NamespaceTemplate = {
      metadata: { name: 't', generation: 3 },
      spec: {
        objects: [{ template: configMap, ...said }],
        ...(adopt === undefined ? {} : { adopt }),
        ...(driftPolicy === undefined ? {} : { driftPolicy }),
      },
    }
    const [rendered] = render([template], team, () => ({ content: {}, digest: '' })).objects
    const answer = (what: string, body: KubeObject, said: KubeObject | JsonObject | Error = {}): KubeObject => {
      this.sent.push(what)
      this.bodies.push(body)
      if (said instanceof Error) throw said
      return { ...(this.live as KubeObject), ...said }
    }
    return applyObject({
      client: {
        get: async (kind: ServedKind, { name }: { name: string }) => {
          if (this.live === undefined) throw notFound(kind, name)
          return this.live
        },
        apply: async (_: ServedKind, config: KubeObject, { mustBeAbsent, force, dryRun }: ApplyOptions) => {
          const how = [mustBeAbsent && 'new', force && 'forced', dryRun && 'dry'].filter((word) => word)
          const what = ['apply', ...how].join(' ')
          const said = this.applied[what]
          // What made the first fail is no more.
          if (mustBeAbsent) delete this.applied[what]
          return answer(what, config, said)
        },
        update: async (_: ServedKind, whole: KubeObject, { dryRun }: ApplyOptions) =>
          answer(dryRun ? 'replace dry' : 'replace', whole, this.replaced.shift()),
      } as unknown as ApplyRequest['client'],
      kind: { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true, verbs: [] },
      rendered: rendered as Rendered,
      signal: new AbortController().signal,
      ...{ isOurs: true, isRepeated: true, isUntouched: false },
      ...about,
    })
  }
}

type About = Partial<ApplyRequest> & Pick<NonNullable<NamespaceTemplate['spec']>, 'adopt' | 'driftPolicy'>

interface ApplyOptions {
  readonly mustBeAbsent?: boolean
  readonly force?: boolean
  readonly dryRun?: boolean
}

const byUpdate = 'conflict with "curl" using v1'
const byApply = 'conflict with "argo"'
const conflicting = (...causes: [message: string, field?: string][]): StatusError =>
  new StatusError('Apply failed', {
    reason: 'Conflict',
    details: {
      causes: causes.map(([message, field]) => ({
        ...{ reason: 'FieldManagerConflict', message },
        ...(field === undefined ? {} : { field }),
      })),
    },
  })
const holds = (...keys: string[]) => ({ data: Object.fromEntries(keys.map((key) => [key, '1'])) })

describe('where drift is reported', () => {
  let server: OneObject
  beforeEach(() => {
    server = new OneObject()
  })
  const report = { drift: 'Report' } as const

  test('what is there as it should be is told, with what it holds beside', async () => {
    server.replaced.push({ data: {} })
    expect(await server.apply(report)).toEqual({ object: server.live, extra: ['data.a'] })
    expect(server.sent).toEqual(['apply forced dry', 'replace dry'])
  })

  test('fields that differ are named, with the managers that changed them', async () => {
    server.applied = {
      'apply forced dry': { ...holds('a', 'b'), metadata: {} },
      'apply dry': conflicting([byUpdate, '.data.b'], [byApply, '.data.c'], [byUpdate, '.data.d']),
    }
    expect(await server.apply(report)).toEqual({
      failure: 'Drift',
      message: 'it differs from the template in metadata.name, metadata.namespace, data.b, changed by "curl", "argo"',
    })
  })

  test('no more than five are named, and no manager where none is known', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    server.applied = { 'apply forced dry': { ...(server.live as KubeObject), ...holds(...keys) } }
    expect(await server.apply(report)).toEqual({
      failure: 'Drift',
      message: 'it differs from the template in data.b, data.c, data.d, data.e, data.f, and 2 more',
    })
    server.applied = { 'apply forced dry': { ...(server.live as KubeObject), ...holds(...keys.slice(0, 6)) } }
    expect(await server.apply(report)).toMatchObject({ message: expect.stringMatching(/ data\.e, data\.f$/) })
  })

  test('who changed them may be refused to be told', async () => {
    const refused = forbidden({ group: '', resource: 'configmaps' }, 'c', 'no')
    server.applied = { 'apply forced dry': { ...holds('b'), metadata: {} }, 'apply dry': refused }
    await expect(server.apply(report)).rejects.toBe(refused)
  })

  test('what is not there is made', async () => {
    server.live = undefined
    server.applied = { apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } } }
    await server.apply(report, { isUntouched: true })
    expect(server.sent).toEqual(['apply'])
  })

  test('a template says so of all its objects at once, and an object for itself', async () => {
    server.replaced.push({}, {})
    await server.apply({}, { driftPolicy: 'Report' })
    await server.apply({ drift: 'Correct' }, { driftPolicy: 'Report' })
    expect(server.sent).toEqual(['apply forced dry', 'replace dry', 'apply', 'replace dry'])
  })

  test.each<[string, About, string[]]>([
    ['what a template adopts', { isOurs: false, isUntouched: true, adopt: true }, ['apply']],
    ['an edit of the template', { isRepeated: false, isUntouched: true }, ['apply']],
    ['what no template made', { isOurs: false }, ['apply new']],
  ])('%s is applied', async (_, about, sent) => {
    expect(await server.apply(report, about)).toEqual({ object: server.live, extra: [] })
    expect(server.sent).toEqual(sent)
  })

  test.each([
    [byUpdate, 'Drift'],
    [byApply, 'TakenOver'],
  ] as const)('an edit that is in the way of others changes nothing: %s', async (message, failure) => {
    server.applied = { apply: conflicting([message, '.data.a']) }
    expect(await server.apply(report, { isRepeated: false })).toEqual({ failure, message: 'Apply failed' })
    expect(server.sent).toEqual(['apply'])
  })
})

describe('where drift is corrected', () => {
  let server: OneObject
  beforeEach(() => {
    server = new OneObject()
  })

  test('changes are put back, and it is told whose they were', async () => {
    server.applied = { apply: conflicting([byUpdate, '.data.a'], [byApply, '.data.b'], [byUpdate]) }
    expect(await server.apply({}, { isUntouched: true })).toEqual({
      ...{ object: server.live, extra: [] },
      conflict: 'changes by "curl", "argo" were put back: data.a, data.b',
    })
    expect(server.sent).toEqual(['apply', 'apply forced'])
  })

  test('an object that another applies is not taken over', async () => {
    server.applied = { 'apply new': conflicting([byUpdate], [byApply]) }
    const about = { isOurs: false, isUntouched: true }
    expect(await server.apply({}, about)).toEqual({ failure: 'TakenOver', message: 'Apply failed' })
    // One that others only edited is.
    server.applied = { 'apply new': conflicting([byUpdate]) }
    expect(await server.apply({}, about)).toMatchObject({ object: server.live })
  })

  test.each([
    ['a conflict that is not about fields', new StatusError('the object was modified', { reason: 'Conflict' })],
    ['a refusal', forbidden({ group: '', resource: 'configmaps' }, 'c', 'no')],
    ['an object that is said to be there already', alreadyExists({ group: '', resource: 'configmaps' }, 'c')],
    ['a fault', new Error('a fault')],
  ])('%s is told as it is', async (_, failure) => {
    server.applied = { apply: failure }
    await expect(server.apply({})).rejects.toBe(failure)
    expect(server.sent).toEqual(['apply'])
  })

  test('fields of managers to which the template yields are not put back, but all else', async () => {
    const fieldsV1 = { 'f:data': { 'f:a': {} } }
    const managedFields = [{ manager: 'scaler', operation: 'Update', apiVersion: 'v1', fieldsV1 }] as const
    server.live = { ...(server.live as KubeObject), metadata: { name: 'c', managedFields: [...managedFields] } }
    server.applied = { apply: conflicting([byUpdate, '.data.b']) }
    const template = object('ConfigMap', 'c', { data: { a: '1', b: '2' } })
    await server.apply({ template, yieldTo: ['scaler'] }, { isUntouched: true })
    expect(server.sent).toEqual(['apply', 'apply forced'])
    expect(server.bodies[1]).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'c' }, data: { b: '2' } })
    expect(server.bodies[1]?.['data']).toEqual({ b: '2' })
  })

  test('fields of such managers stay when it is replaced, all but metadata and status', async () => {
    const own = { 'f:data': { 'f:z': {} }, 'f:metadata': { 'f:labels': {} }, 'f:status': {} }
    const managedFields = [own, { 'f:metadata': {} }].map((fieldsV1) => ({ manager: 'scaler', fieldsV1 }))
    const metadata = { name: 'c', managedFields }
    server.live = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: '0', z: '9' } } as unknown as KubeObject
    await server.apply({ drift: 'Strict', yieldTo: ['scaler'] })
    expect(server.bodies[1]).toEqual({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata },
      data: { a: '1', z: '9' },
    })
    expect(Object.keys(server.bodies[1] ?? {})).not.toContain('status')
  })

  test('what else it holds is asked of the server, and its status is left alone', async () => {
    server.replaced.push({ data: {}, metadata: { labels: { a: 'b' } } } as unknown as JsonObject)
    expect(await server.apply({})).toEqual({ object: server.live, extra: ['data.a'] })
    expect(server.sent).toEqual(['apply', 'replace dry'])
    expect(server.bodies[1]).toEqual({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: server.live?.metadata },
      ...{ data: { a: '1' }, status: { seen: true } },
    })
  })

  test.each([
    ['can not be replaced', invalid({ group: '', kind: 'ConfigMap' }, 'c', [])],
    ['may not be', forbidden({ group: '', resource: 'configmaps' }, 'c', 'no')],
  ])('an object that %s is said to hold nothing else; a strict template says so', async (_, refused) => {
    server.replaced.push(refused, refused)
    expect(await server.apply({})).toEqual({ object: server.live, extra: [] })
    expect(await server.apply({ drift: 'Strict' })).toEqual({ object: server.live, extra: [], refused })
  })

  test('a strict template replaces it, and begins again where another writes meanwhile, three times', async () => {
    const strict = { drift: 'Strict' } as const
    const modified = new StatusError('the object was modified', { reason: 'Conflict' })
    server.replaced.push({ data: {} }, modified, { data: {} }, { data: { b: '2' } })
    expect(await server.apply(strict)).toEqual({ object: { ...server.live, data: { b: '2' } }, extra: [] })
    expect(server.sent).toEqual(['apply', 'replace dry', 'replace', 'apply', 'replace dry', 'replace'])
    server.sent.length = 0
    server.replaced.push(modified, modified, modified)
    expect(await server.apply(strict)).toEqual({ object: server.live, extra: [], refused: modified })
    expect(server.sent).toEqual(['apply', 'replace dry', 'apply', 'replace dry', 'apply', 'replace dry'])
    server.replaced.push({})
    expect(await server.apply(strict)).toEqual({ object: server.live, extra: [] })
  })

  test('what is no answer of a server ends the pass', async () => {
    server.replaced.push(new Error('a fault'))
    await expect(server.apply({})).rejects.toThrow('a fault')
  })
})

describe('an object that no record names', () => {
  const there = (): StatusError => alreadyExists({ group: '', resource: 'configmaps' }, 'c')
  const about = { isOurs: false, isRepeated: false }

  test('is left as it is', async () => {
    const server = new OneObject()
    server.applied = { 'apply new': there() }
    expect(await server.apply({}, about)).toEqual({
      failure: 'AlreadyExists',
      message: 'it was there before and no template created it; spec.adopt: true would take it over',
    })
    expect(server.sent).toEqual(['apply new'])
  })

  test('is ours where it bears our label and our entry', async () => {
    const server = new OneObject()
    const managedFields = [{ manager: 'namespace-template', operation: 'Apply', apiVersion: 'v1' }] as const
    const labels = { 'policy/namespace-template-name': 't' }
    server.live = {
      ...(server.live as KubeObject),
      metadata: { name: 'c', labels, managedFields: [...managedFields] },
    }
    server.applied = { 'apply new': there() }
    expect(await server.apply({}, about)).toEqual({ object: server.live, extra: [] })
    expect(server.sent).toEqual(['apply new', 'apply'])
  })

  test('may have gone meanwhile', async () => {
    const server = new OneObject()
    server.live = undefined
    server.applied = { 'apply new': there() }
    await server.apply({}, about)
    expect(server.sent).toEqual(['apply new', 'apply new'])
  })
})
