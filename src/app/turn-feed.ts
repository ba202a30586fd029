/** The watch cache as the observer of initializers sees it. */
import { TurnObserver, type TurnObserverOptions } from '../apis/initializers/turn-observer.ts'
import type { Namespace } from '../apis/namespaces/types.ts'
import type { StoredObject } from '../registry/registry.ts'
import type { Core } from './wire.ts'

const mark = Buffer.from('"initializers":')

/** By bytes first: a start with many namespaces does not parse them all. */
const mayWait = (stored: StoredObject | undefined): boolean =>
  stored !== undefined && Buffer.from(stored.bytes.buffer, stored.bytes.byteOffset, stored.bytes.length).includes(mark)

export function observeTurns({ lister, namespaces, config }: Core, onEnd: TurnObserverOptions['onEnd']): TurnObserver {
  const observer = new TurnObserver({ clock: config.clock, onEnd })
  if (!config.featureGates.NamespaceInitializers) return observer
  lister.subscribe(namespaces.type, (next, old) => {
    const name = next?.name ?? old?.name ?? ''
    if (observer.isWaiting(name) || mayWait(next)) observer.changed(name, next?.object as Namespace | undefined)
  })
  return observer
}
