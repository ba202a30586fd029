/** An answer against what the oracle says of it. */
import { bodyOf } from './bodies.ts'
import { askedOf, type Case } from './cases.ts'
import { judge } from './oracle.ts'
import type { Allowed, Facts, Question, Refused } from './question.ts'
import type { Answer, Asked, Server } from './server.ts'

export interface Finding {
  readonly case: Case
  /** Method, path and identity: what it takes to see it again. */
  readonly request: string
  readonly expected: string
  readonly got: string
  readonly isSilence: boolean
}

/** Undefined = it is as it must be. */
export async function examine(server: Server, facts: Facts, given: Case): Promise<Finding | undefined> {
  const { question, identity, form } = given
  const asked = askedOf(given, (q) => bodyFor(facts, q))
  const request = `${asked.method} ${asked.path} as ${identity.name}${form === 'json' ? '' : ` [${form}]`}`
  const expected = judge(facts, identity, identity.as, question)
  let answer: Answer
  try {
    answer = await server.ask(asked)
  } catch (error) {
    return { case: given, request, expected: 'an answer', got: String(error), isSilence: true }
  }
  const wrong =
    expected.is === 'refused' ? wrongRefusal(expected, answer, asked) : wrongAnswer(expected, answer, question, facts)
  if (wrong === undefined) return undefined
  return { case: given, request, expected: wrong, got: `${answer.code} ${readable(answer)}`, isSilence: false }
}

/** Of a write: an object of the type, under a name of its own if it is to be created. */
function bodyFor(facts: Facts, { group, version, parts, under, method }: Question): object {
  const type = facts.findType(group, version, parts[0] ?? '')
  if (type === undefined || method === 'PATCH' || !['', 'status', 'finalize'].includes(parts[2] ?? '')) return {}
  return bodyOf(type, parts[1] ?? 'zq-tried', under)
}

const utf8 = ({ text }: Answer): string => Buffer.from(text, 'latin1').toString('utf8')
const isJson = ({ contentType }: Answer): boolean => contentType.startsWith('application/json')
const readable = (answer: Answer): string => {
  const status = isJson(answer) ? statusOf(answer) : undefined
  const shown = shownIn(answer)
  const said = status?.message ?? answer.text.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, 300)
  return answer.code < 300 && shown.length > 0 ? `showing ${shown.join(' ')}` : `${status?.reason ?? ''} ${said}`
}

interface StatusBody {
  readonly message?: string
  readonly reason?: string
  readonly details?: object
  readonly code?: number
}

function statusOf(answer: Answer): StatusBody | undefined {
  try {
    return JSON.parse(utf8(answer)) as StatusBody
  } catch {
    return undefined
  }
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
}

function wrongRefusal({ code, message, details }: Refused, answer: Answer, asked: Asked): string | undefined {
  const wanted = `${code} ${reasons[code]}${message === undefined ? '' : `: ${message}`}`
  if (answer.code !== code) return wanted
  // No body through sockets.
  if (asked.method === 'HEAD' && answer.text === '') return undefined
  if (message !== undefined) {
    if (!isJson(answer)) return answer.text.includes(message) ? leaked(answer, asked) : wanted
    const status = statusOf(answer)
    if (status?.message !== message || status.reason !== reasons[code]) return wanted
    if (details !== undefined && !isSame(status.details, details))
      return `${wanted}, details ${JSON.stringify(details)}`
  }
  return leaked(answer, asked)
}

const isSame = (a: object | undefined, b: object): boolean =>
  JSON.stringify(Object.entries(a ?? {}).toSorted()) === JSON.stringify(Object.entries(b).toSorted())

/** Names that a refusal tells, and that its request did not. */
function leaked(answer: Answer, { path }: { path: string }): string | undefined {
  const told = marksIn(answer.text).filter((mark) => !path.includes(mark))
  return told.length === 0 ? undefined : `nothing about ${told.join(' ')}`
}

function wrongAnswer({ shows, waits }: Allowed, answer: Answer, q: Case['question'], facts: Facts): string | undefined {
  const { code, text } = answer
  if (code === 403 && text.includes('cannot ')) return 'no refusal'
  if ('document' in q) return undefined
  if (isUnserved(answer)) return 'an answer'
  if (waits && code < 300) return 'no success: the namespace is not initialized'
  const foreign = marksIn(text).filter((mark) => q.under && !mark.endsWith(q.under) && !namesIn(q).includes(mark))
  if (foreign.length > 0) return `nothing about ${foreign.join(' ')}`
  if (shows === undefined) return undefined
  const type = facts.findType(q.group, q.version, q.parts[0] ?? '')
  // In namespaces, and beside those of the matrix, there is what the server and its controllers made: not counted.
  const isCounted = (name: string): boolean =>
    type?.namespaced ? isMark(name) : type?.resource !== 'namespaces' || name.startsWith('zq')
  const wanted = shows.toSorted()
  // In protobuf a name is any text: marks and namespaces are like no other text; of the rest, those wanted count.
  const isTelling = type?.namespaced || type?.resource === 'namespaces'
  const lookedFor = isTelling && type ? facts.namesOf(type, '') : wanted
  const shown = isJson(answer) ? shownIn(answer) : lookedFor.filter((name) => text.includes(name))
  const counted = [...new Set(shown)].filter(isCounted).toSorted()
  if (code === 200 && counted.join() === wanted.join()) return undefined
  return `200 showing ${wanted.join(' ') || 'nothing'}`
}

/** Refused as what is no route, or not done at all; 501 is what only a kubelet could do. */
function isUnserved({ code, text }: Answer): boolean {
  if (code === 404) return text.includes('the server could not find the requested resource')
  return code === 401 || code === 405 || (code >= 500 && code !== 501)
}

const namesIn = (q: Question): readonly string[] => [...q.parts, q.pinned ?? '']

/** Names of the objects that the matrix put into its namespaces. */
const marksIn = (text: string): string[] => [...new Set(text.match(/\b(?:held|other)-zq[a-z]+/g) ?? [])]

const isMark = (name: string): boolean => /^(?:held|other)-zq/.test(name)

interface Shown {
  readonly metadata?: { readonly name?: string }
  readonly items?: readonly Shown[]
  readonly rows?: readonly { readonly object?: Shown }[]
}

/** Names of the objects in an answer: one object, a list, a Table, or the events of a watch. */
function shownIn(answer: Answer): string[] {
  if (!isJson(answer)) return marksIn(answer.text)
  const names: string[] = []
  const see = ({ metadata, items, rows }: Shown): void => {
    for (const item of items ?? []) see(item)
    for (const { object } of rows ?? []) if (object) see(object)
    if (!items && !rows && metadata?.name) names.push(metadata.name)
  }
  for (const line of utf8(answer).split('\n')) {
    if (line.trim() === '') continue
    try {
      const value = JSON.parse(line) as Shown & { type?: string; object?: Shown }
      see(value.type !== undefined && value.object ? value.object : value)
    } catch {
      return [...names, 'something that is no JSON']
    }
  }
  return names
}
