/**
 * The same with the official client and nothing else: a watch, a work queue of one promise per namespace, a patch.
 *
 *   KUBECONFIG=… LOG_SERVICE=http://127.0.0.1:9200 node with-client-node.ts
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions, Watch } from '@kubernetes/client-node'
import { provisionIndex, Refused } from './provision.ts'

const name = 'log-index.example.com'
const service = process.env['LOG_SERVICE'] ?? 'http://127.0.0.1:9200'
const config = new KubeConfig()
config.loadFromDefault()
const core = config.makeApiClient(CoreV1Api)

/** As it comes over the wire: the client's own type does not know the field `initializers`. */
interface Namespace {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string }
  readonly spec?: {
    readonly initializers?: { readonly pending?: { readonly name: string }[]; readonly result?: object }
  }
}

const pendingOf = ({ spec }: Namespace): { readonly name: string }[] => spec?.initializers?.pending ?? []
const isOurTurn = (n: Namespace): boolean =>
  pendingOf(n)[0]?.name === name && !n.spec?.initializers?.result && !n.metadata.deletionTimestamp

/** Newest state of each namespace that waits for us, and who is being worked on. */
const waiting = new Map<string, Namespace>()
const busy = new Set<string>()

function seen(type: string, namespace: Namespace): void {
  if (type === 'DELETED' || !isOurTurn(namespace)) waiting.delete(namespace.metadata.name)
  else {
    waiting.set(namespace.metadata.name, namespace)
    void work(namespace.metadata.name)
  }
}

async function work(namespace: string): Promise<void> {
  if (busy.has(namespace)) return
  busy.add(namespace)
  for (let delayMs = 100; waiting.has(namespace); delayMs = Math.min(delayMs * 2, 60_000)) {
    try {
      const outcome = await provision(namespace)
      const now = waiting.get(namespace)
      if (now === undefined) break
      const initializers = outcome ?? { pending: pendingOf(now).slice(1) }
      // The uid goes along: a namespace made anew under the same name is another one.
      const body = { metadata: { uid: now.metadata.uid }, spec: { initializers } }
      await core.patchNamespace({ name: namespace, body }, setHeaderOptions('Content-Type', PatchStrategy.MergePatch))
      waiting.delete(namespace)
    } catch (error) {
      console.error(`${namespace}: ${String(error)}; trying again in ${delayMs} ms`)
      await sleep(delayMs)
    }
  }
  busy.delete(namespace)
}

/** Undefined, or the failure that ends the namespace. */
async function provision(namespace: string): Promise<object | undefined> {
  try {
    await provisionIndex(service, namespace, AbortSignal.timeout(60_000), () => {})
    return undefined
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { result: { status: 'Failure', reason: 'Forbidden', code: 403, message: error.message } }
  }
}

// Without a resourceVersion a watch begins with everything there is, so each new one takes up what was missed.
for (;;) {
  waiting.clear()
  await new Promise<void>((resolve, reject) => {
    const selection = { fieldSelector: 'status.phase=Initializing' }
    new Watch(config).watch('/api/v1/namespaces', selection, seen, () => resolve()).catch(reject)
  }).catch((error: unknown) => console.error(String(error)))
  await sleep(1000)
}
