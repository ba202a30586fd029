import { afterEach, expect, test, vi } from 'vitest'
import { listenForEnding, stoppable } from './ending.ts'

afterEach(() => void vi.restoreAllMocks())

function watchEnd(): { readonly told: string[]; readonly killed: unknown[] } {
  const told: string[] = []
  const killed: unknown[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => told.push(String(text)) > 0)
  vi.spyOn(process, 'kill').mockImplementation((_pid, signal) => {
    killed.push(signal)
    return true
  })
  return { told, killed }
}

const step = { doing: 'copying', done: 1, unit: 'entries' }

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s stops work at its next step, after it has put things in order',
  async (signal) => {
    const before = process.listenerCount(signal)
    const end = watchEnd()
    const steps: string[] = []
    await stoppable(
      () => steps.push('told'),
      async (report) => {
        try {
          report(step)
          process.emit(signal, signal)
          report(step)
          steps.push('went on')
        } finally {
          steps.push('in order')
        }
      },
      () => `after ${steps.length} steps`,
    )
    expect(steps).toEqual(['told', 'in order'])
    expect(end).toEqual({ told: [`borough: ${signal}: after 2 steps\n`], killed: [signal] })
    expect(process.listenerCount(signal)).toBe(before)
  },
)

test('work that ends by itself, or fails, is as it was', async () => {
  const end = watchEnd()
  const failing = stoppable(
    () => undefined,
    () => Promise.reject(new Error('no room')),
    () => 'never said',
  )
  await expect(failing).rejects.toThrow('no room')
  await stoppable(
    () => undefined,
    () => Promise.resolve(),
    () => 'never said',
  )
  expect(end).toEqual({ told: [], killed: [] })
})

test('a second SIGINT ends at once, the second SIGHUP of a closing terminal does not', () => {
  using ending = listenForEnding()
  const exits: unknown[] = []
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    exits.push(code)
    return undefined as never
  })
  process.emit('SIGHUP', 'SIGHUP')
  process.emit('SIGHUP', 'SIGHUP')
  expect({ aborted: ending.signal.aborted, exits }).toEqual({ aborted: true, exits: [] })
  process.emit('SIGINT', 'SIGINT')
  expect(exits).toEqual([130])
})
