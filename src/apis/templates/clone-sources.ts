/** The sources of clones as the population controller sees them: one watch for each that a template names. */
import { aborted } from '../../base/aborted.ts'
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import { Informer } from '../../client/informer.ts'
import { printFieldSelector } from '../../kube/field-selector.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import { cloneResource } from './clones.ts'
import { isRefusal } from './populated-index.ts'
import { objectsOf } from './template-objects.ts'
import type { CloneSource, NamespaceTemplate } from './types.ts'

export interface CloneSourcesDeps {
  readonly client: Client
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** The source is another, has come or gone. */
  readonly onChange: (template: string) => void
}

interface Watched {
  readonly informer: Informer
  readonly stop: AbortController
  /** Settles when it has been listed once, or the server refused to. */
  readonly answered: Promise<void>
  refusal: string | undefined
  /** Names of the templates that clone it. */
  templates: ReadonlySet<string>
}

/** Templates by the sources that they clone. */
type Wanted = ReadonlyMap<string, { readonly from: CloneSource; readonly templates: Set<string> }>

export const sourceKey = ({ namespace, kind, name }: CloneSource): string => `${kind}/${namespace}/${name}`

export function clonesIn(templates: Iterable<NamespaceTemplate>): Wanted {
  const wanted = new Map<string, { from: CloneSource; templates: Set<string> }>()
  for (const template of templates) {
    for (const { cloneFrom: from } of objectsOf(template)) {
      if (from === undefined) continue
      const one = wanted.get(sourceKey(from)) ?? { from, templates: new Set() }
      one.templates.add(nameOf(template.metadata))
      wanted.set(sourceKey(from), one)
    }
  }
  return wanted
}

export class CloneSources {
  readonly #deps: CloneSourcesDeps
  readonly #watched = new Map<string, Watched>()

  constructor(deps: CloneSourcesDeps) {
    this.#deps = deps
  }

  /** Resolves when it is known of all sources of these templates what they are, or that they can't be read. */
  async know(templates: Iterable<NamespaceTemplate>, signal: AbortSignal): Promise<void> {
    const wanted = clonesIn(templates)
    for (const [key, { stop }] of this.#watched) {
      if (wanted.has(key)) continue
      stop.abort()
      this.#watched.delete(key)
    }
    const watched = [...wanted].map(([key, { from, templates: names }]) => {
      const one = this.#watched.get(key) ?? this.#follow(from, signal)
      one.templates = names
      this.#watched.set(key, one)
      return one.answered
    })
    if (watched.length > 0) await Promise.race([Promise.all(watched), aborted(signal)])
  }

  find(from: CloneSource): KubeObject | string | undefined {
    const watched = this.#watched.get(sourceKey(from))
    if (watched?.informer.synced !== true) return watched?.refusal ?? 'it is not known yet'
    return watched.informer.find(from.namespace, from.name)
  }

  #follow(from: CloneSource, signal: AbortSignal): Watched {
    const { client, clock, onError, onChange } = this.#deps
    let refused: () => void = () => {}
    const refusal = new Promise<void>((resolve) => {
      refused = resolve
    })
    const stop = new AbortController()
    const informer: Informer = new Informer({
      client,
      clock,
      resource: cloneResource(from),
      namespace: from.namespace,
      fieldSelector: printFieldSelector([{ field: 'metadata.name', operator: '=', value: from.name }]),
      onChange: () => {
        for (const template of watched.templates) onChange(template)
      },
      onError: (error) => {
        if (isRefusal(error)) {
          watched.refusal = (error as Error).message
          refused()
        }
        onError(error)
      },
    })
    const answered = Promise.race([informer.whenSynced(), refusal])
    const watched: Watched = { informer, stop, answered, refusal: undefined, templates: new Set() }
    void informer.run(AbortSignal.any([signal, stop.signal]))
    return watched
  }
}
