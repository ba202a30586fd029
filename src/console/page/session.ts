/** How the page proves to the console whose it is: see `../gate.ts`. */
import { type ReadonlySignal, signal } from '@preact/signals'

/** Of this origin, and so of this port. Tabs share it. */
const keyName = 'borough-console-key'
const keyHeader = 'x-borough-console'

/** What the console says of the cluster that it leads to. */
export interface ClusterPlace {
  /** `https://127.0.0.1:6443` */
  readonly server: string
  readonly namespace?: string
  /** Those that the kubeconfig names. */
  readonly namespaces: readonly string[]
}

export interface Session {
  readonly place: ClusterPlace
  /** Why the console does not know this browser any more: it was started anew on the same port. */
  readonly lost: ReadonlySignal<Error | undefined>
  /** As the platform's, with the key. */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>
  /** The connection of `../live.ts`. */
  readonly connect: () => WebSocket
}

const secretIn = ({ hash }: Location): string | undefined => /^#([\w-]{43})$/.exec(hash)?.[1]
export const hasSecret = (location: Location): boolean => secretIn(location) !== undefined

/** @throws Error with what to do, where the console does not know this browser */
export async function openSession(location: Location, history: History, storage: Storage): Promise<Session> {
  const secret = secretIn(location)
  let refused: Error | undefined
  if (secret !== undefined) {
    // Before anything else: it shall not stand in the history, nor be shared with the address.
    history.replaceState(null, '', location.pathname + location.search)
    const answer = await fetch('/session', { method: 'POST', body: JSON.stringify({ secret }) })
    if (answer.ok) storage.setItem(keyName, ((await answer.json()) as { key: string }).key)
    else refused = await refusalOf(answer)
  }
  const key = storage.getItem(keyName) ?? ''
  const lost = signal<Error | undefined>(undefined)
  const withKey: Session['fetch'] = async (path, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set(keyHeader, key)
    const answer = await fetch(path, { ...init, headers })
    if (answer.headers.get('www-authenticate') === 'Borough-Console') lost.value = await refusalOf(answer.clone())
    return answer
  }
  const answer = await withKey('/session')
  if (!answer.ok) throw refused ?? (await refusalOf(answer))
  // Headers can't be set of one: the key goes among the protocols that it offers.
  const connect = (): WebSocket =>
    new WebSocket(`${location.origin.replace(/^http/, 'ws')}/live`, ['borough-console', `key.${key}`])
  return { place: (await answer.json()) as ClusterPlace, lost, fetch: withKey, connect }
}

const refusalOf = async (answer: Response): Promise<Error> =>
  new Error(((await answer.json()) as { message?: string }).message ?? `the console answered ${answer.status}`)
