/**
 * One varied object, sent in one way, and what must be true of the answer:
 *
 *   it comes, is no 5xx, and nothing was logged as a fault
 *   refused    a whole Status, which says of which field
 *   accepted   what is stored is what was answered, and it validates when it is sent back; a status counts nothing
 *              below zero but what upstream takes so (`negative-counts.ts`)
 */
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject, KubeObject, Status } from '../../src/kube/types.ts'
import type { TestControlPlane } from '../../src/testing/index.ts'
import { type Answered, send } from '../support/send.ts'
import { startFurnished } from './furnish.ts'
import { negativeCount } from './negative-counts.ts'
import type { Subject } from './subjects.ts'
import type { Variation } from './variations.ts'
import type { GeneratedRequest, Way } from './ways.ts'

/** A guard, far beyond what an answer takes. */
const hangMs = 60_000

export class Trials implements AsyncDisposable {
  readonly #plane: TestControlPlane
  readonly #faults: string[]
  #requests = 0

  private constructor(plane: TestControlPlane, faults: string[]) {
    this.#plane = plane
    this.#faults = faults
  }

  static async start(): Promise<Trials> {
    const faults: string[] = []
    return new Trials(await startFurnished((fault) => faults.push(fault)), faults)
  }

  /** Sent so far, with those that look at what came of the others. */
  get requests(): number {
    return this.#requests
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#plane[Symbol.asyncDispose]()
  }

  /** Makes the valid object that a way changes. @throws Error if it is refused */
  async prepare(way: Way, subject: Subject): Promise<void> {
    if (!way.changes) return
    const answer = await this.#send(subject.path, 'POST', subject.object)
    if (answer.code >= 300 && answer.code !== 409) throw new Error(`${subject.title} is not valid: ${answer.text}`)
  }

  async cleanUp(subject: Subject): Promise<void> {
    if (subject.isKept) await this.#remove(`${subject.path}/${nameOf(subject.object)}`)
  }

  /** undefined = answered as it should be. */
  async problemOf(way: Way, subject: Subject, variation: Variation): Promise<string | undefined> {
    const request = way.request(subject, variation)
    if (request === undefined) return undefined
    this.#faults.length = 0
    const answer = await this.#try(request, subject.isFarReaching)
    if (isUpstreams(answer)) return undefined
    if (answer.code >= 500) return `${answer.code} ${answer.text} ${this.#faults.join(' ')}`
    if (this.#faults.length > 0) return `logged ${this.#faults.join(' ')}`
    if (answer.code >= 300) return incompleteRefusal(answer, variation)
    const problem = negativeCount(subject, variation, answer.body) ?? (await this.#problemOfAccepted(subject, answer))
    if (subject.isKept && !subject.isFarReaching) await this.#restore(way, subject, answer)
    return problem
  }

  #try({ method, path, query, type, body }: GeneratedRequest, dry: boolean): Promise<Answered> {
    const asked = new URLSearchParams({ ...query, ...(dry ? { dryRun: 'All' } : {}) }).toString()
    return this.#sendBody(asked === '' ? path : `${path}?${asked}`, { method, type, body })
  }

  async #problemOfAccepted(subject: Subject, answer: Answered): Promise<string | undefined> {
    if (!subject.isKept) return undefined
    const answered = answer.body as KubeObject
    const path = `${subject.path}/${encodeURIComponent(answered.metadata.name ?? '')}`
    let stored = answered
    if (!subject.isFarReaching) {
      const read = await this.#send(path, 'GET')
      if (read.code !== 200) return `answered ${answer.code}, but to read it says ${read.text}`
      stored = read.body as KubeObject
      const isSame = stored.metadata.resourceVersion === answered.metadata.resourceVersion
      if (isSame && !isDeepStrictEqual(stored, answered)) return `answered ${answer.text}, but stored ${read.text}`
    }
    const again = await this.#send(`${subject.path}?dryRun=All`, 'POST', asNew(stored, subject))
    const isTaken = again.code === 409 || /provided (IP|port) is already allocated/.test(again.text)
    if (again.code >= 300 && !isTaken) return `what it stored does not validate: ${again.text}`
    return undefined
  }

  /** As it was before the trial. */
  async #restore(way: Way, subject: Subject, answer: Answered): Promise<void> {
    const { name = '' } = (answer.body as KubeObject).metadata
    await this.#remove(`${subject.path}/${encodeURIComponent(name)}`)
    await this.prepare(way, subject)
  }

  async #remove(path: string): Promise<void> {
    await this.#send(path, 'PATCH', { metadata: { finalizers: null } }, 'application/merge-patch+json')
    const options = { gracePeriodSeconds: 0, propagationPolicy: 'Background' }
    const answer = await this.#send(path, 'DELETE', options)
    if (answer.code >= 300 && answer.code !== 404) throw new Error(`${path} can't be deleted: ${answer.text}`)
  }

  #send(path: string, method: string, body?: object, type = 'application/json'): Promise<Answered> {
    return this.#sendBody(path, { method, ...(body === undefined ? {} : { type, body }) })
  }

  #sendBody(path: string, sent: Parameters<typeof send>[2]): Promise<Answered> {
    this.#requests++
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${sent?.method} ${path} is not answered`)), hangMs)
      send(this.#plane, path, sent)
        .then(resolve, reject)
        .finally(() => clearTimeout(late))
    })
  }
}

const nameOf = (object: JsonObject): string => String((object['metadata'] as JsonObject | undefined)?.['name'] ?? '')

/**
 * Without what the server alone may set, and what upstream too checks only where an object is created: the prefix of a
 * name that it did not get, the finalizers of custom kinds and of definitions, and the networks of a node.
 */
function asNew(object: KubeObject, { isCustom, gvk }: Subject): object {
  const { resourceVersion: _, uid: __, deletionTimestamp: ___, generateName: ____, ...metadata } = object.metadata
  if (isCustom || gvk.group === 'apiextensions.k8s.io') delete metadata.finalizers
  if (gvk.kind !== 'Node') return { ...object, metadata }
  const { podCIDRs: _____, ...spec } = object['spec'] as JsonObject
  return { ...object, metadata, spec }
}

/**
 * Upstream answers 500 to an apply of what has not the types of its schema.
 * @see k8s.io/apimachinery/pkg/util/managedfields/internal/structuredmerge.go v0.36
 */
const isUpstreams = ({ text }: Answered): boolean => text.includes('"message":"failed to create typed patch object (')

/** Upstream's words for values that read themselves from JSON, and so do not know which field they are. */
const namesNoField =
  /into Go value of type|parsing time|quantities must match the regular|list element types are not identical|declared merge key|illegal base64 data/

/** undefined = whole, and it names what is wrong: the field, or the one that it is in. */
function incompleteRefusal({ code, text, body }: Answered, { path }: Variation): string | undefined {
  const { kind, status, message = '', reason = '', details, code: said } = (body ?? {}) as Partial<Status>
  const isWhole = kind === 'Status' && status === 'Failure' && message !== '' && reason !== '' && said === code
  if (!isWhole) return `no whole Status: ${text}`
  if (code === 422 && (details?.causes ?? []).every((cause) => cause.field !== undefined && cause.message !== '')) {
    return undefined
  }
  if (code === 422) return `a fault without its field: ${text}`
  if (code !== 400 || namesNoField.test(message)) return undefined
  const fields = path.filter((step) => typeof step === 'string').slice(-2)
  const isNamed = fields.some((field) => message.toLowerCase().includes(field.toLowerCase()))
  return isNamed || path.length === 1 ? undefined : `it names neither of ${fields.join(' and ')}: ${text}`
}
