/** What exists, as of a head that the file may be ahead of. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { endOfCommit, type Revision } from '../storage.ts'
import { FilePresent } from './file-present.ts'
import { LogFile } from './log-file.ts'
import { expectAbsent } from './messages.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'borough-present-'))
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** In the order of UTF-8, which is not that of UTF-16. */
const keys = ['/a', '/a/b', '/b', '/c', '/\uff5e', '/\u{1f600}']
const everything = { start: '/', end: '0' }

it('shows the state at the head, however far ahead the file is', () => {
  const steps = fc.array(fc.record({ key: fc.constantFrom(...keys), removes: fc.boolean() }), { maxLength: 25 })
  fc.assert(
    fc.property(steps, fc.nat(30), fc.constantFrom(...keys), (script, many, start) => {
      rmSync(directory, { recursive: true, force: true })
      const log = new LogFile({ directory, maxFileBytes: 0, reserveBytes: 0, lockTimeoutMs: 1000, acceptLoss: false })
      const state = new Map<string, { readonly revision: Revision; readonly text: string }>()
      const states: { readonly head: Revision; readonly entries: readonly string[] }[] = []
      const note = (): void => {
        const entries = keys.flatMap((key) => {
          const { revision, text } = state.get(key) ?? {}
          return revision === undefined ? [] : [`${key}=${text}@${revision}`]
        })
        states.push({ head: log.head, entries })
      }
      note()
      for (const [i, { key, removes }] of script.entries()) {
        const expected = state.get(key)?.revision ?? expectAbsent
        if (removes && expected === expectAbsent) continue
        const values = [removes ? undefined : Buffer.from(`v${i}`)]
        const [revision] = log.commit([{ ticket: i + 1, guards: 0, keys: [key], expects: [expected], values }], i)
        if (removes) state.delete(key)
        else state.set(key, { revision: revision as Revision, text: `v${i}` })
        note()
      }
      for (const { head, entries } of states) {
        using present = new FilePresent(log.path, () => endOfCommit(head))
        const shown = (found: readonly { key: string; value: Uint8Array; revision: Revision }[]): string[] =>
          found.map(({ key, value, revision }) => `${key}=${Buffer.from(value)}@${revision}`)
        expect(shown(present.collect(everything, Number.POSITIVE_INFINITY).entries)).toEqual(entries)
        const page = present.collect({ start, end: everything.end }, many)
        const inSpan = entries.filter((text) => keys.indexOf(text.slice(0, text.indexOf('='))) >= keys.indexOf(start))
        expect([shown(page.entries), page.more]).toEqual([inSpan.slice(0, many), inSpan.length > many])
        expect(shown(keys.flatMap((key) => present.get(key) ?? []))).toEqual(entries)
      }
      log.close()
    }),
    { numRuns: 25 },
  )
})
