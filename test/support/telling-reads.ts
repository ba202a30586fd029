/** Which values a server takes from a store that it has opened. */
import type { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import type { OpenedState, Storage } from '../../src/storage/storage.ts'

/** `read`: told the key of each value that is fetched from the file. */
export function tellingReads(storage: SqliteStorage, read: (key: string) => void): Storage {
  const told = (state: OpenedState | undefined): OpenedState | undefined =>
    state && {
      ...state,
      valueAt(key, revision) {
        read(key)
        return state.valueAt(key, revision)
      },
      *valuesIn(span) {
        for (const entry of state.valuesIn(span)) {
          read(entry.key)
          yield entry
        }
      },
    }
  return new Proxy(storage, {
    get(target, name) {
      if (name === 'takeOpened') return () => told(target.takeOpened())
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
