/**
 * Generated objects: each field of each kind absent, null, empty, of each wrong type, beyond 2^53; sent in each way
 * below. The server must answer, must not answer with a 5xx, must say what is wrong in a whole Status, and must log no
 * fault.
 *
 * To extend it, add a way: an update, a patch, an apply, another encoding. `BOROUGH_GENERATED=<requests>` sets the
 * budget, BOROUGH_PROPERTY_SEED repeats a sample.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject, Status } from '../../src/kube/types.ts'
import type { TestControlPlane } from '../../src/testing/index.ts'
import { type Answered, send } from '../support/send.ts'
import { startFurnished } from './furnish.ts'
import { budget, sampled, seed } from './sampling.ts'
import { type Subject, subjects } from './subjects.ts'
import { type Variation, variationsOf, varied } from './variations.ts'

interface Way {
  readonly name: string
  send(plane: TestControlPlane, subject: Subject, object: JsonObject): Promise<Answered>
}

const ways: readonly Way[] = [
  {
    name: 'created',
    send: (plane, { path }, object) => send(plane, `${path}?dryRun=All`, { method: 'POST', body: object }),
  },
]

const all = subjects()
const total = ways.length * all.reduce((sum, { schema, object }) => sum + count(variationsOf(schema, object)), 0)
const share = Math.min(1, budget / total)
const shownFailures = 10

function count(items: Iterable<unknown>): number {
  let found = 0
  for (const _ of items) found++
  return found
}

let plane: TestControlPlane
let faults: string[] = []
beforeAll(async () => {
  plane = await startFurnished((fault) => faults.push(fault))
})
afterAll(() => plane[Symbol.asyncDispose]())

describe.each(ways)(`an object with one field varied, $name (seed ${seed}, ${Math.round(share * 100)} %)`, (way) => {
  it.each(all)('$title', async (subject) => {
    const valid = await way.send(plane, subject, subject.object)
    expect(valid.code < 300 ? 'valid' : valid.text).toBe('valid')
    const failures: string[] = []
    let tried = 0
    for (const variation of sampled(
      variationsOf(subject.schema, subject.object),
      share,
      `${way.name} ${subject.title}`,
    )) {
      tried++
      const problem = await problemOf(way, subject, variation)
      if (problem !== undefined) failures.push(`${variation.title}: ${problem}`)
    }
    expect(tried).toBeGreaterThan(0)
    expect(failures.slice(0, shownFailures)).toEqual([])
  })
})

/** undefined = answered as it should be. */
async function problemOf(way: Way, subject: Subject, variation: Variation): Promise<string | undefined> {
  faults = []
  const answer = await way.send(plane, subject, varied(subject.object, variation))
  if (answer.code >= 500) return `${answer.code} ${answer.text} ${faults.join(' ')}`
  if (faults.length > 0) return `logged ${faults.join(' ')}`
  return answer.code < 300 ? undefined : incompleteRefusal(answer)
}

function incompleteRefusal({ code, text, body }: Answered): string | undefined {
  const { kind, status, message = '', reason = '', details, code: said } = (body ?? {}) as Partial<Status>
  const isWhole = kind === 'Status' && status === 'Failure' && message !== '' && reason !== '' && said === code
  if (!isWhole) return `no whole Status: ${text}`
  const isNamed = code !== 422 || (details?.causes ?? []).every((c) => c.field !== undefined && c.message !== '')
  return isNamed ? undefined : `a fault without its field: ${text}`
}
