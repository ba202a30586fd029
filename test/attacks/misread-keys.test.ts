/**
 * V8 reads a key with escapes for another one where all objects before it, with the same keys up to there, went on with
 * one and the same key (`src/base/parse-json-text.ts`). What one client sends must not decide how another's is read.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install } from '../support/definitions.ts'
import { send } from '../support/send.ts'

const group = 'misread.example.com'
let plane: TestControlPlane

beforeAll(async () => {
  plane = await startControlPlane()
  await install(plane, definition({ group, plural: 'papers', kind: 'Paper' }))
})
afterAll(() => plane[Symbol.asyncDispose]())

const papers = `/apis/${group}/v1/namespaces/default/papers`
const paper = (name: string, page: object): object => ({
  apiVersion: `${group}/v1`,
  kind: 'Paper',
  metadata: { name },
  page,
})

/** Sent by a client without any right: its body is read all the same. */
async function mislead(before: string, key: string): Promise<void> {
  const raw = JSON.stringify(key).slice(1, key.length + 1)
  const user = { username: 'mallory', groups: ['system:authenticated'] }
  const body = { spec: { nonResourceAttributes: {} }, page: { [before]: 1, [raw]: 2 } }
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  expect((await send(plane, path, { method: 'POST', user, body })).code).toBe(201)
}

test.each(['"', '\n', 'k:{"name":"app"}', 'v:"a"'])('%j is stored, patched, applied and read as it is', async (key) => {
  const before = `before ${Buffer.from(key).toString('hex')}`
  await mislead(before, key)
  const name = `p-${Buffer.from(key).toString('hex')}`
  const page = { [before]: 1, [key]: { [before]: 1, [key]: 2 } }
  expect((await send(plane, papers, { method: 'POST', body: paper(name, page) })).code).toBe(201)
  // As text: this process would misread it as well.
  expect((await send(plane, `${papers}/${name}`)).text).toContain(`"page":${JSON.stringify(page)}`)
  const more = { [before]: 1, [key]: { [before]: 3, [key]: 4 } }
  const patch = { method: 'PATCH', type: 'application/merge-patch+json', body: { page: more } }
  expect((await send(plane, `${papers}/${name}`, patch)).text).toContain(`"page":${JSON.stringify(more)}`)
  const apply = { method: 'PATCH', type: 'application/apply-patch+yaml', body: JSON.stringify(paper(name, page)) }
  const applied = await send(plane, `${papers}/${name}?fieldManager=a&force=true`, apply)
  expect(applied.text).toContain(`"page":${JSON.stringify(page)}`)
})

test('the owners of the fields of a list stay who they are', async () => {
  for (const before of ['.', 'f:spec', 'f:name']) await mislead(before, 'k:{"name":"app"}')
  const containers = [{ name: 'app', image: 'i' }]
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers } }
  const spec = { selector: { matchLabels: { a: 'b' } }, template }
  const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec }
  const path = '/apis/apps/v1/namespaces/default/deployments'
  expect((await send(plane, path, { method: 'POST', body })).code).toBe(201)
  const patch = { method: 'PATCH', type: 'application/merge-patch+json', body: { spec: { replicas: 2 } } }
  const { text } = await send(plane, `${path}/d`, patch)
  expect(text).toContain('"k:{\\"name\\":\\"app\\"}":{')
})
