/** Dry runs at a quiet time: what must be refused is, and what nothing speaks against comes through. */
import type { KubeObject } from '../../../src/kube/types.ts'
import { isGoing, nameOf } from '../enforcement/facts.ts'
import { type Actors, merge } from './actors.ts'
import type { WrittenSpecs } from './in-force.ts'
import { isHeld, type World } from './judge.ts'
import { hoursOf, parametersOf, protectedLabel, replaced, type Template, templateLabel } from './oracle.ts'
import { levelKeys } from './steps.ts'

interface Probe {
  readonly what: string
  readonly who: 'admin' | 'tenant'
  readonly method: 'PATCH' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly code: number
}

export async function probeProblems(world: World, actors: Actors): Promise<string[]> {
  const found: string[] = []
  for (const probe of probesOf(world, actors.specs)) {
    const { what, who, method, path, body, code } = probe
    const type = method === 'PATCH' ? merge : 'application/json'
    const answer = await actors.ask(who, method, `${path}?dryRun=All`, body, type)
    if (answer.code !== code) found.push(`${what}: ${answer.code} ${answer.body.message ?? ''}, not ${code}`)
  }
  return found
}

function* probesOf(world: World, specs: WrittenSpecs): Generator<Probe> {
  for (const namespace of world.namespaces.values()) {
    const hasContent = !isGoing(namespace) && !isHeld(namespace)
    if (!hasContent) continue
    yield* ofProtection(world, namespace, specs)
    yield* ofNamespace(world, namespace, specs)
    yield* ofOlderStandards(world, namespace, specs)
  }
  yield* ofCreation(world, specs)
}

function* ofProtection({ objects, templates }: World, namespace: KubeObject, specs: WrittenSpecs): Generator<Probe> {
  const where = nameOf(namespace)
  for (const [place, object] of objects) {
    const [at, name] = place.split('/')
    const { labels = {} } = object.metadata
    const holder = templates.find((t) => nameOf(t) === labels[templateLabel])
    const version = holder && specs.versionFor(holder, namespace)
    if (at !== where || version === undefined) continue
    const entry = version.spec?.objects?.find((o) => o.template?.metadata.name === name)
    if (entry === undefined || (labels[protectedLabel] !== undefined) !== (entry.protect === true)) continue
    const path = `/api/v1/namespaces/${where}/configmaps/${name}`
    const code = entry.protect === true ? 403 : 200
    yield { what: `a tenant writes ${place}`, who: 'tenant', method: 'PATCH', path, body: { data: { z: 'z' } }, code }
    yield { what: `a tenant deletes ${place}`, who: 'tenant', method: 'DELETE', path, code }
  }
}

function* ofNamespace({ templates }: World, namespace: KubeObject, specs: WrittenSpecs): Generator<Probe> {
  const path = `/api/v1/namespaces/${nameOf(namespace)}`
  const inForce = specs.versionsFor(templates, namespace)
  const patch = (what: string, metadata: object, code: number, who: Probe['who'] = 'tenant'): Probe => ({
    ...{ what: `${what} ${nameOf(namespace)}`, who, method: 'PATCH', path, code },
    body: { metadata },
  })
  for (const template of inForce) {
    if (parametersOf(template, namespace).fault !== undefined) continue
    for (const [key, text] of Object.entries(template.spec?.namespaceMetadata?.labels ?? {})) {
      if (namespace.metadata.labels?.[key] !== replaced(text, template, namespace)) continue
      yield patch(`a tenant takes ${key} off`, { labels: { [key]: null } }, 403)
    }
  }
  const huge = {
    ...namespace,
    metadata: { ...namespace.metadata, labels: { ...namespace.metadata.labels, size: 'huge' } },
  }
  const isNew = namespace.metadata.labels?.['size'] !== 'huge'
  const isBad = inForce.some((t) => parametersOf(t, huge).fault === 'ParameterInvalid' && hasSize(t))
  if (isNew && isBad) yield patch('a tenant gives a bad size to', { labels: { size: 'huge' } }, 422)
  yield patch('another owner for', { annotations: { 'borough.dev/owner': 'eve' } }, 422, 'admin')
  yield patch('a note on', { annotations: { note: 'x' } }, 200)
}

/** What comes to a level of Pod Security brings no older version of it. */
function* ofOlderStandards({ templates }: World, namespace: KubeObject, specs: WrittenSpecs): Generator<Probe> {
  const levelsOf = (of: KubeObject): string[] =>
    specs.versionsFor(templates, of).flatMap(({ spec }) => Object.keys(spec?.namespaceMetadata?.labels ?? {}))
  const before = levelsOf(namespace)
  for (const tier of ['x', 'y']) {
    const labels: Readonly<Record<string, string>> = { ...namespace.metadata.labels, tier }
    const moved = { ...namespace, metadata: { ...namespace.metadata, labels } }
    if (specs.versionsFor(templates, moved).some((t) => parametersOf(t, moved).fault !== undefined)) continue
    const isOlder = levelsOf(moved).some(
      (key) => levelKeys.includes(key) && !before.includes(key) && labels[`${key}-version`] === 'v1.0',
    )
    const path = `/api/v1/namespaces/${nameOf(namespace)}`
    const what = `${nameOf(namespace)} comes to tier ${tier} with older standards`
    if (isOlder)
      yield { what, who: 'admin', method: 'PATCH', path, body: { metadata: { labels: { tier } } }, code: 403 }
  }
}

const hasSize = ({ spec }: Template): boolean => (spec?.parameters ?? []).some((p) => p.fromLabel === 'size')

function* ofCreation({ templates }: World, specs: WrittenSpecs): Generator<Probe> {
  const metadata = { name: 'probe', labels: { tier: 'x', size: 'small' }, annotations: { cost: '1234' } }
  const create = (what: string, more: object, code: number): Probe => ({
    ...{ what, who: 'admin', method: 'POST', path: '/api/v1/namespaces', code },
    body: { metadata: { ...metadata, ...more } },
  })
  const inForce = specs.versionsFor(templates, { metadata })
  const faultOf = (more: object): boolean =>
    inForce.some((t) => parametersOf(t, { metadata: { ...metadata, ...more } }).fault !== undefined)
  if (!faultOf({})) yield create('a namespace with good values', {}, 201)
  const bad = [{ labels: { tier: 'x', size: 'huge' } }, { annotations: { cost: '12345' } }, { annotations: {} }]
  for (const more of bad) {
    yield create(`a namespace with ${JSON.stringify(more)}`, more, faultOf(more) || faultOf({}) ? 422 : 201)
  }
  const most = inForce.flatMap((t) => hoursOf(t.spec?.expiry?.max) ?? [])
  if (most.length > 0 && !faultOf({})) {
    const annotations = { ...metadata.annotations, 'borough.dev/ttl': `${Math.min(...most) + 1}h` }
    yield create('a namespace that outlives its bound', { annotations }, 422)
  }
}
