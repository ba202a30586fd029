/**
 * Says what is wrong with a cluster when it is quiet. It reads the cluster as it is and knows the rules of
 * `docs/templates.md`; of how they are kept it knows nothing.
 */

import type { Namespace } from '../../../src/apis/namespaces/types.ts'
import type { AppliedObject } from '../../../src/apis/templates/applied-records.ts'
import type { NamespaceTemplate } from '../../../src/apis/templates/types.ts'
import type { Client } from '../../../src/client/client.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { configMapResource, namespaceResource, templateLabel, templateResource } from '../population-world.ts'
import { isGoing, isInForce, isOff, isOut, nameOf } from './facts.ts'
import type { History } from './history.ts'

export interface World {
  readonly namespaces: readonly Namespace[]
  readonly templates: readonly NamespaceTemplate[]
  /** `namespace/name` → */
  readonly objects: ReadonlyMap<string, KubeObject>
  readonly recorded: ReadonlyMap<string, AppliedObject>
}

/** What the test did that makes an exception lawful. */
export interface Allowances {
  /** Templates that were told to orphan, at some time. */
  readonly orphaning: ReadonlySet<string>
  /** Namespaces that were opted out, at some time: what was there then may outlast its template. */
  readonly optedOut: ReadonlySet<string>
  /** What a template has held without a break since the last time it was quiet: no tenant can shake it off. */
  readonly secured: ReadonlyMap<string, AppliedObject>
}

export async function readWorld(admin: Client, history: History, names: readonly string[]): Promise<World> {
  await history.upToDate()
  const [namespaces, templates, configMaps] = await Promise.all([
    admin.list(namespaceResource, { includeUninitialized: true }),
    admin.list(templateResource),
    admin.list(configMapResource),
  ])
  await history.upToDate()
  const recorded = new Map<string, AppliedObject>()
  for (const { namespace, objects } of history.records.values()) {
    for (const entry of objects) recorded.set(`${namespace}/${entry.name}`, entry)
  }
  return {
    namespaces: (namespaces.items as Namespace[]).filter((n) => names.includes(n.metadata.name ?? '')),
    templates: (templates.items as NamespaceTemplate[]).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
    objects: new Map(configMaps.items.map((o) => [`${o.metadata.namespace}/${nameOf(o)}`, o])),
    recorded,
  }
}

/** name → data, as the template says */
export const heldBy = ({ spec }: NamespaceTemplate): Map<string, Record<string, string>> =>
  new Map((spec?.templates ?? []).map((o) => [nameOf(o as KubeObject), o['data'] as Record<string, string>]))

interface Told {
  readonly reason: string
  readonly template: string
}

/** Empty = all is as it should be. */
export function problems(world: World, history: History, allowed: Allowances): string[] {
  const found: string[] = []
  for (const namespace of world.namespaces) {
    if (!isGoing(namespace)) found.push(...inNamespace(world, namespace, history, allowed))
  }
  for (const template of world.templates) found.push(...ofTemplate(world, template))
  for (const [place, { uid }] of allowed.secured) {
    if (history.wasTaken(uid)) found.push(`${place} was deleted, and no template let it go`)
  }
  return found
}

function inNamespace(world: World, namespace: Namespace, history: History, allowed: Allowances): string[] {
  const found: string[] = []
  const name = nameOf(namespace)
  const inForce = world.templates.filter((t) => isInForce(t, namespace))
  const wanted = new Map<string, NamespaceTemplate>()
  for (const template of inForce) {
    for (const object of heldBy(template).keys()) if (!wanted.has(object)) wanted.set(object, template)
  }
  let failing = false
  for (const [object, template] of wanted) {
    const place = `${name}/${object}`
    const wrong = differs(world, place, template)
    const told = toldOf(template, name, object)
    if (wrong === undefined && told !== undefined)
      found.push(`${place} is right, and ${told.template} says ${told.reason}`)
    if (wrong === undefined) continue
    failing = true
    if (told === undefined) found.push(`${place}: ${wrong}, and ${nameOf(template)} does not say so`)
    else if (!isTrue(told.reason, world.objects.get(place), template))
      found.push(`${place}: ${wrong}, said to be ${told.reason}`)
    const holder = allowed.secured.get(place)?.template
    if (told !== undefined && isStripped(told.reason, world, place)) found.push(`${place}: its label was not put back`)
    if (told?.reason === 'AlreadyExists' && holder !== undefined)
      found.push(`${place} was shaken off template ${holder}`)
  }
  for (const template of inForce) {
    for (const object of heldBy(template).keys()) {
      if (wanted.get(object) === template) continue
      failing = true
      if (toldOf(template, name, object)?.reason !== 'Conflict')
        found.push(`${name}/${object}: ${nameOf(template)} does not tell of its conflict`)
    }
  }
  const populated = namespace.status?.conditions?.find((c) => c.type === 'Populated')
  if (!isOut(namespace) && failing !== (populated?.status === 'False')) {
    found.push(`${name}: condition Populated is ${populated?.status}, failing = ${failing}`)
  }
  found.push(...left(world, namespace, wanted, history, allowed))
  return found
}

function differs(world: World, place: string, template: NamespaceTemplate): string | undefined {
  const object = world.objects.get(place)
  if (object === undefined) return 'it is not there'
  const [, name = ''] = place.split('/')
  const data = (object['data'] ?? {}) as Record<string, string>
  for (const [key, value] of Object.entries(heldBy(template).get(name) ?? {})) {
    if (data[key] !== value) return `${key} is ${data[key]} instead of ${value}`
  }
  if (object.metadata.labels?.[templateLabel] !== nameOf(template))
    return `its label is ${object.metadata.labels?.[templateLabel]}`
  const entry = world.recorded.get(place)
  if (entry?.uid !== object.metadata.uid || entry?.template !== nameOf(template))
    return `it is recorded as ${JSON.stringify(entry)}`
  return undefined
}

const toldOf = (template: NamespaceTemplate, namespace: string, object: string): Told | undefined => {
  const failure = template.status?.failures?.find(
    (f) => f.namespace === namespace && f.object === `ConfigMap/${object}`,
  )
  return failure && { reason: failure.reason, template: nameOf(template) }
}

/** What can't be applied is watched by its label all the same. */
function isStripped(reason: string, { objects, recorded }: World, place: string): boolean {
  const object = objects.get(place)
  if (reason !== 'TakenOver' && reason !== 'Drift') return false
  const isRecorded = object !== undefined && recorded.get(place)?.uid === object.metadata.uid
  return isRecorded && object.metadata.labels?.[templateLabel] === undefined
}

/** Is it so? */
function isTrue(reason: string, object: KubeObject | undefined, template: NamespaceTemplate): boolean {
  switch (reason) {
    case 'AlreadyExists':
      return object !== undefined && template.spec?.adopt !== true
    case 'Invalid':
      return object?.['immutable'] === true || clashes(object, template)
    case 'TakenOver':
      return object !== undefined && otherAppliers(object)
    case 'Drift':
      return template.spec?.driftPolicy === 'Report'
    default:
      return false
  }
}

/** A key can't be in both. */
const clashes = (object: KubeObject | undefined, template: NamespaceTemplate): boolean =>
  object !== undefined &&
  Object.keys(heldBy(template).get(nameOf(object)) ?? {}).some((key) => key in ((object['binaryData'] ?? {}) as object))

const otherAppliers = ({ metadata }: KubeObject): boolean =>
  (metadata.managedFields ?? []).some((m) => m.operation === 'Apply' && m.manager !== 'namespace-template')

/** What is recorded or was made, and not wanted. */
function left(
  { templates, objects, recorded }: World,
  namespace: Namespace,
  wanted: ReadonlyMap<string, NamespaceTemplate>,
  history: History,
  { orphaning, optedOut }: Allowances,
): string[] {
  const found: string[] = []
  const name = nameOf(namespace)
  for (const [place, { template, uid }] of recorded) {
    const [where, object = ''] = place.split('/')
    if (where !== name || wanted.has(object)) continue
    const holder = templates.find((t) => nameOf(t) === template)
    const isKept = isOut(namespace) || (holder === undefined ? optedOut.has(name) : isOff(holder) && !isGoing(holder))
    const there = objects.get(place)
    const isHeld = there?.metadata.uid === uid && isGoing(there)
    if (!isKept && !isHeld) found.push(`${place} is recorded as ${template}'s, which does not hold it`)
  }
  for (const [place, object] of objects) {
    const [where] = place.split('/')
    const { uid = '' } = object.metadata
    if (where !== name || recorded.get(place)?.uid === uid || isGoing(object)) continue
    const life = history.lives.get(uid)
    if (life === undefined || !life.wasRecorded) continue
    const lawful = life.versions.some(otherAppliers) || [...orphaning].length > 0
    if (!lawful) found.push(`${place} was made by a template and is left behind`)
  }
  return found
}

/** Others have added to what the template says of an object of its own there. What is immutable can't be compared. */
const isExtended = ({ objects, recorded }: World, template: NamespaceTemplate, namespace: string): boolean =>
  [...heldBy(template)].some(([name, data]) => {
    const place = `${namespace}/${name}`
    const object = objects.get(place)
    const isOwn = recorded.get(place)?.template === nameOf(template)
    if (object === undefined || !isOwn || object['immutable'] === true) return false
    const keys = Object.keys({ ...(object['data'] as object), ...(object['binaryData'] as object) })
    return keys.some((key) => !(key in data)) || object['immutable'] !== undefined
  })

function ofTemplate(world: World, template: NamespaceTemplate): string[] {
  const name = nameOf(template)
  if (isGoing(template)) {
    const holds = [...world.recorded].some(
      ([place, e]) => e.template === name && isGoing(world.objects.get(place) ?? { metadata: {} }),
    )
    return holds ? [] : [`template ${name} does not go`]
  }
  const { status, metadata } = template
  const live = world.namespaces.filter((n) => !isGoing(n) && isInForce(template, n)).map(nameOf)
  const failing = new Set((status?.failures ?? []).map((f) => f.namespace))
  const says = {
    generation: status?.observedGeneration,
    matched: status?.matched,
    synced: status?.synced,
    failed: status?.failed,
  }
  const is = {
    generation: metadata.generation,
    matched: live.length,
    synced: live.filter((n) => !failing.has(n) && !isExtended(world, template, n)).length,
    failed: failing.size,
  }
  const found: string[] = []
  if (JSON.stringify(says) !== JSON.stringify(is))
    found.push(`template ${name} says ${JSON.stringify(says)}, is ${JSON.stringify(is)}`)
  for (const { namespace, object, reason } of status?.failures ?? []) {
    const held = object?.split('/')[1] ?? ''
    if (!live.includes(namespace) || !heldBy(template).has(held))
      found.push(`template ${name} says ${reason} of ${namespace}/${held}, which it does not hold`)
  }
  return found
}
