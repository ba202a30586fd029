/**
 * Signals that ask a process to end. The first is answered in good order; one more SIGINT or SIGTERM ends it at once. A
 * terminal that closes sends SIGHUP, and its shell once more: that is no impatience.
 */
import type { ReportProgress } from '../base/progress.ts'
import { secondMs } from './duration.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
export type EndingSignal = (typeof signals)[number]

/** As shells count a process that SIGINT ended. */
const impatientCode = 130
/** What does not come to its next step by then, such as a store that does not answer, is not waited for. */
const patienceMs = 5 * secondMs
const afterKilled = 'give the command again, and it says what is in its way'

export interface Ending extends Disposable {
  /** Aborted by the first. */
  readonly signal: AbortSignal
  /** Which that was. */
  readonly asked: Promise<EndingSignal>
}

/** From here on signals end nothing by themselves. */
export function listenForEnding(): Ending {
  const controller = new AbortController()
  const { promise, resolve } = Promise.withResolvers<EndingSignal>()
  const take = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted && name !== 'SIGHUP') process.exit(impatientCode)
    controller.abort()
    resolve(name as EndingSignal)
  }
  for (const name of signals) process.on(name, take)
  return {
    signal: controller.signal,
    asked: promise,
    [Symbol.dispose]: () => {
      for (const name of signals) process.off(name, take)
    },
  }
}

class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/**
 * Work that a signal stops where it tells of its progress next, so that it puts in order what it had begun. Then
 * `afterwards` is said, and the process ends as the signal ends it.
 */
export async function stoppable(
  report: ReportProgress,
  work: (report: ReportProgress) => Promise<void>,
  afterwards: () => string,
): Promise<void> {
  using ending = listenForEnding()
  const { signal, asked } = ending
  let impatience: NodeJS.Timeout | undefined
  signal.addEventListener('abort', () => {
    impatience = setTimeout(() => {
      process.stderr.write(`borough: it is ended in the middle of a step that takes longer: ${afterKilled}\n`)
      process.exit(impatientCode)
    }, patienceMs)
  })
  try {
    await work((progress) => {
      if (signal.aborted) throw new Interrupted('a signal came')
      report(progress)
    })
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    endBy(await asked, afterwards(), ending)
  } finally {
    clearTimeout(impatience)
  }
}

/** As a process ends that did not listen: a script that runs it hears which signal it was. */
export function endBy(name: EndingSignal, said: string, listening: Disposable): void {
  process.stderr.write(`borough: ${name}: ${said}\n`)
  listening[Symbol.dispose]()
  process.kill(process.pid, name)
}
