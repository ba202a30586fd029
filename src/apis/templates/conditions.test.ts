/** What a condition may cost the thread that serves clients. */
import { describe, expect, test } from 'vitest'
import { Conditions } from './conditions.ts'
import { type Effort, JudgedConditions, type Judgement } from './judged-conditions.ts'
import { objectsOf, type TemplateObject } from './template-objects.ts'
import type { NamespaceTemplate } from './types.ts'

const judge = (when: string, text: string): unknown => {
  const conditions = new Conditions({ metadata: { name: 'a', annotations: { text } } })
  return conditions.judge({ metadata: { name: 't' } }, {} as TemplateObject, when)
}

test('to find all matches in a long annotation costs little and is much work, which ends', () => {
  const when = "namespaceObject.metadata.annotations['text'].findAll('a').size() > 0"
  expect(judge(when, 'a'.repeat(60_000))).toBe(
    `condition ${JSON.stringify(when)} can not be judged: operation interrupted: the time limit was exceeded`,
  )
  expect(judge(when, 'a'.repeat(250))).toBe(true)
})

/** Tells what is judged, as far as that is costly. */
class Told extends JudgedConditions {
  readonly judged: Judgement[] = []
  asked = 0

  override find(key: string, left: Effort): Judgement | undefined {
    this.asked++
    return super.find(key, left)
  }

  override keep(key: string, left: Effort, judged: Judgement): void {
    this.judged.push(judged)
    super.keep(key, left, judged)
  }
}

const items = (count: number): string => `[${Array.from({ length: count }, (_, i) => i)}]`
/** Some 30,000 units for ten items, true unless the label says no. */
const costly = (n: number, count = 10): string =>
  `${items(count)}.all(x, ${items(count)}.all(y, ${items(count)}.all(z, x + y + z >= 0))) && ` +
  `namespaceObject.metadata.labels['l'] != 'no${n}'`
const holding = (name: string, when: string, more: object = {}): NamespaceTemplate => {
  const template = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }
  return { metadata: { name }, spec: { objects: [{ when, template }], ...more } }
}
const namespace = { metadata: { name: 'n', labels: { l: 'yes' }, annotations: { size: 'large' } } }

const judgeAll = (conditions: Conditions, templates: readonly NamespaceTemplate[]): unknown[] =>
  templates.map((template) => {
    const [object] = objectsOf(template)
    return conditions.judge(template, object as TemplateObject, object?.when ?? '')
  })

describe('a costly condition', () => {
  test('is judged once for the same namespace as it is, and again for what differs in what it sees', () => {
    const memory = new Told()
    const params = { parameters: [{ name: 'size', fromAnnotation: 'size' }] }
    const templates = [holding('t', costly(1)), holding('u', `${costly(1)} && params.size != 'no'`, params)]
    const judgedIn = (metadata: object): number => {
      memory.judged.length = 0
      expect(judgeAll(new Conditions({ metadata }, memory), templates)).toEqual([true, true])
      return memory.judged.length
    }
    expect(judgedIn(namespace.metadata)).toBe(2)
    expect(judgedIn({ ...namespace.metadata, uid: 'u', resourceVersion: '7' })).toBe(0)
    expect(judgedIn({ ...namespace.metadata, name: 'm' })).toBe(2)
    expect(judgedIn({ ...namespace.metadata, labels: { l: 'maybe' } })).toBe(2)
    expect(judgedIn({ ...namespace.metadata, annotations: { size: 'small' } })).toBe(2)
    expect(judgedIn(namespace.metadata)).toBe(0)
  })

  test('may come to another verdict where it sees something else', () => {
    const memory = new Told()
    const template = holding('t', costly(1))
    const verdictWith = (l: string): unknown =>
      judgeAll(new Conditions({ metadata: { name: 'n', labels: { l } } }, memory), [template])[0]
    expect(['yes', 'no1', 'yes', 'no1'].map(verdictWith)).toEqual([true, false, true, false])
    expect(memory.judged).toHaveLength(2)
  })

  test('is judged and paid once where several templates hold it', () => {
    const memory = new Told()
    const templates = Array.from({ length: 60 }, (_, i) => holding(`t${i}`, costly(1)))
    expect(new Set(judgeAll(new Conditions(namespace, memory), templates))).toEqual(new Set([true]))
    expect(memory.judged).toHaveLength(1)
  })

  test('a cheap one is neither remembered nor looked up', () => {
    const memory = new Told()
    const template = holding('t', "namespaceObject.metadata.labels['l'] == 'yes'")
    for (let i = 0; i < 3; i++) expect(judgeAll(new Conditions(namespace, memory), [template])).toEqual([true])
    expect([memory.asked, memory.judged]).toEqual([0, []])
  })
})

describe('attack: sixty templates with costly conditions', () => {
  const templates = Array.from({ length: 60 }, (_, i) => holding(`t${i}`, costly(i, 12)))
  const sum = (memory: Told, of: keyof Effort): number => memory.judged.reduce((all, { spent }) => all + spent[of], 0)

  test('take no more of a namespace than one budget, and come to the same, remembered or not', () => {
    const memory = new Told()
    const verdicts = judgeAll(new Conditions(namespace, memory), templates)
    expect(sum(memory, 'cost')).toBeLessThan(500_100)
    expect(sum(memory, 'work')).toBeLessThan(600_100)
    const judged = verdicts.filter((verdict) => verdict === true).length
    expect(judged).toBeGreaterThan(3)
    expect(judged).toBeLessThan(60)
    for (const verdict of verdicts.slice(judged)) {
      expect(verdict).toMatch(/^condition ".*" can not be judged: operation cancelled: actual cost limit exceeded$/)
    }
    memory.judged.length = 0
    expect(judgeAll(new Conditions(namespace, memory), templates)).toEqual(verdicts)
    expect(memory.judged).toEqual([])
    // One by one they have more left: that is not what they come to together.
    for (const template of templates) expect(judgeAll(new Conditions(namespace, memory), [template])).toEqual([true])
    expect(judgeAll(new Conditions(namespace, memory), templates)).toEqual(verdicts)
    expect(judgeAll(new Conditions(namespace, new JudgedConditions(0)), templates)).toEqual(verdicts)
  })

  const pausesIn = (conditions: Conditions, of: readonly NamespaceTemplate[] = templates): number =>
    [...conditions.ahead(of)].length

  test('are judged ahead with a pause before each, and found by what is rendered then', () => {
    const memory = new Told()
    const few = Array.from({ length: 4 }, (_, i) => holding(`t${i}`, costly(i)))
    const conditions = new Conditions(namespace, memory)
    // That they are costly shows only when they are judged.
    expect(pausesIn(conditions, few)).toBe(4)
    expect(memory.judged).toHaveLength(4)
    expect(judgeAll(conditions, few)).toEqual([true, true, true, true])
    expect(memory.judged).toHaveLength(4)
    const other = { metadata: { ...namespace.metadata, name: 'other' } }
    const judgedAt: number[] = []
    for (const _ of new Conditions(other, memory).ahead(few)) judgedAt.push(memory.judged.length - 4)
    expect(judgedAt).toEqual([0, 1, 1, 2, 2, 3, 3, 4])
  })

  test('wait for nothing where all is remembered or cheap', () => {
    const memory = new Told()
    const plain = { metadata: { name: 'p' }, spec: { templates: [{ kind: 'ConfigMap' }] } }
    const cheap = holding('cheap', "namespaceObject.metadata.labels['l'] == 'yes'")
    pausesIn(new Conditions(namespace, memory))
    expect(pausesIn(new Conditions(namespace, memory))).toBe(0)
    expect(pausesIn(new Conditions(namespace, memory), [plain, cheap])).toBe(0)
  })

  test('of a template with a parameter at fault nothing is judged', () => {
    const memory = new Told()
    const parameters = [{ name: 'size', fromLabel: 'size', required: true }]
    expect(pausesIn(new Conditions(namespace, memory), [holding('t', costly(1), { parameters })])).toBe(0)
    expect(memory.judged).toEqual([])
  })
})
