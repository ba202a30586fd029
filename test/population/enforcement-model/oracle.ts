/**
 * What a namespace must hold, worked out from the documents of users alone: from the objects as the API shows them, by
 * rules of its own beside the facts that both models read. It knows the few expressions and patterns that the steps of
 * this model write, and no code of the product.
 */
import type { JsonObject, KubeObject } from '../../../src/kube/types.ts'
import { nameOf, type SelectingTemplate } from '../enforcement/facts.ts'

export interface Template extends SelectingTemplate {
  readonly spec?: SelectingTemplate['spec'] & {
    readonly parameters?: readonly Parameter[]
    readonly namespaceMetadata?: { readonly labels?: Readonly<Record<string, string>> }
    readonly objects?: readonly Entry[]
    readonly deletionPolicy?: string
    readonly driftPolicy?: string
    readonly rollout?: { readonly maxPrune?: number }
    readonly expiry?: { readonly default?: string; readonly max?: string }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly heldGeneration?: number
    readonly matched?: number
    readonly synced?: number
    readonly failed?: number
    readonly extended?: number
    readonly failures?: readonly { namespace: string; object?: string; reason: string; message?: string }[]
    readonly conditions?: readonly { type: string; status: string; reason: string }[]
  }
}

interface Parameter {
  readonly name: string
  readonly fromLabel?: string
  readonly fromAnnotation?: string
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly default?: string
  readonly required?: boolean
}

export interface Entry {
  readonly template?: { readonly metadata: { readonly name: string }; readonly data: Readonly<Record<string, string>> }
  readonly cloneFrom?: { readonly namespace: string; readonly name: string }
  readonly when?: string
  readonly drift?: string
  readonly protect?: boolean
  readonly yieldTo?: readonly string[]
}

export interface WantedObject {
  readonly name: string
  /** undefined = the source does not give it: what was copied stays. */
  readonly data: Readonly<Record<string, string>> | undefined
  readonly whyNot?: 'SourceMissing' | 'SourceRefused'
  readonly entry: Entry
}

export const namespaceOfSources = 'platform'
export const consentKey = 'policy.borough.dev/clone-to'
export const templateLabel = 'policy/namespace-template-name'
export const protectedLabel = 'policy.borough.dev/protected-by'

/** Parameter → value; or what is wrong with the first that is wrong. */
export function parametersOf(
  { spec }: Template,
  { metadata }: KubeObject,
): { readonly values: Readonly<Record<string, string>>; readonly fault?: 'ParameterMissing' | 'ParameterInvalid' } {
  const values: Record<string, string> = {}
  let fault: 'ParameterMissing' | 'ParameterInvalid' | undefined
  for (const p of spec?.parameters ?? []) {
    const given = (p.fromLabel ? metadata.labels?.[p.fromLabel] : metadata.annotations?.[p.fromAnnotation ?? '']) ?? ''
    if (given === '' && p.required === true) fault ??= 'ParameterMissing'
    const isAllowed =
      given === '' || ((p.enum?.includes(given) ?? true) && (p.pattern === undefined || /^[0-9]{4}$/.test(given)))
    if (!isAllowed) fault ??= 'ParameterInvalid'
    values[p.name] = given === '' ? (p.default ?? '') : given
  }
  return fault === undefined ? { values } : { values, fault }
}

const ownerOf = ({ metadata }: KubeObject): string =>
  metadata.annotations?.['borough.dev/owner'] ?? metadata.annotations?.['authorization.k8s.io/creator'] ?? ''

/** Each `$(name)` of a text. */
export function replaced(text: string, template: Template, namespace: KubeObject): string {
  const { values } = parametersOf(template, namespace)
  const tokens: Record<string, string> = {
    ...values,
    OWNER: ownerOf(namespace),
    CREATOR: namespace.metadata.annotations?.['authorization.k8s.io/creator'] ?? '',
    NAMESPACE: nameOf(namespace),
  }
  return text.replaceAll(/\$\((\w+)\)/g, (_, name: string) => tokens[name] ?? `unknown ${name}`)
}

/** The only conditions that this model writes. */
function holds(when: string | undefined, template: Template, namespace: KubeObject): boolean {
  if (when === undefined) return true
  if (when !== "params.size == 'large'") throw new Error(`the model does not know the condition ${when}`)
  return parametersOf(template, namespace).values['size'] === 'large'
}

/** By name, where the parameters are as they must be. `sources`: name → the source. */
export function wantedObjects(
  template: Template,
  namespace: KubeObject,
  sources: ReadonlyMap<string, KubeObject>,
): ReadonlyMap<string, WantedObject> {
  const wanted = new Map<string, WantedObject>()
  for (const entry of template.spec?.objects ?? []) {
    if (!holds(entry.when, template, namespace)) continue
    if (entry.cloneFrom === undefined) {
      const { metadata, data } = entry.template ?? { metadata: { name: '' }, data: {} }
      const filled = Object.entries(data).map(([key, text]) => [key, replaced(text, template, namespace)])
      wanted.set(metadata.name, { name: metadata.name, data: Object.fromEntries(filled), entry })
      continue
    }
    const { name } = entry.cloneFrom
    const source = sources.get(name)
    const to = source?.metadata.annotations?.[consentKey]
    const consents = to === '*' || (to === 'tier=x' && namespace.metadata.labels?.['tier'] === 'x')
    if (source === undefined) wanted.set(name, { name, data: undefined, whyNot: 'SourceMissing', entry })
    else if (!consents) wanted.set(name, { name, data: undefined, whyNot: 'SourceRefused', entry })
    else wanted.set(name, { name, data: dataOf(source), entry })
  }
  return wanted
}

export const dataOf = (object: KubeObject | undefined): Readonly<Record<string, string>> =>
  (object?.['data'] ?? {}) as Record<string, string>

/** What one object lacks; undefined = it is as it must be. */
export function differs(
  { entry, data, name }: WantedObject,
  object: KubeObject | undefined,
  template: Template,
): string | undefined {
  if (object === undefined) return `${name} is not there`
  const has = dataOf(object)
  for (const [key, value] of Object.entries(data ?? {})) {
    if (has[key] !== value && !isYielded(entry, object, key)) return `${key} is ${has[key]} instead of ${value}`
  }
  if (entry.drift === 'Strict') {
    const extra = Object.keys(has).find((key) => !(key in (data ?? {})))
    if (extra !== undefined) return `${extra} was added, and it is Strict`
  }
  const { labels = {} } = object.metadata
  if (labels[templateLabel] !== nameOf(template)) return `its label is ${labels[templateLabel]}`
  if ((labels[protectedLabel] === nameOf(template)) !== (entry.protect === true))
    return `protected-by is ${labels[protectedLabel]}`
  return undefined
}

function isYielded({ yieldTo = [] }: Entry, object: KubeObject, key: string): boolean {
  const managers = (object.metadata.managedFields ?? []) as { manager?: string; fieldsV1?: JsonObject }[]
  return managers.some(({ manager = '', fieldsV1 = {} }) => {
    const data = (fieldsV1['f:data'] ?? {}) as JsonObject
    return yieldTo.includes(manager) && `f:${key}` in data
  })
}

/** Of what is as it must be: others have added to it. */
export const isExtended = ({ data, entry }: WantedObject, object: KubeObject | undefined): boolean =>
  entry.drift !== 'Strict' &&
  data !== undefined &&
  object !== undefined &&
  Object.keys(dataOf(object)).some((key) => !(key in data))

/** Hours of a duration such as `1000h`. */
export const hoursOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(/^(\d+)h$/.exec(text)?.[1])
