/**
 * Table of invalid objects of built-in kinds. Each row changes a valid object, creates it (or creates it as `put` says
 * and updates it as `update` says), and names every fault that the answer must tell. The whole Status is compared.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { invalidObject } from './refusal.ts'
import { send } from './send.ts'
import { type ObjectName, type ValidObject, validObjects } from './valid-objects.ts'

/** Path of a field (`spec.ports[0].port`) → its value; undefined takes it away. */
export type Changes = Readonly<Record<string, unknown>>

export interface FaultRow {
  readonly of: ObjectName
  readonly name: string
  readonly put?: Changes
  /** What a sub-resource is told before `update`; it must be accepted. */
  readonly first?: { readonly part: string; readonly update: Changes }
  readonly update?: Changes
  /** The sub-resource that `update` goes to. */
  readonly part?: string
  /** `<field>: <what is wrong>`, in the order of the answer. */
  readonly faults: readonly string[]
}

type Body = Record<string, unknown> & { metadata: { name: string } }

function changed(body: unknown, changes: Changes = {}): Body {
  const copy = structuredClone(body) as Body
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.match(/[^.[\]]+/g) ?? []
    let at: Record<string, unknown> = copy
    for (const step of steps.slice(0, -1)) {
      at[step] ??= {}
      at = at[step] as Record<string, unknown>
    }
    const last = steps.at(-1) ?? ''
    if (value === undefined) delete at[last]
    else at[last] = value
  }
  return copy
}

export function describeFaults(title: string, rows: readonly FaultRow[]): void {
  let plane: TestControlPlane
  beforeAll(async () => {
    plane = await startControlPlane({ population: false })
  })
  afterAll(() => plane[Symbol.asyncDispose]())

  describe(`faults ${title}`, () => {
    it.each(rows)('$of $name', async ({ of, put, first, update, part, faults }) => {
      const { path, kind, body }: ValidObject = validObjects[of]
      const created = await send(plane, update ? path : `${path}?dryRun=All`, {
        method: 'POST',
        body: changed(body, put),
      })
      let answer = created
      if (update) {
        expect(created.code, created.text).toBe(201)
        let object = created.body as Body
        const at = `${path}/${object.metadata.name}`
        if (first) {
          const told = await send(plane, `${at}/${first.part}`, { method: 'PUT', body: changed(object, first.update) })
          expect(told.code, told.text).toBe(200)
          object = told.body as Body
        }
        answer = await send(plane, part ? `${at}/${part}` : at, { method: 'PUT', body: changed(object, update) })
        await send(plane, `${at}?gracePeriodSeconds=0`, { method: 'DELETE' })
      }
      const [, group = ''] = /^\/apis\/([^/]+)\//.exec(path) ?? []
      const { name } = changed(body, put).metadata
      expect(answer.body).toEqual(invalidObject({ group, kind, name }, faults))
      expect(answer.code).toBe(422)
    })
  })
}
