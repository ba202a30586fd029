/**
 * What the population controller keeps of each Namespace: all but `managedFields`, with equal parts kept once. Most
 * namespaces have the same spec, status and annotations as many others; each with parts of its own takes six times the
 * memory.
 */
import { BoundedCache } from '../../base/bounded-cache.ts'
import type { KubeObject } from '../../kube/types.ts'

/** Different parts that are remembered; beyond it a part may be kept twice, which costs memory and nothing else. */
const mostParts = 2000
/** Larger ones are hardly ever equal, and comparing them costs more. */
const longestPart = 2000
/** A map of more is like no other, would push out what others share, and takes tens of milliseconds. */
const mostFields = 100

export class NamespaceKeeper {
  readonly #parts = new BoundedCache<string, unknown>(mostParts)

  /** Shared parts are frozen: a writer who changed one would change other namespaces. */
  keep(namespace: KubeObject): KubeObject {
    const { metadata, ...rest } = namespace
    const { managedFields: _, name, labels, ...others } = metadata
    return {
      ...this.#sharedValues(rest),
      metadata: {
        ...this.#sharedValues(others),
        ...(name === undefined ? {} : { name }),
        // One of them repeats the name.
        ...(labels === undefined ? {} : { labels: this.#sharedValues(labels, name) }),
      },
    } as KubeObject
  }

  /** `own`: a value that is at hand already. */
  #sharedValues<T extends object>(fields: T, own?: string): T {
    const entries = Object.entries(fields)
    if (entries.length > mostFields) return fields
    const shared = entries.map(([key, value]) => [key, value === own ? own : this.#shared(key, value)])
    return Object.fromEntries(shared) as T
  }

  #shared(key: string, value: unknown): unknown {
    // These are different in each namespace.
    if (key === 'uid' || key === 'resourceVersion') return value
    const text = JSON.stringify(value)
    if (text === undefined || text.length > longestPart) return value
    const known = this.#parts.get(text)
    if (known !== undefined) return known
    this.#parts.set(text, frozen(value))
    return value
  }
}

function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
