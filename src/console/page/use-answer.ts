/** What one request was answered, for as long as a component is shown; asked again when what it depends on changes. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export interface Answer<T> {
  /** The last one, while the next is under way. */
  readonly value?: T
  readonly error?: unknown
  readonly isPending: boolean
}

export function useAnswer<T>(request: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Answer<T> {
  const answer = useSignal<Answer<T>>({ isPending: true })
  useEffect(() => {
    const left = new AbortController()
    const { error: _, ...kept } = answer.peek()
    answer.value = { ...kept, isPending: true }
    request(left.signal).then(
      (value) => {
        if (!left.signal.aborted) answer.value = { value, isPending: false }
      },
      (error: unknown) => {
        if (!left.signal.aborted) answer.value = { error, isPending: false }
      },
    )
    return () => left.abort()
  }, inputs)
  return answer.value
}
