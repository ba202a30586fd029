/**
 * A tenant who is admin in its namespaces does anything to what templates made there, while templates change and
 * controllers stop, start and are killed. When it is quiet, every object is as its template says or the status says
 * why not; nothing that no template made was touched; nothing that a template made is left behind; and the records say
 * what is there.
 *
 * A failure prints its seed: BOROUGH_PROPERTY_SEED=<seed> tries the same cases again. BOROUGH_LONG=<minutes> goes on
 * for so long, on each kind of cluster.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AppliedObject } from '../../src/apis/templates/applied-records.ts'
import type { NamespaceTemplate } from '../../src/apis/templates/types.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { otherKubeconfig } from '../support/other-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import {
  Actors,
  foreignNames,
  namespaceNames,
  objectNames,
  type PatchKind,
  type Place,
  templateNames,
  tiers,
  type Who,
} from './enforcement/actors.ts'
import { type Cluster, elsewhere, onBorough } from './enforcement/clusters.ts'
import { isGoing, isOff, isOut, nameOf, selects } from './enforcement/facts.ts'
import { History } from './enforcement/history.ts'
import { heldBy, problems, readWorld, type World } from './enforcement/judge.ts'
import { configMap, configMapResource, namespaceResource, templateLabel, templateResource } from './population-world.ts'

const patienceMs = 30_000
const ofTemplates = { apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate' }

type Secured = ReadonlyMap<string, AppliedObject>
type Step = (actors: Actors) => Promise<void>
const said = (text: string, step: Step): Step =>
  Object.assign(step, { toString: () => text, [fc.toStringMethod]: () => text })

const namespace = fc.constantFrom(...namespaceNames)
const who = fc.constantFrom<Who>('tenant', 'mover')
const tier = fc.constantFrom(...tiers, 'none')
const template = fc.constantFrom(...templateNames)
const place: fc.Arbitrary<Place> = fc.record({
  namespace,
  name: fc.constantFrom(...objectNames, ...objectNames, ...foreignNames),
  who,
})
const showPlace = ({ namespace: n, name, who: by }: Place): string => `${n}/${name} by ${by}`

/** Whatever a tenant may send about one object, as merge patches. */
const fragment: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject[]>(
  { data: { a: 'x' } },
  { data: { a: null } },
  { data: { b: 'theirs' } },
  { data: null },
  { binaryData: { a: 'AAAA' }, data: { a: null } },
  { metadata: { labels: { [templateLabel]: null } } },
  { metadata: { labels: { [templateLabel]: null } }, data: { a: 'x' } },
  { metadata: { labels: { [templateLabel]: 'a' } } },
  { metadata: { labels: { [templateLabel]: 'b' } }, data: { a: 'x' } },
  { metadata: { labels: { [templateLabel]: 'nobody' } } },
  { metadata: { labels: null } },
  { metadata: { annotations: { mine: 'x' } } },
  { metadata: { managedFields: [{}] } },
  { metadata: { managedFields: [{}], labels: { [templateLabel]: null } }, data: { a: 'x' } },
  { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }] } },
  { metadata: { finalizers: ['example.com/held'] } },
  { metadata: { finalizers: null } },
  { metadata: { finalizers: null } },
  { immutable: true },
  { immutable: true, data: { a: 'x' } },
)

const marks = fc.constantFrom<JsonObject[]>(
  {},
  { labels: { [templateLabel]: 'a' } },
  { labels: { [templateLabel]: 'b' } },
)

const onObject: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(place, fc.constantFrom<PatchKind[]>('merge', 'merge', 'strategic'), fragment)
      .map(([p, kind, body]) => said(`${kind} ${showPlace(p)} ${JSON.stringify(body)}`, (s) => s.patch(p, kind, body))),
  },
  {
    weight: 1,
    arbitrary: place.map((p) =>
      said(`json ${showPlace(p)}`, (s) => s.patch(p, 'json', [{ op: 'add', path: '/data', value: { a: 'x' } }])),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(place, fc.constantFrom('kubectl', 'namespace-template'), fc.boolean(), fragment)
      .map(([p, manager, force, { metadata, ...rest }]) =>
        said(`apply ${showPlace(p)} as ${manager}${force ? ' by force' : ''} ${JSON.stringify(rest)}`, (s) =>
          s.apply(p, manager, force, rest),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(place, marks)
      .map(([p, metadata]) =>
        said(`forge ${showPlace(p)} ${JSON.stringify(metadata)}`, (s) =>
          s.apply(p, 'namespace-template', true, { metadata: { ...metadata, name: p.name }, data: { a: 'x' } }),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(place, marks)
      .map(([p, metadata]) => said(`replace ${showPlace(p)}`, (s) => s.replace(p, metadata, { a: 'x' }))),
  },
  { weight: 2, arbitrary: place.map((p) => said(`delete ${showPlace(p)}`, (s) => s.remove(p))) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(place, marks, fc.boolean())
      .map(([p, metadata, immutable]) =>
        said(`create ${showPlace(p)} ${JSON.stringify(metadata)}${immutable ? ' immutable' : ''}`, (s) =>
          s.create(p, metadata, immutable ? { immutable } : {}),
        ),
      ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(place, marks).map(([p, metadata]) =>
      said(`delete and create ${showPlace(p)} ${JSON.stringify(metadata)}`, async (s) => {
        await Promise.all([s.remove(p), s.create(p, metadata)])
        await s.create(p, metadata)
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(namespace, who).map(([n, w]) => said(`delete all of ${n}`, (s) => s.removeAll(n, w))),
  },
)

const onNamespace: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(who, namespace, tier)
      .map(([w, n, t]) => said(`${w} moves ${n} to ${t}`, (s) => s.relabel(w, n, t))),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(who, namespace).map(([w, n]) => said(`${w} opts ${n} out`, (s) => s.tryOptOut(w, n))),
  },
  { weight: 1, arbitrary: namespace.map((n) => said(`${n} pretends to be new`, (s) => s.pretendPending(n))) },
)

const spec: fc.Arbitrary<JsonObject> = fc
  .record({
    tiers: fc.subarray([...tiers], { minLength: 1 }),
    objects: fc.dictionary(fc.constantFrom(...objectNames), fc.constantFrom('1', '2'), { minKeys: 1, maxKeys: 3 }),
    adopt: fc.constantFrom(true, false, false, false),
    deletionPolicy: fc.constantFrom('Delete', 'Delete', 'Delete', 'Delete', 'Delete', 'Orphan'),
    driftPolicy: fc.constantFrom('Correct', 'Correct', 'Correct', 'Report'),
  })
  .map(({ tiers: of, objects, ...policies }) => ({ of, objects, policies }))
  .map(({ of, objects, policies }) => ({
    ...policies,
    namespaces: { labelSelector: { matchExpressions: [{ key: 'tier', operator: 'In', values: of }] } },
    templates: Object.entries(objects).map(([name, a]) => configMap(name, { a })),
  }))

const ofAdministrators: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(template, spec)
      .map(([name, s]) => said(`write ${name} ${JSON.stringify(s)}`, (actors) => actors.writeTemplate(name, s))),
  },
  { weight: 1, arbitrary: template.map((t) => said(`delete ${t}`, (s) => s.deleteTemplate(t))) },
  { weight: 1, arbitrary: template.map((t) => said(`disable ${t}`, (s) => s.disable(t, true))) },
  { weight: 2, arbitrary: template.map((t) => said(`enable ${t}`, (s) => s.disable(t, false))) },
  { weight: 2, arbitrary: template.map((t) => said(`roll ${t} back`, (s) => s.rollBack(t))) },
  {
    weight: 2,
    arbitrary: fc.tuple(namespace, tier).map(([n, t]) => said(`move ${n} to ${t}`, (s) => s.relabel('admin', n, t))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(namespace, fc.boolean())
      .map(([n, out]) => said(`opt ${n} ${out ? 'out' : 'in'}`, (s) => s.optOut(n, out))),
  },
  { weight: 1, arbitrary: namespace.map((n) => said(`delete namespace ${n}`, (s) => s.deleteNamespace(n))) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(namespace, tier)
      .map(([n, t]) => said(`create namespace ${n} in ${t}`, (s) => s.createNamespace(n, t))),
  },
  { weight: 1, arbitrary: fc.constant(said('restart', (s) => s.restart())) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 8 }).map((n) => said(`kill after ${n} writes`, (s) => s.kill(n))) },
)

interface Burst {
  /** What they do at the same time. */
  readonly tenants: readonly Step[]
  readonly administrators: readonly Step[]
}

const burst: fc.Arbitrary<Burst> = fc.record({
  tenants: fc.array(fc.oneof({ weight: 5, arbitrary: onObject }, { weight: 1, arbitrary: onNamespace }), {
    minLength: 1,
    maxLength: 8,
    size: 'max',
  }),
  administrators: fc.array(ofAdministrators, { maxLength: 3, size: 'max' }),
})

async function run(
  start: () => Promise<Cluster>,
  first: readonly JsonObject[],
  bursts: readonly Burst[],
): Promise<void> {
  await using cluster = await start()
  const history = new History(cluster)
  const actors = new Actors(cluster, history)
  try {
    await actors.setUp()
    for (const [i, s] of first.entries()) await actors.writeTemplate(templateNames[i] ?? 'a', s)
    for (const [i, name] of namespaceNames.entries()) await actors.createNamespace(name, tiers[i] ?? 'x')
    let secured: Secured = new Map()
    for (const { tenants, administrators } of [{ tenants: [], administrators: [] }, ...bursts]) {
      await Promise.all([inTurn(tenants, actors), inTurn(administrators, actors)])
      const world = await quiet(cluster, history, actors, secured)
      expect([...actors.surprises, ...history.faults()]).toEqual([])
      secured = securedBy(world)
      actors.missedAnswer = false
      actors.seen.splice(0, actors.seen.length, ...asRead(world))
    }
  } finally {
    await history.stop()
  }
}

async function inTurn(steps: readonly Step[], actors: Actors): Promise<void> {
  for (const step of steps) await step(actors)
}

async function quiet(cluster: Cluster, history: History, actors: Actors, before: Secured): Promise<World> {
  const end = performance.now() + patienceMs
  const secured: Secured = actors.missedAnswer ? new Map() : stillSecured(before, actors.seen)
  for (;;) {
    const world = await readWorld(cluster.plane.client(), history, namespaceNames)
    const wrong = problems(world, history, { secured, orphaning: actors.orphaning, optedOut: actors.optedOut })
    if (wrong.length === 0) return world
    if (performance.now() > end) throw new Error(`${wrong.join('\n')}\n${shown(world)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const shown = ({ namespaces, templates, objects, recorded }: World): string =>
  JSON.stringify(
    {
      namespaces: namespaces.map(({ metadata: { labels, annotations } }) => ({ labels, annotations })),
      templates: templates.map(({ metadata: { name, annotations, deletionTimestamp }, spec, status }) => ({
        ...{ name, annotations, deletionTimestamp, spec },
        failures: status?.failures,
      })),
      objects: [...objects].filter(([at]) => /^n\d\/[of]/.test(at)),
      recorded: [...recorded],
    },
    undefined,
    1,
  )

/** The items of a list do not say what they are. */
const asRead = ({ templates, namespaces }: World): KubeObject[] => [
  ...templates.map((t) => ({ ...t, kind: 'NamespaceTemplate' })),
  ...namespaces.map((n) => ({ ...n, kind: 'Namespace' })),
]

/** `namespace/object` → what is recorded of it, for a template that is there. */
function securedBy({ recorded, templates }: World): Secured {
  const names = new Set(templates.map(nameOf))
  return new Map([...recorded].filter(([, { uid, template: t }]) => uid !== '' && names.has(t)))
}

/**
 * Of them, those that every version of the template and of the namespace since then has left with the template, or that
 * were never looked at since then.
 */
function stillSecured(before: Secured, seen: readonly KubeObject[]): Secured {
  return new Map(
    [...before].filter(([at, { template: name }]) => {
      const [where = '', object = ''] = at.split('/')
      const holders = seen.filter((o) => o.kind === 'NamespaceTemplate') as NamespaceTemplate[]
      const versions = holders.filter((t) => nameOf(t) === name)
      // It may have come to another, and have been let go by that one.
      if (holders.some((t) => nameOf(t) !== name && heldBy(t).has(object))) return false
      const homes = seen.filter((o) => o.kind === 'Namespace' && nameOf(o) === where)
      const all = [...versions, ...homes]
      // Others of the same name may have come and gone.
      if (new Set(all.map((o) => o.metadata.uid)).size !== 2 || all.some(isGoing)) return false
      const isKept = versions.every((v) => heldBy(v).has(object) && homes.every((n) => selects(v, n)))
      return isKept || versions.every(isOff) || homes.every(isOut)
    }),
  )
}

const at = (where: string, by: Who = 'mover'): Place => {
  const [ns = '', name = ''] = where.split('/')
  return { namespace: ns, name, who: by }
}
const holding = (objects: Readonly<Record<string, string>>): JsonObject => ({
  ...{ adopt: false, deletionPolicy: 'Delete', driftPolicy: 'Correct' },
  namespaces: { labelSelector: { matchExpressions: [{ key: 'tier', operator: 'In', values: ['x', 'y'] }] } },
  templates: Object.entries(objects).map(([name, a]) => configMap(name, { a })),
})
/** What was once found, reduced to what matters. */
const foundBefore: [JsonObject[], Burst[]][] = [
  // The mark of verified objects was written before all records had been read.
  [
    [holding({ o0: '2', o2: '2' })],
    [
      {
        tenants: [
          said('strip n0/o2', (s) =>
            s.patch(at('n0/o2'), 'merge', { metadata: { labels: { [templateLabel]: null } } }),
          ),
          said('replace n1/o2', (s) => s.replace(at('n1/o2'), {}, { a: 'x' })),
        ],
        administrators: [said('restart', (s) => s.restart()), said('restart', (s) => s.restart())],
      },
    ],
  ],
  // What was applied and deleted before it was compared was not recorded.
  [
    [holding({ o1: '1', o2: '2' })],
    [
      {
        tenants: [
          said('delete and create n1/o2', async (s) => {
            const [place, marked] = [at('n1/o2'), { labels: { [templateLabel]: 'a' } }]
            await Promise.all([s.remove(place), s.create(place, marked)])
            await s.create(place, marked)
          }),
          said('delete all of n1', (s) => s.removeAll('n1', 'mover')),
        ],
        administrators: [],
      },
    ],
  ],
]

const minutes = Number(process.env['BOROUGH_LONG'] ?? 0)
// A cluster of upstream's takes seconds for a case, most of them to be emptied.
const minutesElsewhere = minutes === 0 && otherKubeconfig !== undefined ? 4 : minutes
// A busy machine tries fewer: what it has not tried when the time is nearly up is left to the next run's seed.
const howLong = (lasts: number) =>
  lasts > 0
    ? { numRuns: 1_000_000, interruptAfterTimeLimit: lasts * 60_000 }
    : { numRuns: 60, interruptAfterTimeLimit: 90_000 }

const clusters = [
  { where: 'on Borough', start: onBorough, lasts: minutes },
  { where: 'through borough populate', start: elsewhere, lasts: minutesElsewhere },
]

test.each(clusters)('$where what stands in the way of a template, without a label, is looked for again', async (c) => {
  await using cluster = await c.start()
  const client = cluster.plane.client()
  await client.create(namespaceResource, { metadata: { name: 'n0', labels: { tier: 'x' } } })
  const ref = { namespace: 'n0', name: 'o0' }
  const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref, data: { a: 'x' } }
  await client.apply(configMapResource, theirs, { fieldManager: 'gitops' })
  const templates = [configMap('o0')]
  const namespaces = { nameSelector: { include: ['n0'] } }
  await client.create(templateResource, {
    ...ofTemplates,
    metadata: { name: 'a' },
    spec: { adopt: true, namespaces, templates },
  })
  await waitFor(client, templateResource, { name: 'a' }, (t) =>
    JSON.stringify(t?.['status'] ?? {}).includes('TakenOver'),
  )
  await client.delete(configMapResource, ref)
  await waitFor(client, configMapResource, ref, (o) => JSON.stringify(o?.['data']) === '{"a":"1"}')
})

test.each(clusters)(
  '$where a tenant can shake nothing off and loses nothing of its own',
  ({ start, lasts }) =>
    fc.assert(
      fc.asyncProperty(
        fc.array(spec, { minLength: 1, maxLength: 3, size: 'max' }),
        fc.array(burst, { minLength: 3, maxLength: 8, size: 'max' }),
        (first, bursts) => run(start, first, bursts),
      ),
      { ...howLong(lasts), endOnFailure: true, examples: foundBefore },
    ),
  (minutesElsewhere + 2) * 60_000,
)
