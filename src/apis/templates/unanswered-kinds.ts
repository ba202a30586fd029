/**
 * Kinds of which the cluster can't say now what serves them: the API server behind an APIService is down. An edit that
 * depends on such a kind is refused as what it is, 503 with the object and the APIService, and not as a fault of ours.
 */
import type { Attributes } from '../../admission/admission.ts'
import type { Discovery, ServedKind } from '../../client/client.ts'
import { parseApiVersion } from '../../kube/gvk.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { Lack } from './author-rights.ts'
import { noveltyOf, objectsOf, type TemplateObject } from './template-objects.ts'
import type { NamespaceTemplate } from './types.ts'

export interface AskedKind {
  /** undefined, without the other: nothing serves it. */
  readonly served?: ServedKind | undefined
  /** Which APIService does not answer, and what was said instead. */
  readonly unanswered?: string
}

/** @throws what is no matter of one API: the server of the cluster itself is not reached */
export async function askKind(discovery: Discovery, apiVersion: string, kind: string): Promise<AskedKind> {
  try {
    return { served: await discovery.findKind(apiVersion, kind) }
  } catch (error) {
    const service = apiServiceOf(apiVersion)
    // The core API has no server behind it, and whom the cluster does not know it does not know elsewhere either.
    if (!(error instanceof StatusError) || error.code === 401 || service === undefined) throw error
    return { unanswered: `APIService ${service} does not answer (${error.message})` }
  }
}

function apiServiceOf(apiVersion: string): string | undefined {
  const { group = '', version } = parseApiVersion(apiVersion) ?? {}
  return group === '' ? undefined : `${version}.${group}`
}

export interface UnansweredKinds {
  /** Absent: what is served is known in this process. */
  whyUnanswered?(apiVersion: string, kind: string): string | undefined
}

interface Edit {
  readonly next: NamespaceTemplate
  readonly old: NamespaceTemplate | undefined
}

/** What an edit brings or changes is checked against its kind. @throws StatusError ServiceUnavailable */
export function checkAnswered(a: Attributes, { next, old }: Edit, deps: UnansweredKinds): void {
  const isNew = noveltyOf(next, old)
  refuse(
    a,
    objectsOf(next).flatMap((o) => (isNew(o) ? unansweredIn(deps, o) : [])),
  )
}

/**
 * Of a kind that is not known the author needs all of its group. Where that is all that is lacking, less may do.
 * @throws StatusError ServiceUnavailable
 */
export function checkLacksKnown(
  a: Attributes,
  { next, old }: Edit,
  deps: UnansweredKinds,
  lacks: readonly Lack[],
): void {
  // Of what is taken away a lack names the list alone.
  const removed = (old === undefined ? [] : objectsOf(old)).map((o) => ({ ...o, field: o.field.replace(/\[.*/, '') }))
  const unanswered = [...objectsOf(next), ...removed].flatMap((o) => unansweredIn(deps, o))
  const fields = new Set(unanswered.map(({ field }) => field))
  if (lacks.every(({ field }) => fields.has(field)))
    refuse(
      a,
      unanswered.filter(({ field }) => lacks.some((l) => l.field === field)),
    )
}

interface Unanswered {
  readonly field: string
  readonly message: string
  readonly service: string
}

function unansweredIn({ whyUnanswered }: UnansweredKinds, { field, source }: TemplateObject): Unanswered[] {
  const { apiVersion, kind } = source
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return []
  const why = whyUnanswered?.(apiVersion, kind)
  const service = apiServiceOf(apiVersion)
  if (why === undefined || service === undefined) return []
  return [{ field, service, message: `kind ${kind} of ${apiVersion} can't be looked up: ${why}` }]
}

function refuse(a: Attributes, unanswered: readonly Unanswered[]): void {
  const [first] = unanswered
  if (first === undefined) return
  const what = unanswered.map(({ field, message }) => `${field}: ${message}`).join('; ')
  const services = [...new Set(unanswered.map(({ service }) => service))].join(' ')
  throw new KindUnanswered(
    `NamespaceTemplate ${JSON.stringify(a.name)} can't be checked: ${what}. Try again once it answers, or leave the ` +
      `object out until then; what is wrong says: kubectl get apiservice ${services}`,
    {
      reason: 'ServiceUnavailable',
      details: {
        ...{ name: a.name, group: a.type.group, kind: a.type.resource },
        causes: unanswered.map(({ field, message }) => ({ reason: 'KindUnavailable', message, field })),
      },
    },
  )
}

/** Ours to tell the author, unlike other answers of 500 and more that were met on the way. */
export class KindUnanswered extends StatusError {}
