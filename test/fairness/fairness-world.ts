/**
 * A control plane whose clients are told apart by tokens, asked without sockets, so that a test says which requests
 * come in one turn of the event loop.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import type { Client } from '../../src/client/client.ts'
import {
  type FlowSchemaObject,
  flowSchemasResource,
  type PriorityLevelObject,
  priorityLevelConfigurationsResource,
} from '../../src/flowcontrol/flowcontrol.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import { roleBindingsResource } from '../../src/kube/rbac.ts'
import { roleBinding, user } from '../support/fake-rbac-source.ts'

export const namespacesResource = { group: '', version: 'v1', resource: 'namespaces' }
export const configMapsResource = { group: '', version: 'v1', resource: 'configmaps' }

/** `dora` and `emil` may edit namespace `team`. */
export type Who = 'dora' | 'emil'

export interface Answer {
  readonly code: number
  readonly headers: Headers
  readonly body: unknown
  readonly text: string
}

export interface FairnessWorld extends AsyncDisposable {
  readonly plane: ControlPlane
  readonly admin: Client
  /** Begins at once: calls without an `await` between them come in one turn. */
  ask(who: Who, path: string, init?: RequestInit): Promise<Answer>
  /** As the administrator, who is known by a token too. */
  askAsMaster(path: string): Promise<Answer>
  watch(who: Who, path: string, signal: AbortSignal): Promise<Response>
  store(level: PriorityLevelObject, ...schemas: FlowSchemaObject[]): Promise<void>
  /** Of `apiserver_flowcontrol_<name>` for these labels, all series added up; undefined = there are none. */
  metric(name: string, labels: Readonly<Record<string, string>>): Promise<number | undefined>
}

export const inTeam = '/api/v1/namespaces/team/configmaps'

export async function startFairnessWorld(given: Partial<Config> = {}): Promise<FairnessWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'borough-fairness-'))
  const tokenFile = join(folder, 'tokens.csv')
  await writeFile(tokenFile, 'dora-token,dora,7\nemil-token,emil,8\nroot-token,root,9,system:masters\n', {
    mode: 0o600,
  })
  const plane = await createControlPlane({ ...defaultConfig, population: false, tokenFile, ...given })
  const admin = plane.client()
  await admin.create(namespacesResource, { metadata: { name: 'team' } })
  for (const name of ['dora', 'emil']) {
    await admin.create(roleBindingsResource, roleBinding('team', name, 'ClusterRole/edit', user(name)))
  }
  const fetch = fetchAdapter(plane.serve)
  const ask = async (token: string, path: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers }
    const response = await fetch(new Request(`https://localhost${path}`, { ...init, headers }))
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { code: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  }
  return {
    plane,
    admin,
    ask: (who, path, init) => ask(`${who}-token`, path, init),
    watch: (who, path, signal) =>
      fetch(
        new Request(`https://localhost${path}?watch=1`, { headers: { authorization: `Bearer ${who}-token` }, signal }),
      ),
    askAsMaster: (path) => ask('root-token', path),
    async store(level, ...schemas) {
      await admin.create(priorityLevelConfigurationsResource, level)
      for (const schema of schemas) await admin.create(flowSchemasResource, schema)
    },
    async metric(name, labels) {
      const { text } = await ask('root-token', '/metrics')
      const found = [...text.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)].filter(
        ([, family, told]) =>
          family === `apiserver_flowcontrol_${name}` &&
          Object.entries(labels).every(([key, value]) => told?.includes(`${key}="${value}"`)),
      )
      return found.length === 0 ? undefined : found.reduce((sum, [, , , value]) => sum + Number(value), 0)
    },
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      await rm(folder, { recursive: true })
    },
  }
}
