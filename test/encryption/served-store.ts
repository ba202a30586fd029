/** A server in this process on a SQLite store, with encryption; and its files as a thief would have them. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { createControlPlane } from '../../src/app/control-plane.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'

export interface Answer {
  readonly status: number
  readonly text: string
  readonly body: { readonly data?: Record<string, string>; readonly message?: string; readonly reason?: string }
}

export interface ServedStore extends AsyncDisposable {
  send(method: string, path: string, body?: object): Promise<Answer>
  metrics(): Promise<string>
}

const admin = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }

export async function serveStore(
  dataDir: string,
  encryption?: Config['encryption'],
  more: Partial<Config> = {},
): Promise<ServedStore> {
  const config: Config = {
    ...defaultConfig,
    dataDir,
    storage: { engine: 'sqlite' },
    ...(encryption === undefined ? {} : { encryption }),
    ...more,
  }
  const plane = await createControlPlane(config)
  const send: ServedStore['send'] = async (method, path, body) => {
    const request = {
      method,
      ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
    }
    const answer = await fetchAdapter(plane.serve, admin)(new Request(new URL(path, 'https://borough.test'), request))
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') === true
    return { status: answer.status, text, body: isJson ? (JSON.parse(text) as Answer['body']) : {} }
  }
  return {
    send,
    metrics: async () => (await send('GET', '/metrics')).text,
    [Symbol.asyncDispose]: async () => plane[Symbol.asyncDispose](),
  }
}

/** Whether the bytes are anywhere in the store's files. */
export async function foundInFiles(dataDir: string, text: string): Promise<readonly string[]> {
  const folder = join(dataDir, 'store')
  const found: string[] = []
  for (const name of await readdir(folder)) if ((await readFile(join(folder, name))).includes(text)) found.push(name)
  return found
}

/** What lies under a key, as text. */
export function storedAt(dataDir: string, key: string): string | undefined {
  const database = new DatabaseSync(join(dataDir, 'store', 'state.db'), { readOnly: true })
  try {
    const row = database
      .prepare('SELECT l.value FROM present p JOIN log l ON l.revision = p.revision WHERE p.key = ?')
      .get(key)
    return row === undefined ? undefined : Buffer.from(row['value'] as Uint8Array).toString('latin1')
  } finally {
    database.close()
  }
}
