import { beforeEach, describe, expect, test } from 'vitest'
import { Gathered } from './gather.ts'

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('what is gathered', () => {
  let begun: string[]
  let gathered: Gathered
  const add = (name: string): void => gathered.add(() => begun.push(name))
  beforeEach(() => {
    begun = []
    gathered = new Gathered()
  })

  test('in one turn begins when it is over, in order', async () => {
    add('first')
    add('second')
    await Promise.resolve()
    expect(begun).toEqual([])
    await nextTurn()
    expect(begun).toEqual(['first', 'second'])
  })

  test('while others begin waits for the next turn', async () => {
    gathered.add(() => add('late'))
    await nextTurn()
    expect(begun).toEqual([])
    await nextTurn()
    expect(begun).toEqual(['late'])
  })

  test('begins at once where somebody asks for it, and only once', async () => {
    add('first')
    gathered.beginAll()
    add('second')
    expect(begun).toEqual(['first'])
    await nextTurn()
    expect(begun).toEqual(['first', 'second'])
  })
})
