/** What is wrong with a quiet cluster, compared with what the oracle says and with the last quiet time. */
import type { KubeObject } from '../../../src/kube/types.ts'
import { publishedAuthorities } from '../../support/empty-cluster.ts'
import { isGoing, isInForce, isOff, isOut, nameOf, selects } from '../enforcement/facts.ts'
import type { Actors } from './actors.ts'
import { isHalted, progressOf } from './in-force.ts'
import {
  dataOf,
  differs,
  isExtended,
  namespaceOfSources,
  parametersOf,
  replaced,
  type Template,
  templateLabel,
  type WantedObject,
  wantedObjects,
} from './oracle.ts'
import { keysSetBy, levelKeys } from './steps.ts'

export interface World {
  readonly namespaces: ReadonlyMap<string, KubeObject>
  readonly templates: readonly Template[]
  /** `namespace/name` → */
  readonly objects: ReadonlyMap<string, KubeObject>
  readonly sources: ReadonlyMap<string, KubeObject>
}

const list = async (actors: Actors, path: string): Promise<KubeObject[]> => {
  const { body } = await actors.ask('admin', 'GET', path)
  return (body['items'] ?? []) as KubeObject[]
}

export async function readWorld(actors: Actors, names: readonly string[]): Promise<World> {
  const namespaces = await list(actors, '/api/v1/namespaces?includeUninitialized=true')
  const templates = await list(actors, '/apis/policy.borough.dev/v1alpha1/namespacetemplates')
  const objects = (await list(actors, '/api/v1/configmaps')).filter((o) => !publishedAuthorities.has(nameOf(o)))
  const inSources = objects.filter(({ metadata }) => metadata.namespace === namespaceOfSources)
  return {
    namespaces: new Map(namespaces.filter((n) => names.includes(nameOf(n))).map((n) => [nameOf(n), n])),
    templates: templates as Template[],
    objects: new Map(
      objects
        .filter(({ metadata }) => names.includes(metadata.namespace ?? ''))
        .map((o) => [`${o.metadata.namespace}/${nameOf(o)}`, o]),
    ),
    sources: new Map(inSources.map((o) => [nameOf(o), o])),
  }
}

/** New, and not handed out before its templates are applied. */
export const isHeld = ({ metadata, spec }: KubeObject): boolean =>
  metadata.labels?.['policy/namespace-template-pending'] !== undefined ||
  (spec as { initializers?: unknown } | undefined)?.initializers !== undefined

const isPaused = (template: Template): boolean => progressOf(template) === 'PopulationPaused'

/** Empty = all is as it should be. `before`: as it was at the last quiet time. */
export function problems(world: World, before: World | undefined, actors: Actors): string[] {
  // What is disabled does nothing that could be paused.
  const runs = (t: Template): boolean => !isOff(t) || isGoing(t)
  if (actors.isPaused)
    return world.templates.flatMap((t) => (runs(t) && !isPaused(t) ? [`${nameOf(t)} is not paused`] : []))
  const found: string[] = []
  for (const template of world.templates) {
    const says = template.status?.observedGeneration
    if (!isGoing(template) && says !== template.metadata.generation) {
      found.push(`${nameOf(template)} is at generation ${says} of ${template.metadata.generation}`)
    } else if (isHalted(template)) found.push(...haltedProblems(template, world, before, actors))
    else if (isGoing(template)) found.push(`template ${nameOf(template)} does not go`)
    else found.push(...templateProblems(template, world, before, actors))
  }
  for (const [place, object] of world.objects) found.push(...leftProblems(place, object, world, actors))
  for (const namespace of world.namespaces.values()) {
    found.push(...metadataLeft(namespace, world, actors))
    const isExcused = world.templates.some((t) => t.status?.failures?.some((f) => f.namespace === nameOf(namespace)))
    if (isHeld(namespace) && !isGoing(namespace) && !isExcused) found.push(`${nameOf(namespace)} is still held`)
  }
  return found
}

function templateProblems(template: Template, world: World, before: World | undefined, actors: Actors): string[] {
  const found: string[] = []
  const name = nameOf(template)
  const [failing, extended] = [new Set<string>(), new Set<string>()]
  const live = [...world.namespaces.values()].filter((n) => !isGoing(n) && isInForce(template, n))
  for (const namespace of live) {
    const where = nameOf(namespace)
    const told = (template.status?.failures ?? []).filter((f) => f.namespace === where)
    const { fault } = parametersOf(template, namespace)
    if (fault !== undefined) {
      failing.add(where)
      if (!told.some(({ reason }) => reason === fault)) found.push(`${name} does not tell of ${fault} in ${where}`)
      found.push(...keptProblems(template, namespace, world, before, actors))
      continue
    }
    for (const wanted of wantedObjects(template, namespace, world.sources).values()) {
      const object = world.objects.get(`${where}/${wanted.name}`)
      const said = told.find((f) => f.object === `ConfigMap/${wanted.name}`)?.reason
      const wrong = wanted.whyNot ?? differs(wanted, object, template)
      if (wrong !== undefined) failing.add(where)
      else if (isExtended(wanted, object)) extended.add(where)
      if (wrong === undefined && said !== undefined)
        found.push(`${where}/${wanted.name} is right, ${name} says ${said}`)
      if (wrong !== undefined && !isTrue(said, wanted, object, name, actors))
        found.push(`${where}/${wanted.name} of ${name}: ${wrong}, said to be ${said}`)
    }
    for (const [key, text] of Object.entries(template.spec?.namespaceMetadata?.labels ?? {})) {
      const [is, must] = [namespace.metadata.labels?.[key], replaced(text, template, namespace)]
      if (is !== must) found.push(`${where}: label ${key} is ${is} instead of ${must}`)
      if (levelKeys.includes(key) && namespace.metadata.labels?.[`${key}-version`] === 'v1.0')
        found.push(`${where}: ${key} has the older version that stood there before ${name} brought it`)
    }
    const populated = conditionOf(namespace, 'Populated')
    if (failing.has(where) && populated !== 'False') found.push(`${where} fails, and Populated is ${populated}`)
  }
  const { matched, synced, failed } = template.status ?? {}
  const says = { matched, synced, failed, extended: template.status?.extended ?? 0 }
  const count = live.filter((n) => !failing.has(nameOf(n)) && !extended.has(nameOf(n))).length
  const adds = [...extended].filter((n) => !failing.has(n)).length
  const is = { matched: live.length, synced: count, failed: failing.size, extended: adds }
  if (JSON.stringify(says) !== JSON.stringify(is))
    found.push(`${name} says ${JSON.stringify(says)}, is ${JSON.stringify(is)}`)
  return found
}

const conditionOf = (object: KubeObject, type: string): string | undefined =>
  ((object['status'] ?? {}) as { conditions?: { type: string; status: string }[] }).conditions?.find(
    (c) => c.type === type,
  )?.status

/** Whether what the status says of an object is so. */
function isTrue(
  said: string | undefined,
  { whyNot }: WantedObject,
  object: KubeObject | undefined,
  template: string,
  { theirs, orphaning }: Actors,
): boolean {
  if (whyNot !== undefined) return said === whyNot
  if (said !== 'AlreadyExists' || object === undefined) return false
  // What was orphaned is nobody's.
  return theirs.has(object.metadata.uid ?? '') || orphaning.has(template)
}

/** Without a value that the template needs, what was right the last time stays so. */
function keptProblems(
  template: Template,
  namespace: KubeObject,
  world: World,
  before: World | undefined,
  { interval }: Actors,
): string[] {
  const where = nameOf(namespace)
  const former = before?.namespaces.get(where)
  const formerTemplate = before?.templates.find((t) => t.metadata.uid === template.metadata.uid)
  const isSame = former !== undefined && former.metadata.uid === namespace.metadata.uid
  // With more than one version since then, it is not known here which was applied last.
  const edits = interval.edits.get(nameOf(template)) ?? 0
  if (!isSame || formerTemplate === undefined || edits > 1 || interval.moved.has(where) || interval.switched) return []
  if (!isInForce(formerTemplate, former) || parametersOf(formerTemplate, former).fault !== undefined) return []
  const found: string[] = []
  for (const wanted of wantedObjects(formerTemplate, former, before?.sources ?? new Map()).values()) {
    const place = `${where}/${wanted.name}`
    const then = before?.objects.get(place)
    if (wanted.whyNot !== undefined || differs(wanted, then, formerTemplate) !== undefined) continue
    const wrong = differs({ ...wanted, data: dataOf(then) }, world.objects.get(place), formerTemplate)
    const isTouched = interval.touched.has(place) || wanted.entry.cloneFrom !== undefined
    if (wrong !== undefined && !isTouched) found.push(`${place} was not kept while a parameter is wrong: ${wrong}`)
  }
  return found
}

/** It is halted because it would take more away than it may, were all opted in, and has taken nothing. */
function haltedProblems(template: Template, world: World, before: World | undefined, actors: Actors): string[] {
  const name = nameOf(template)
  const most = template.spec?.rollout?.maxPrune ?? 5
  const { annotations, generation } = template.metadata
  if (annotations?.['policy.borough.dev/confirm-prune'] === String(generation))
    return [`${name} is confirmed, and halted`]
  const losing = new Set<string>()
  for (const [place, { metadata }] of world.objects) {
    const [where = '', object = ''] = place.split('/')
    const namespace = world.namespaces.get(where)
    if (metadata.labels?.[templateLabel] !== name || namespace === undefined) continue
    const isHeld = !isGoing(template) && selects(template, namespace)
    if (!isHeld || !wantedObjects(template, namespace, world.sources).has(object)) losing.add(where)
  }
  for (const namespace of world.namespaces.values()) {
    if (setBy(namespace, name).some((key) => !isGiven(template, namespace, key))) losing.add(nameOf(namespace))
  }
  const found = losing.size > most ? [] : [`${name} is halted, and would take away in ${[...losing]} alone`]
  // A version before it may have taken what it might: `between.ts` bounds that. One that was halted goes on when
  // namespaces that count have gone.
  const former = before?.templates.find((t) => nameOf(t) === name)
  const edits = actors.interval.edits.get(name) ?? 0
  if (edits > 1 || (edits === 1 && former !== undefined && isHalted(former))) return found
  found.push(...newcomerProblems(template, world, before, actors))
  return [...found, ...lost(template, world, before, actors).map((place) => `${place} was taken by halted ${name}`)]
}

/**
 * What came since the last quiet time holds what the version in force gives, where the newest is not for it; or what
 * the newest of the last quiet time gave, if the namespace came before the edit or the deletion that is halted.
 */
function newcomerProblems(template: Template, world: World, before: World | undefined, actors: Actors): string[] {
  const former = before?.templates.find((t) => t.metadata.uid === template.metadata.uid)
  return [...world.namespaces.values()].flatMap((namespace) => {
    const version = actors.specs.versionFor(template, namespace)
    const isOld = before?.namespaces.get(nameOf(namespace))?.metadata.uid === namespace.metadata.uid
    if (isOld || isGoing(namespace) || version === undefined || version === template) return []
    const earlier = former && actors.specs.versionFor(former, namespace)
    const found = [version, earlier ?? version].map((v) => notGiven(v, namespace, world, actors))
    return found.some(({ length }) => length === 0) ? [] : (found[0] ?? [])
  })
}

function notGiven(version: Template, namespace: KubeObject, world: World, { theirs }: Actors): string[] {
  if (parametersOf(version, namespace).fault !== undefined) return []
  const found: string[] = []
  const where = nameOf(namespace)
  for (const wanted of wantedObjects(version, namespace, world.sources).values()) {
    const object = world.objects.get(`${where}/${wanted.name}`)
    const isTheirs = object !== undefined && theirs.has(object.metadata.uid ?? '')
    const wrong = wanted.whyNot === undefined && !isTheirs ? differs(wanted, object, version) : undefined
    if (wrong !== undefined) found.push(`${where}/${wanted.name} of halted ${nameOf(version)}: ${wrong}`)
  }
  const labels: Readonly<Record<string, string>> = version.spec?.namespaceMetadata?.labels ?? {}
  for (const [key, text] of Object.entries(labels)) {
    const [is, must] = [namespace.metadata.labels?.[key], replaced(text, version, namespace)]
    if (is !== must) found.push(`${where}: label ${key} of halted ${nameOf(version)} is ${is} instead of ${must}`)
  }
  return found
}

/** Keys that the model's templates set, by template: where none does, a tenant may give them another value. */
const setBy = ({ metadata }: KubeObject, template: string): string[] =>
  Object.keys(metadata.labels ?? {}).filter(
    (key) => keysSetBy(template).includes(key) && metadata.labels?.[key] !== 'mine',
  )
const isGiven = (template: Template, namespace: KubeObject, key: string): boolean =>
  !isGoing(template) && selects(template, namespace) && key in (template.spec?.namespaceMetadata?.labels ?? {})

/** What the template had at the last quiet time, in namespaces that were left alone, and is gone. */
export function lost(template: Template, world: World, before: World | undefined, { interval }: Actors): string[] {
  const found: string[] = []
  for (const [place, then] of before?.objects ?? []) {
    const [where = ''] = place.split('/')
    if (then.metadata.labels?.[templateLabel] !== nameOf(template)) continue
    // What is not handed out yet is given the newest version at once; what is being deleted takes all with it.
    const namespace = before?.namespaces.get(where)
    if (namespace === undefined || isHeld(namespace) || isGoing(namespace)) continue
    if (interval.moved.has(where) || interval.touched.has(place) || interval.switched) continue
    if (world.objects.get(place)?.metadata.uid !== then.metadata.uid) found.push(place)
  }
  return found
}

/** Nothing of a template is left where it says no more. */
function leftProblems(place: string, object: KubeObject, world: World, actors: Actors): string[] {
  const [where = '', name = ''] = place.split('/')
  const holder = object.metadata.labels?.[templateLabel]
  const namespace = world.namespaces.get(where)
  if (holder === undefined || namespace === undefined || isGoing(namespace) || isOut(namespace)) return []
  const template = world.templates.find((t) => nameOf(t) === holder)
  if (template === undefined) {
    const isLawful = actors.orphaning.has(holder) || actors.wereOut.has(where) || actors.wereOff.has(holder)
    return isLawful ? [] : [`${place} is left of ${holder}, which is gone`]
  }
  if (isOff(template) || isHalted(template)) return []
  if (!selects(template, namespace)) return [`${place} is left of ${holder}, which does not select ${where}`]
  if (parametersOf(template, namespace).fault !== undefined) return []
  if (!wantedObjects(template, namespace, world.sources).has(name)) return [`${place} is left of ${holder}`]
  return []
}

function metadataLeft(namespace: KubeObject, world: World, actors: Actors): string[] {
  if (isGoing(namespace) || isOut(namespace)) return []
  return ['a', 'b'].flatMap((name) => {
    const template = world.templates.find((t) => nameOf(t) === name)
    if (template !== undefined && (isOff(template) || isHalted(template))) return []
    if (template !== undefined && parametersOf(template, namespace).fault !== undefined) return []
    if (actors.orphaning.has(name) || actors.wereOut.has(nameOf(namespace)) || actors.wereOff.has(name)) return []
    const left = setBy(namespace, name).filter((key) => template === undefined || !isGiven(template, namespace, key))
    return left.map((key) => `${nameOf(namespace)}: ${key} is left of ${name}`)
  })
}
