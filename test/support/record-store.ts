/** Records as the store of this process keeps them, with commits that hold their guards: a few lines of memory. */
import { objectKey } from '../../src/kube/object-key.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import type { StoreView } from '../../src/registry/registry.ts'
import { ObjectVersion } from '../../src/watch/stored-object.ts'

interface Write {
  readonly key: string
  readonly expect: unknown
  readonly value: Uint8Array | undefined
}

type Find = (storageName: string, namespace: string, name: string) => ObjectVersion | undefined
type Listener = Parameters<StoreView['follow']>[0]

interface Stored {
  readonly find: Find
  readonly glance: Find
  glances: (storageName: string, size: number, folder: string) => Iterable<ObjectVersion[]>
  readonly follow: (listener: Listener) => () => void
  readonly refresh: () => Promise<void>
  readonly applied: (revision: number) => Promise<void>
}

interface Batch {
  readonly guards: readonly Omit<Write, 'value'>[]
  readonly writes: readonly Write[]
}

interface Committed {
  readonly ok: boolean
  readonly revision?: number
}

export class RecordStore {
  readonly versions: Map<string, ObjectVersion> = new Map()
  /** `refreshed`, `applied 7`: what readers waited for. */
  readonly waits: string[] = []
  /** Called before the next commit is decided: another process writes. */
  meanwhile: (() => void) | undefined
  commits = 0
  readonly #listeners = new Set<Listener>()
  #revision = 10

  readonly #find: Find = (storageName, namespace, name) => this.versions.get(objectKey(storageName, namespace, name))

  readonly stored: Stored = {
    find: this.#find,
    glance: this.#find,
    glances: (storageName, size, folder) => this.#glances(storageName, size, folder),
    follow: (listener) => {
      this.#listeners.add(listener)
      return () => void this.#listeners.delete(listener)
    },
    refresh: async () => void this.waits.push('refreshed'),
    applied: async (revision) => void this.waits.push(`applied ${revision}`),
  }

  readonly records: { readonly commit: (batch: Batch) => { readonly done: Promise<Committed> } } = {
    commit: (batch) => ({ done: this.#commit(batch) }),
  }

  /** A change by any process; undefined = it is removed. Answers its revision. */
  put(storageName: string, namespace: string, name: string, object: KubeObject | undefined): number {
    return this.#write(objectKey(storageName, namespace, name), object && Buffer.from(JSON.stringify(object)))
  }

  read(storageName: string, namespace: string, name: string): unknown {
    const version = this.#find(storageName, namespace, name)
    return version && JSON.parse(Buffer.from(version.bytes).toString())
  }

  *#glances(storageName: string, size: number, folder: string): Iterable<ObjectVersion[]> {
    const under = objectKey(storageName, folder, '')
    const keys = [...this.versions.keys()].filter((key) => key.startsWith(under)).sort()
    for (let at = 0; at < keys.length; at += size) {
      yield keys.slice(at, at + size).flatMap((key) => this.versions.get(key) ?? [])
    }
  }

  async #commit({ guards, writes }: Batch): Promise<Committed> {
    this.commits++
    this.meanwhile?.()
    this.meanwhile = undefined
    const isAsExpected = ({ key, expect }: Omit<Write, 'value'>): boolean =>
      expect === (this.versions.get(key)?.revision ?? 'absent')
    if (![...guards, ...writes].every(isAsExpected)) return { ok: false }
    for (const { key, value } of writes) this.#write(key, value)
    return { ok: true, revision: this.#revision }
  }

  #write(key: string, value: Uint8Array | undefined): number {
    const [, , storageName = '', ...rest] = key.split('/')
    const old = this.versions.get(key)
    const next = value && ObjectVersion.of(rest.join('/'), ++this.#revision, value)
    if (next === undefined) this.versions.delete(key)
    else this.versions.set(key, next)
    for (const tell of this.#listeners) tell(storageName, next, old)
    return this.#revision
  }
}
