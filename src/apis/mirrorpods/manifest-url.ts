/**
 * Manifests behind a URL, asked for every few seconds. While it can't be had, or makes no sense, what it said before
 * stands: to remove its pods, it answers an empty PodList.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import { ManifestError, maxManifestBytes, podsIn } from './manifest.ts'
import { tooLarge } from './manifest-folder.ts'
import { type ManifestSource, type Manifests, problemOf } from './manifest-source.ts'

const patienceMs = 10_000

export interface ManifestUrlOptions {
  readonly url: string
  readonly clock: Clock
  readonly pollMs?: number
}

export class ManifestUrl implements ManifestSource {
  readonly kind = 'http'
  readonly #url: string
  readonly #clock: Clock
  readonly #pollMs: number

  constructor({ url, clock, pollMs = 5000 }: ManifestUrlOptions) {
    this.#url = url
    this.#clock = clock
    this.#pollMs = pollMs
  }

  async run(found: (manifests: Manifests) => void, signal: AbortSignal): Promise<void> {
    let told: string | undefined
    let pods: Manifests['pods'] | undefined
    while (!signal.aborted) {
      const faults: { from: string; problem: string }[] = []
      try {
        pods = podsIn(await this.#fetch(signal)).map((pod) => ({ pod, from: this.#url }))
      } catch (error) {
        if (signal.aborted) return
        faults.push({ from: this.#url, problem: reasonOf(error) })
      }
      const state = JSON.stringify({ pods, faults })
      // Before it was read once, what it holds is unknown: no reason to remove any pod.
      if (state !== told) found({ pods: pods ?? [], faults, ...(pods === undefined ? { unread: true } : {}) })
      told = state
      await sleep(this.#clock, this.#pollMs, signal)
    }
  }

  async #fetch(signal: AbortSignal): Promise<Uint8Array> {
    const response = await fetch(this.#url, { signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]) })
    if (!response.ok) {
      await response.body?.cancel()
      throw new ManifestError(`it answers ${response.status} ${response.statusText}`.trim())
    }
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      length += chunk.byteLength
      // Leaving the loop ends the answer.
      if (length > maxManifestBytes) throw tooLarge()
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  }
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return `it did not answer within ${patienceMs / 1000} s`
  const cause = error instanceof TypeError ? error.cause : undefined
  return cause instanceof Error ? cause.message || problemOf(error) : problemOf(error)
}
