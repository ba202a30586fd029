/** The cluster as the views see it: a client, lists that stay true, who is asking, and whether it is reached. */
import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import { RestClient } from '../../client/rest-client.ts'
import type { OnWarning } from '../../client/warnings.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import { type Feed, type FeedOptions, startFeed } from './feed.ts'
import { KeptLists } from './kept-lists.ts'
import { LiveClient } from './live-client.ts'
import { Creations } from './namespaces/creations.ts'
import { type PageTransport, pageTransport } from './page-transport.ts'
import type { ClusterPlace, Session } from './session.ts'

export const pageClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms)
    return { cancel: () => clearTimeout(handle) }
  },
}

/** What the server said besides its answer. */
export interface Reply {
  readonly object: KubeObject
  readonly warnings: readonly string[]
}

export class Cluster {
  readonly place: ClusterPlace
  readonly client: Client
  readonly clock: Clock
  readonly storage: Storage
  readonly trouble: ReadonlySignal<string | undefined>
  /** Why a list that is shown could not be had, though the cluster is reached. */
  readonly failing: ReadonlySignal<string | undefined>
  readonly lost: Session['lost']
  readonly creations: Creations
  readonly #transport: PageTransport
  readonly #kept = new KeptLists()
  readonly #failures = signal<ReadonlyMap<object, string>>(new Map())
  #me: Promise<UserInfo> | undefined

  constructor(session: Session, { localStorage: storage, document }: Window, clock: Clock = pageClock) {
    this.place = session.place
    this.lost = session.lost
    this.storage = storage
    this.clock = clock
    this.#transport = pageTransport(session, new LiveClient(session, document))
    this.trouble = this.#transport.trouble
    this.failing = computed(() => this.#failures.value.values().next().value)
    this.client = clientOf(this.#transport)
    this.creations = new Creations(this.client, clock)
  }

  /** Empty names where the server can't say: it is older than 1.28. */
  me(): Promise<UserInfo> {
    this.#me ??= this.#whoAmI().catch((error: unknown) => {
      this.#me = undefined
      throw error
    })
    return this.#me
  }

  feed<T extends KubeObject>(options: FeedOptions): Feed<T> {
    const findKept = () => this.#kept.find(options) as readonly T[] | undefined
    const feed = startFeed<T>(this.client, this.clock, options, findKept)
    feed.state.subscribe(({ ready, objects, refused, failing }) => {
      if (ready && refused === undefined) this.#kept.keep(options, objects)
      this.#note(feed, failing)
    })
    const stop = (): void => {
      feed.stop()
      this.#note(feed, undefined)
    }
    return { state: feed.state, stop }
  }

  #note(feed: object, failing: Error | undefined): void {
    const before = this.#failures.peek()
    if (before.get(feed) === failing?.message) return
    const next = new Map(before)
    if (failing === undefined) next.delete(feed)
    else next.set(feed, failing.message)
    this.#failures.value = next
  }

  /** Does `send` with a client whose warnings are kept. */
  async heeding(send: (client: Client) => Promise<KubeObject>): Promise<Reply> {
    const warnings: string[] = []
    const heard = clientOf(this.#transport, (text) => void warnings.push(text))
    return { object: await send(heard), warnings }
  }

  async #whoAmI(): Promise<UserInfo> {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const body = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' }
    const { status } = (await this.client.request('POST', path, body)) as { status?: { userInfo?: Partial<UserInfo> } }
    const { username = '', groups = [] } = status?.userInfo ?? {}
    return { username, groups }
  }
}

const clientOf = (transport: Pick<PageTransport, 'send'>, onWarning?: OnWarning): Client =>
  new RestClient({ transport, userAgent: 'borough-console', onWarning })
