/** What is asked: every route in every way by every identity, as a sample that leaves no kind out, or all of it. */
import type { Identity } from './identities.ts'
import type { AnyQuestion, DocumentQuestion, Question } from './question.ts'
import { asksOf, pathOf, type Route } from './routes.ts'
import type { Asked } from './server.ts'
import type { World } from './world.ts'

export interface Case {
  readonly question: AnyQuestion
  readonly form: Form
  readonly identity: Identity
}

const meta = 'g=meta.k8s.io;v=v1'
const metadataOf = (list: boolean): string => `application/json;as=PartialObjectMetadata${list ? 'List' : ''};${meta}`

/** How an answer is asked for. What is no collection has no Table of its own to be refused. */
export const forms = ['json', 'table', 'metadata', 'protobuf'] as const
export type Form = (typeof forms)[number]

function acceptOf(form: Form, { verb }: { readonly verb: string }): string {
  if (form === 'json') return 'application/json'
  if (form === 'table') return `application/json;as=Table;${meta},application/json`
  if (form === 'metadata') return `${metadataOf(verb === 'list')},application/json`
  return 'application/vnd.kubernetes.protobuf,application/json'
}

type Ask = Pick<Question, 'method' | 'watch'>

/** An ordered set of cases of which any can be had by its number. */
export interface Product {
  readonly size: number
  at(index: number): Case
}

/** Everything, in an order that a seed mixes: what is tried first is spread over all of it. */
export function fullProduct(routes: readonly Route[], world: World, seed: number): Product {
  const asked: (readonly [Route, Ask] | DocumentQuestion)[] = [...documentQuestions(world)]
  for (const route of routes) for (const ask of asksOf(route)) asked.push([route, ask])
  const { identities } = world
  const size = asked.length * forms.length * identities.length
  const step = stepFor(size, seed)
  return {
    size,
    at(index) {
      let rest = Number((BigInt(index) * BigInt(step) + BigInt(seed)) % BigInt(size))
      const take = <T>(list: readonly T[]): T => {
        const item = list[rest % list.length] as T
        rest = Math.floor(rest / list.length)
        return item
      }
      const [identity, form, what] = [take(identities), take(forms), take(asked)]
      return { identity, form, question: 'document' in what ? what : { ...what[0], ...what[1] } }
    },
  }
}

/** For each kind of route, way of asking and identity one case, its type and form by the dice. */
export function* sampled(routes: readonly Route[], world: World, random: () => number): Generator<Case> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  for (const alike of Map.groupBy(routes, ({ kind }) => kind).values()) {
    for (const ask of asksOf(alike[0] as Route)) {
      for (const identity of world.identities) {
        yield { question: { ...pick(alike), ...ask }, form: pick(forms), identity }
      }
    }
  }
  for (const question of documentQuestions(world)) {
    for (const identity of world.identities) yield { question, form: 'json', identity }
  }
}

const documentQuestions = ({ documents }: World): DocumentQuestion[] =>
  documents.flatMap((document) => ['GET', 'HEAD', 'POST'].map((method) => ({ document, method })))

/** Coprime to the size, so that every case comes once. */
function stepFor(size: number, seed: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))
  let step = Math.floor(size * 0.618) + (seed % 1000)
  while (divisor(step, size) !== 1) step++
  return step
}

/** xorshift: the same numbers for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed | 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** The request as it is sent. */
export function askedOf({ question, form, identity }: Case, body: (question: Question) => object): Asked {
  const { method } = question
  const isDocument = 'document' in question
  const isList = !isDocument && question.parts.length === 1 && !question.watch && question.legacy !== 'watch'
  const accept = acceptOf(form, { verb: isList && method !== 'POST' ? 'list' : '' })
  const { token, as } = identity
  const headers = {
    accept: isDocument ? '*/*' : accept,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(as === undefined ? {} : { 'impersonate-user': as.username }),
    ...(as === undefined || as.groups.length === 0 ? {} : { 'impersonate-group': [...as.groups] }),
  }
  if (isDocument) return { method, path: question.document, headers }
  const path = pathOf(question)
  if (!['POST', 'PUT', 'PATCH'].includes(method)) return { method, path, headers }
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  return { method, path, headers: { ...headers, 'content-type': type }, body: JSON.stringify(body(question)) }
}
