import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffLines, mergeTexts } from './line-diff.ts'
import { readTemplate } from './template-text.ts'

const text = (...lines: string[]): string => lines.join('\n')
const few = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })

test('the hunks of a difference make the second text of the first', () => {
  fc.assert(
    fc.property(few, few, (a, b) => {
      const made: string[] = []
      let at = 0
      for (const { from, to, by } of diffLines(a, b)) {
        expect(from === at && at > 0).toBe(false)
        made.push(...a.slice(at, from), ...by)
        at = to
      }
      expect([...made, ...a.slice(at)]).toEqual(b)
    }),
  )
})

test('a line that was put in is one hunk', () => {
  expect(diffLines(['a', 'b', 'c'], ['a', 'x', 'b', 'c'])).toEqual([{ from: 1, to: 1, by: ['x'] }])
})

test('texts without end are one change between the first and the last that differ', () => {
  const long = (letter: string) => ['same', ...Array.from({ length: 3000 }, (_, i) => `${letter}${i}`), 'same']
  expect(diffLines(long('a'), long('b'))).toMatchObject([{ from: 1, to: 3001 }])
})

describe('a merge', () => {
  const base = text('kind: A', 'one: 1', 'two: 2', 'three: 3', 'four: 4')

  test('holds what both changed in different places', () => {
    const mine = base.replace('one: 1', 'one: mine')
    const theirs = base.replace('four: 4', 'four: theirs\nfive: 5')
    const both = text('kind: A', 'one: mine', 'two: 2', 'three: 3', 'four: theirs', 'five: 5')
    expect(mergeTexts(base, mine, theirs)).toEqual({ text: both, conflicts: 0 })
  })

  test('holds once what both changed alike', () => {
    const same = base.replace('two: 2', 'two: both')
    expect(mergeTexts(base, same, same)).toEqual({ text: same, conflicts: 0 })
  })

  test('marks what both changed, each in its own way, so that it is no template until one has chosen', () => {
    const merged = mergeTexts(base, base.replace('two: 2', 'two: mine'), base.replace('two: 2', 'two: theirs'))
    const marked = ['<<<<<<< yours', 'two: mine', '=======', 'two: theirs', '>>>>>>> theirs']
    expect(merged).toEqual({ text: text('kind: A', 'one: 1', ...marked, 'three: 3', 'four: 4'), conflicts: 1 })
    const yaml = (value: string) => text('metadata:', '  name: a', '  labels:', `    b: ${value}`, '')
    expect(() => readTemplate(mergeTexts(yaml('1'), yaml('2'), yaml('3')).text)).toThrow()
  })

  test('with a side that changed nothing is the other side, and loses no line of either', () => {
    fc.assert(
      fc.property(few, few, few, (a, b, c) => {
        const [old, mine, theirs] = [text(...a), text(...b), text(...c)]
        expect(mergeTexts(old, mine, old)).toEqual({ text: mine, conflicts: 0 })
        expect(mergeTexts(old, old, theirs)).toEqual({ text: theirs, conflicts: 0 })
        const added = [...b, ...c].filter((line) => !a.includes(line))
        const { text: merged } = mergeTexts(old, mine, theirs)
        for (const line of added) expect(merged.split('\n')).toContain(line)
      }),
    )
  })
})
