/** A value that no client asks for is damaged: the scrub finds it while the server serves, and names it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'

const admin = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
const configMaps = '/api/v1/namespaces/default/configmaps'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'borough-scrubbed-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

async function send({ serve }: ControlPlane, method: string, path: string, body?: object): Promise<string> {
  const init = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const answer = await fetchAdapter(
    serve,
    admin,
  )(new Request(new URL(path, 'https://borough.test'), { method, ...init }))
  return answer.text()
}

it('a damaged value that is read from memory alone is named in two minutes, until it is written anew', async () => {
  const clock = new FakeClock()
  await using plane = await createControlPlane({ ...defaultConfig, clock, dataDir, storage: { engine: 'sqlite' } })
  for (const name of ['a', 'b', 'c']) await send(plane, 'POST', configMaps, { metadata: { name } })
  const verbose = (): Promise<string> => send(plane, 'GET', '/readyz?verbose')
  const afterAWhile = async (): Promise<string> => {
    await clock.advance(10_000)
    return verbose()
  }
  const database = new DatabaseSync(join(dataDir, 'store/state.db'))
  const key = '/registry/configmaps/default/b'
  const revision = Number(database.prepare('SELECT revision FROM present WHERE key = ?').get(key)?.['revision'])
  database.prepare("UPDATE log SET value = CAST('changed' AS BLOB) WHERE revision = ?").run(revision)
  database.close()
  expect(await verbose()).toContain('[+]storage ok\n[+]storage-room ok\n[+]storage-scrub ok\n')

  const damage = `warn: the stored value of ${key} at revision ${revision} is damaged: its checksum is `
  await expect.poll(afterAWhile).toContain(`[+]storage-scrub ok, with 1 warnings\n${damage}`)
  const metrics = await send(plane, 'GET', '/metrics')
  expect(metrics).toMatch(/^borough_storage_scrub_findings 1$/m)
  expect(metrics).toMatch(/^borough_storage_scrubbed_values_total [1-9]/m)

  await send(plane, 'PUT', `${configMaps}/b`, { metadata: { name: 'b' }, data: { new: 'x' } })
  await expect.poll(afterAWhile).toContain('[+]storage-scrub ok\n')
})
