/** What one request was answered, for as long as a component is shown; asked again when what it depends on changes. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Backoff } from '../../base/backoff.ts'
import { isUnreached } from './unreached.ts'
import { useCluster } from './use-cluster.ts'

export interface Answer<T> {
  /** The last one, while the next is under way. */
  readonly value?: T
  readonly error?: unknown
  readonly isPending: boolean
}

const retryBaseMs = 500
const retryMaxMs = 5_000

/** Asks again by itself where the cluster was not reached; `error` says so meanwhile. */
export function useAnswer<T>(request: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Answer<T> {
  const { clock } = useCluster()
  const answer = useSignal<Answer<T>>({ isPending: true })
  useEffect(() => {
    const left = new AbortController()
    const backoff = new Backoff<'answer'>(retryBaseMs, retryMaxMs)
    const { error: _, ...kept } = answer.peek()
    answer.value = { ...kept, isPending: true }
    const ask = (): void => {
      if (left.signal.aborted) return
      request(left.signal).then(
        (value) => {
          if (!left.signal.aborted) answer.value = { value, isPending: false }
        },
        (error: unknown) => {
          if (left.signal.aborted) return
          if (!isUnreached(error)) answer.value = { error, isPending: false }
          else {
            answer.value = { ...kept, error, isPending: true }
            clock.after(backoff.next('answer'), ask)
          }
        },
      )
    }
    ask()
    return () => left.abort()
  }, inputs)
  return answer.value
}
