/**
 * `cloneFrom`: a Secret or ConfigMap of another namespace, copied. What is copied is its content and nothing of its
 * metadata, if the source consents: an annotation of it selects the namespaces that may have it. A copy is no source,
 * so there are neither chains nor cycles.
 */
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { type LabelSelector, matchesLabels, parseLabelSelector } from '../../kube/label-selector.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { digestOf } from './digest.ts'
import { type CloneSource, cloneToAnnotation } from './types.ts'

/** What of a source stands in its copies. A digest tells two contents apart. */
export interface CloneContent {
  readonly content: JsonObject
  readonly digest: string
}

export interface CloneProblem {
  readonly reason: 'SourceMissing' | 'SourceRefused'
  readonly message: string
}

/** What a namespace is to be given of a source, or why that is not known. */
export type ResolveClone = (from: CloneSource, namespace: Pick<Namespace, 'metadata'>) => CloneContent | CloneProblem

export const cloneResource = ({ kind }: CloneSource): GroupVersionResource => ({
  group: '',
  version: 'v1',
  resource: kind === 'Secret' ? 'secrets' : 'configmaps',
})

/** Where only names are asked for. */
export const resolveNameOnly: ResolveClone = () => ({ content: {}, digest: '' })

export interface CloneLookups {
  /** A text says why it can't be told whether it is there. */
  find(from: CloneSource): KubeObject | string | undefined
  /** What templates made in a namespace. */
  madeIn(namespace: string): readonly { readonly apiVersion: string; readonly kind: string; readonly name: string }[]
}

export const cloneResolver =
  ({ find, madeIn }: CloneLookups): ResolveClone =>
  (from, namespace) => {
    const source = findSource({ find, madeIn }, from)
    if ('reason' in source) return source
    if (matchesLabels(source.consent, namespace.metadata.labels)) return contentOf(source.object)
    return refused(from, `does not consent: its annotation ${cloneToAnnotation} does not select this namespace`)
  }

interface ConsentingSource {
  readonly object: KubeObject
  readonly consent: LabelSelector
}

/** The source as it is for all namespaces, or what keeps it from any of them. */
export function findSource({ find, madeIn }: CloneLookups, from: CloneSource): ConsentingSource | CloneProblem {
  const object = find(from)
  if (typeof object === 'string')
    return { reason: 'SourceMissing', message: `${titleOf(from)} can not be read: ${object}` }
  if (object === undefined || object.metadata.deletionTimestamp !== undefined)
    return { reason: 'SourceMissing', message: `${titleOf(from)} is not there: ${wayOut}` }
  const { apiVersion, kind, name } = from
  const isMade = madeIn(from.namespace).some((o) => o.apiVersion === apiVersion && o.kind === kind && o.name === name)
  if (isMade) return refused(from, 'is made by a template itself: what it is made from can be cloned')
  if (bound(object['type'])) return refused(from, `is of type ${String(object['type'])}, which is not cloned`)
  const consent = consentOf(object)
  return typeof consent === 'string' ? refused(from, `does not consent: ${consent}`) : { object, consent }
}

const titleOf = ({ kind, namespace, name }: CloneSource): string =>
  `${kind} ${name} in namespace ${JSON.stringify(namespace)}, its source,`

const refused = (from: CloneSource, why: string): CloneProblem => ({
  reason: 'SourceRefused',
  message: `${titleOf(from)} ${why}`,
})

const wayOut = `restore it, with its annotation ${cloneToAnnotation}, or take it out of the template`

/** Credentials of an account or a node are bound to their place. */
const bound = (type: unknown): boolean =>
  type === 'kubernetes.io/service-account-token' || type === 'bootstrap.kubernetes.io/token'

const everybody: LabelSelector = Object.freeze([])
/** It is parsed in one piece, and matched with every namespace. */
const longestConsent = 4096
/** An error of the parser names all that is wrong, and it stands in the status of every namespace. */
const longestFault = 256

/** Sources are never changed in place. */
const consents = new WeakMap<KubeObject, LabelSelector | string>()

/** The namespaces that may have it, or why none may. */
function consentOf(source: KubeObject): LabelSelector | string {
  let known = consents.get(source)
  if (known === undefined) {
    known = parseConsent(source.metadata.annotations?.[cloneToAnnotation]?.trim() ?? '')
    consents.set(source, known)
  }
  return known
}

const whatConsents = 'give it a label selector for the namespaces that may have a copy, or * for all'

function parseConsent(text: string): LabelSelector | string {
  if (text === '') return `annotation ${cloneToAnnotation} is missing: ${whatConsents}`
  if (text === '*') return everybody
  if (text.length > longestConsent) return `annotation ${cloneToAnnotation} has more than ${longestConsent} characters`
  try {
    return parseLabelSelector(text)
  } catch (error) {
    const { message } = error as Error
    const why = message.length > longestFault ? `${message.slice(0, longestFault)}...` : message
    return `annotation ${cloneToAnnotation} is no label selector: ${why}`
  }
}

const digests = new WeakMap<KubeObject, CloneContent>()

function contentOf(source: KubeObject): CloneContent {
  let known = digests.get(source)
  if (known === undefined) {
    const { data, binaryData, type } = source
    const parts = Object.entries({ data, binaryData, type }).filter(([, value]) => value !== undefined)
    const content = Object.fromEntries(parts) as JsonObject
    known = { content, digest: digestOf(content) }
    digests.set(source, known)
  }
  return known
}
