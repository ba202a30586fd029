/**
 * Bytes of a server's store, changed at random, and a server that is started on what is left: it serves everything as
 * it was acknowledged, or names what is damaged, or does not start and says why. Which bytes depends on the seed alone.
 *
 * As a command: `node test/crash/damaged-server.ts <folder> [seeds] [first] [kind]`, by default 1000 from 1 of plain
 * values; `encrypted` is of a store whose values are encrypted, all of them. The folder keeps the count: a command that
 * was interrupted goes on where it was.
 */
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import type { EncryptionChoice } from '../../src/encryption/encryption.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { isStorageError } from '../../src/storage/storage.ts'
import { aesgcm, identity, writeConfiguration } from '../encryption/configurations.ts'
import { countSeeds } from './counted.ts'
import { changeBytes, type Outcome, randomFrom } from './random-damage.ts'

/** A collection, and what its objects were when they were acknowledged last, by name. */
type Collections = ReadonlyMap<string, ReadonlyMap<string, KubeObject>>

export interface ServerSpecimen {
  readonly dataDir: string
  readonly encryption: EncryptionChoice | undefined
  readonly objects: Collections
}

interface Answer {
  readonly status: number
  readonly body: KubeObject & { readonly items?: readonly KubeObject[]; readonly message?: string }
  readonly text: string
}

type Send = (method: string, path: string, body?: object) => Promise<Answer>

const admin = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const namespaces = '/api/v1/namespaces'
const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

const start = (dataDir: string, encryption: EncryptionChoice | undefined): Promise<ControlPlane> =>
  createControlPlane({
    ...defaultConfig,
    dataDir,
    storage: { engine: 'sqlite' },
    ...(encryption === undefined ? {} : { encryption }),
  })

/** Of all values; its file lies in `folder`. */
export async function encryptionIn(folder: string): Promise<EncryptionChoice> {
  const path = await writeConfiguration(folder, { resources: ['*.*'], providers: [aesgcm(1), identity] })
  return { path, automaticReload: false }
}

const sender = ({ serve }: ControlPlane): Send => {
  const answerOf = fetchAdapter(serve, admin)
  return async (method, path, body) => {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const answer = await answerOf(new Request(new URL(path, 'https://borough.test'), { method, ...init }))
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') === true
    return { status: answer.status, text, body: (isJson ? JSON.parse(text) : {}) as Answer['body'] }
  }
}

/** One history in three states: of a server that was killed, that was stopped, and that was killed again later. */
export async function makeServerSpecimens(
  root: string,
  encryption?: EncryptionChoice,
): Promise<readonly ServerSpecimen[]> {
  const live = join(root, 'live')
  const specimens: ServerSpecimen[] = []
  const keep = async (name: string, objects: Collections): Promise<void> => {
    const dataDir = join(root, name)
    await cp(live, dataDir, { recursive: true })
    // The copy is of no process that runs.
    for (const file of ['lock', 'endpoint.json']) await rm(join(dataDir, file), { force: true })
    specimens.push({ dataDir, encryption, objects })
  }
  const random = randomFrom(1)
  const liveAndCopy = async (name: string): Promise<Collections> => {
    await using plane = await start(live, encryption)
    const send = sender(plane)
    await work(send, random)
    const objects = await look(send)
    await keep(name, objects)
    return objects
  }
  await keep('stopped', await liveAndCopy('killed'))
  await liveAndCopy('killed-later')
  return specimens
}

async function work(send: Send, random: (below: number) => number): Promise<void> {
  const write = async (path: string, body: object): Promise<void> => {
    const { status, text } = await send('POST', path, body)
    if (status !== 201 && status !== 409) throw new Error(`${path}: ${text}`)
  }
  await write('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets)
  for (const name of ['team-a', 'team-b', 'team-c']) {
    await write(namespaces, { metadata: { name } })
    await write(`${namespaces}/${name}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard: { pods: '9' } } })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }
    await write(`${rbac}/namespaces/${name}/rolebindings`, { metadata: { name: 'v' }, roleRef, subjects: [] })
    for (let i = 0; i < 40; i++) {
      const path = `${namespaces}/${name}/${random(3) === 0 ? 'secrets' : 'configmaps'}`
      const object = { metadata: { name: `o${random(60)}` }, data: { a: 'YWFh'.repeat(random(700)) } }
      if (random(4) === 0) await send('DELETE', `${path}/${object.metadata.name}`)
      else if ((await send('POST', path, object)).status === 409) {
        await send('PUT', `${path}/${object.metadata.name}`, object)
      }
    }
  }
}

const paths: readonly string[] = [
  namespaces,
  '/api/v1/configmaps',
  '/api/v1/secrets',
  '/api/v1/serviceaccounts',
  '/api/v1/resourcequotas',
  `${rbac}/clusterroles`,
  `${rbac}/clusterrolebindings`,
  `${rbac}/rolebindings`,
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
]

const nameOf = ({ metadata: { namespace = '', name = '' } }: KubeObject): string => `${namespace}/${name}`

async function look(send: Send): Promise<Collections> {
  const found = new Map<string, ReadonlyMap<string, KubeObject>>()
  for (const path of paths) {
    const { status, body, text } = await send('GET', path)
    if (status !== 200) throw new Error(`${path}: ${text}`)
    found.set(path, new Map((body.items ?? []).map((item) => [nameOf(item), item])))
  }
  return found
}

/** Damages a copy of one of the specimens, and looks. @throws Error for damage that passes unnoticed */
export async function tryServer(specimens: readonly ServerSpecimen[], scratch: string, seed: number): Promise<Outcome> {
  const random = randomFrom(seed)
  const specimen = specimens[random(specimens.length)] as ServerSpecimen
  const dataDir = join(scratch, `seed-${seed}`)
  await rm(dataDir, { recursive: true, force: true })
  await cp(specimen.dataDir, dataDir, { recursive: true })
  const changed = await changeBytes(join(dataDir, 'store'), random)
  try {
    return await judge({ ...specimen, dataDir })
  } catch (cause) {
    throw new Error(`seed ${seed} (${changed}): ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function judge({ dataDir, encryption, objects }: ServerSpecimen): Promise<Outcome> {
  let plane: ControlPlane
  try {
    plane = await start(dataDir, encryption)
  } catch (error) {
    if (!isStorageError(error)) throw error
    return 'refused'
  }
  await using serving = plane
  const send = sender(serving)
  let outcome: Outcome = 'sound'
  for (const [path, expected] of objects) {
    const named = await judgeList(path, await send('GET', path), expected)
    if (!named) continue
    outcome = 'named'
    for (const object of expected.values()) await judgeOne(send, path, object)
  }
  const readyz = await send('GET', '/readyz?verbose')
  if (readyz.status !== 200) throw new Error(`/readyz: ${readyz.text}`)
  if (outcome === 'named' && !readyz.text.includes(' is damaged: ')) throw new Error(`not named: ${readyz.text}`)
  return outcome
}

/** True: it names damage. Objects that the start itself changes or makes anew are left out. */
async function judgeList(path: string, answer: Answer, expected: ReadonlyMap<string, KubeObject>): Promise<boolean> {
  if (answer.status === 500 && isNamed(answer)) return true
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 300)}`)
  const items = new Map((answer.body.items ?? []).map((item) => [nameOf(item), item]))
  for (const [name, object] of expected) requireSame(`${path} ${name}`, items.get(name), object)
  for (const name of items.keys()) if (!expected.has(name)) throw new Error(`${path} ${name} was never written`)
  return false
}

async function judgeOne(send: Send, path: string, object: KubeObject): Promise<void> {
  const { namespace, name } = object.metadata
  const place = namespace === undefined ? path : path.replace(/\/([a-z]+)$/, `/namespaces/${namespace}/$1`)
  const answer = await send('GET', `${place}/${name}`)
  if (answer.status === 500 && isNamed(answer)) return
  if (answer.status !== 200) throw new Error(`${place}/${name}: ${answer.status} ${answer.text.slice(0, 300)}`)
  const { kind: _kind, apiVersion: _apiVersion, ...found } = answer.body
  requireSame(`${place}/${name}`, found as KubeObject, object)
}

const isNamed = ({ body, text }: Answer): boolean =>
  text.includes('StoreReadError') && /the stored value of \S+ at revision \d+ is damaged: /.test(body.message ?? '')

function requireSame(name: string, found: KubeObject | undefined, expected: KubeObject): void {
  if (found === undefined) throw new Error(`${name} is missing`)
  if (!isDeepStrictEqual(found, expected)) throw new Error(`${name} is another: ${JSON.stringify(found).slice(0, 300)}`)
}

if (import.meta.main) {
  const [folder, seeds = '1000', first = '1', kind = 'plain'] = process.argv.slice(2)
  process.exitCode = await countSeeds({
    folder,
    seeds: Number(seeds),
    first: Number(first),
    async prepare(scratch) {
      const encryption = kind === 'encrypted' ? await encryptionIn(scratch) : undefined
      const specimens = await makeServerSpecimens(scratch, encryption)
      return (seed) => tryServer(specimens, scratch, seed)
    },
  })
}
