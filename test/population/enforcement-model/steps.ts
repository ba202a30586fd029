/** What is done, at random or one by one: each step says itself when a case fails. */
import * as fc from 'fast-check'
import type { JsonObject } from '../../../src/kube/types.ts'
import type { Actors } from './actors.ts'
import { namespaceOfSources, templateLabel } from './oracle.ts'

export const namespaceNames = ['n0', 'n1', 'n2'] as const
export const templateNames = ['a', 'b'] as const
const tiers = ['x', 'y'] as const

export type Step = (actors: Actors) => Promise<unknown>
const say = (text: string, step: Step): Step =>
  Object.assign(step, { toString: () => text, [fc.toStringMethod]: () => text })

/** What one version of a template is about. */
export interface Shape {
  readonly tiers: readonly string[]
  readonly size: 'none' | 'optional' | 'required' | 'small'
  readonly cost: boolean
  readonly meta: 'none' | 'fixed' | 'size' | 'level'
  /** Object → its value. */
  readonly objects: Readonly<Record<string, string>>
  readonly clone: boolean
  readonly orphan: boolean
  readonly maxPrune: number | undefined
  readonly expiry: boolean
}

export const plainShape: Shape = {
  ...{ tiers: ['x', 'y'], size: 'none', cost: false, meta: 'none', objects: { plain: '1' } },
  ...{ clone: false, orphan: false, maxPrune: undefined, expiry: false },
}

const configMap = (name: string, data: JsonObject): JsonObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data },
})

export function specOf(template: string, shape: Shape): JsonObject {
  const { objects, size } = shape
  const hasSize = size !== 'none'
  const entries: JsonObject[] = Object.entries(objects).flatMap(([kind, value]) => {
    const one = configMap(`${template}-${kind}`, { a: value })
    if (kind === 'strict') return [{ drift: 'Strict', template: one }]
    if (kind === 'protect') return [{ protect: true, template: one }]
    if (kind === 'yield') return [{ yieldTo: ['scaler'], template: one }]
    if (kind === 'when') return hasSize ? [{ when: "params.size == 'large'", template: one }] : []
    if (kind === 'owner')
      return [{ template: configMap(`${template}-owner`, { owner: '$(OWNER)', in: '$(NAMESPACE)' }) }]
    if (kind === 'param') return hasSize ? [{ template: configMap(`${template}-param`, { size: '$(size)!' }) }] : []
    return [{ template: one }]
  })
  if (shape.clone) {
    const cloneFrom = { namespace: namespaceOfSources, apiVersion: 'v1', kind: 'ConfigMap', name: `s-${template}` }
    entries.push({ cloneFrom })
  }
  const values = size === 'small' ? ['small'] : ['small', 'large']
  const sizes = { name: 'size', fromLabel: 'size', enum: values }
  const meta = shape.meta === 'size' && hasSize ? 'is-$(size)' : 'set'
  return {
    namespaces: { labelSelector: { matchExpressions: [{ key: 'tier', operator: 'In', values: [...shape.tiers] }] } },
    parameters: [
      ...(hasSize ? [size === 'required' ? { ...sizes, required: true } : { ...sizes, default: 'small' }] : []),
      ...(shape.cost ? [{ name: 'cost', fromAnnotation: 'cost', pattern: '[0-9]{4}', required: true }] : []),
    ],
    ...(shape.meta === 'none' ? {} : { namespaceMetadata: { labels: labelsOf(template, shape, meta) } }),
    objects: entries,
    deletionPolicy: shape.orphan ? 'Orphan' : 'Delete',
    ...(shape.maxPrune === undefined ? {} : { rollout: { maxPrune: shape.maxPrune } }),
    ...(shape.expiry ? { expiry: { default: '2000h', max: '3000h' } } : {}),
  }
}

/** Each template has a level of Pod Security of its own: of a key that two hold one would keep what the other gave. */
const levels: Readonly<Record<string, string>> = {
  a: 'pod-security.kubernetes.io/enforce',
  b: 'pod-security.kubernetes.io/warn',
}
export const levelKeys: readonly string[] = Object.values(levels)

/** Labels of namespaces that versions of this template set. */
export const keysSetBy = (template: string): readonly string[] => [
  `example.com/of-${template}`,
  String(levels[template]),
]

const labelsOf = (template: string, { meta }: Shape, value: string): JsonObject =>
  meta === 'level' ? { [String(levels[template])]: 'baseline' } : { [`example.com/of-${template}`]: value }

export const steps = {
  write: (name: string, shape: Shape): Step =>
    say(`write ${name} ${JSON.stringify(shape)}`, (s) => s.writeTemplate(name, specOf(name, shape))),
  drop: (name: string): Step => say(`delete ${name}`, (s) => s.deleteTemplate(name)),
  disable: (name: string, isOff: boolean): Step =>
    say(`${isOff ? 'disable' : 'enable'} ${name}`, (s) =>
      s.annotateTemplate(name, { 'policy/namespace-template-apply': isOff ? 'disable' : null }),
    ),
  confirm: (name: string): Step => say(`confirm ${name}`, (s) => s.confirmPrune(name)),
  pause: (isPaused: boolean): Step => say(isPaused ? 'pause' : 'go on', (s) => s.pause(isPaused)),
  source: (name: string, value: string | undefined, to?: string): Step =>
    say(`source ${name} is ${value} for ${to}`, (s) => s.writeSource(`s-${name}`, value, to)),
  make: (name: string, metadata: JsonObject): Step =>
    say(`create namespace ${name} ${JSON.stringify(metadata)}`, (s) => s.createNamespace(name, metadata)),
  end: (name: string): Step => say(`delete namespace ${name}`, (s) => s.deleteNamespace(name)),
  label: (who: 'admin' | 'tenant', name: string, metadata: JsonObject): Step =>
    say(`${who} patches namespace ${name} ${JSON.stringify(metadata)}`, (s) => s.patchNamespace(who, name, metadata)),
  pass: (hours: number): Step => say(`${hours} h pass`, (s) => s.pass(hours)),
  restart: (): Step => say('restart', (s) => s.restart()),
  patch: (where: string, name: string, body: JsonObject): Step =>
    say(`patch ${where}/${name} ${JSON.stringify(body)}`, (s) => s.patchObject(where, name, body)),
  apply: (where: string, name: string, manager: string): Step =>
    say(`apply ${where}/${name} as ${manager}`, (s) => s.applyObject(where, name, manager, { a: 'theirs' })),
  create: (where: string, name: string): Step => say(`create ${where}/${name}`, (s) => s.createObject(where, name)),
  remove: (where: string, name: string): Step => say(`delete ${where}/${name}`, (s) => s.deleteObject(where, name)),
}

const kinds = ['plain', 'param', 'when', 'strict', 'protect', 'yield', 'owner'] as const
export const shapeOf: fc.Arbitrary<Shape> = fc.record({
  tiers: fc.constantFrom<string[][]>(['x'], ['x', 'y'], ['x', 'y'], ['y']),
  size: fc.constantFrom('none', 'optional', 'optional', 'required', 'small'),
  cost: fc.constantFrom(false, false, true),
  meta: fc.constantFrom('none', 'fixed', 'size', 'level'),
  objects: fc.dictionary(fc.constantFrom(...kinds), fc.constantFrom('1', '2'), { minKeys: 2, maxKeys: 7, size: 'max' }),
  clone: fc.boolean(),
  orphan: fc.constantFrom(false, false, false, false, false, true),
  maxPrune: fc.constantFrom(undefined, 1, 0),
  expiry: fc.boolean(),
})

const namespace = fc.constantFrom(...namespaceNames)
const template = fc.constantFrom(...templateNames)
const objectName = fc
  .tuple(template, fc.constantFrom(...kinds, 'clone'))
  .map(([t, kind]) => (kind === 'clone' ? `s-${t}` : `${t}-${kind}`))

export const metadataOfNew: fc.Arbitrary<JsonObject> = fc
  .record({
    tier: fc.constantFrom(...tiers),
    size: fc.constantFrom(undefined, 'small', 'large'),
    cost: fc.constantFrom(undefined, '1234', '1234'),
    owner: fc.constantFrom(undefined, 'olga'),
    ttl: fc.constantFrom(undefined, undefined, '1000h'),
    isProtected: fc.constantFrom(false, false, true),
  })
  .map(({ tier, size, cost, owner, ttl, isProtected }) => ({
    labels: { tier, ...(size === undefined ? {} : { size }) },
    annotations: {
      ...(cost === undefined ? {} : { cost }),
      ...(owner === undefined ? {} : { 'borough.dev/owner': owner }),
      ...(ttl === undefined ? {} : { 'borough.dev/ttl': ttl }),
      ...(isProtected ? { 'borough.dev/deletion-protection': 'true' } : {}),
    },
  }))

const fragment = fc.constantFrom<JsonObject[]>(
  { data: { a: 'theirs' } },
  { data: { b: 'more' } },
  { data: null },
  { metadata: { labels: { [templateLabel]: null } } },
  { metadata: { labels: null }, data: { a: 'theirs' } },
)

const change = fc.constantFrom<JsonObject[]>(
  ...tiers.map((tier) => ({ labels: { tier } })),
  { labels: { tier: null } },
  ...['small', 'large', 'huge'].map((size) => ({ labels: { size } })),
  { labels: { size: null } },
  ...levelKeys.flatMap((key) => ['v1.0', null].map((version) => ({ labels: { [`${key}-version`]: version } }))),
  { annotations: { cost: '4321' } },
  { annotations: { cost: null } },
  { labels: { 'example.com/of-a': 'mine' } },
  { labels: { 'example.com/of-b': null } },
)

export const randomStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(template, shapeOf).map(([t, shape]) => steps.write(t, shape)) },
  { weight: 5, arbitrary: fc.tuple(namespace, objectName, fragment).map(([n, o, f]) => steps.patch(n, o, f)) },
  { weight: 3, arbitrary: fc.tuple(namespace, change).map(([n, c]) => steps.label('tenant', n, c)) },
  { weight: 2, arbitrary: fc.tuple(namespace, objectName).map(([n, o]) => steps.remove(n, o)) },
  { weight: 2, arbitrary: fc.tuple(namespace, objectName).map(([n, o]) => steps.create(n, o)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(namespace, objectName, fc.constantFrom('scaler', 'kubectl'))
      .map(([n, o, manager]) => steps.apply(n, o, manager)),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(template, fc.constantFrom('1', '2', undefined), fc.constantFrom('*', '*', 'tier=x', undefined))
      .map(([t, value, to]) => steps.source(t, value, to)),
  },
  { weight: 2, arbitrary: fc.tuple(namespace, metadataOfNew).map(([n, m]) => steps.make(n, m)) },
  { weight: 1, arbitrary: namespace.map((n) => steps.end(n)) },
  { weight: 1, arbitrary: template.map((t) => steps.drop(t)) },
  { weight: 1, arbitrary: fc.tuple(template, fc.boolean()).map(([t, off]) => steps.disable(t, off)) },
  { weight: 1, arbitrary: template.map((t) => steps.confirm(t)) },
  { weight: 1, arbitrary: fc.boolean().map((on) => steps.pause(on)) },
  { weight: 1, arbitrary: fc.constantFrom(500, 2500).map((hours) => steps.pass(hours)) },
  { weight: 1, arbitrary: fc.constant(steps.restart()) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(namespace, fc.constantFrom('true', null))
      .map(([n, out]) => steps.label('admin', n, { annotations: { 'policy/namespace-template-opt-out': out } })),
  },
)
