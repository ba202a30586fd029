/** Paths as long as a request may have them: each is answered, whatever stands in it, and what it takes is linear. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { send } from '../support/send.ts'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(() => plane[Symbol.asyncDispose]())

const user = { username: 'mallory', groups: ['system:authenticated'] }
/** Tried at each slash, a pattern would take an hour. */
const many = '/'.repeat(1_000_000)

test.each(['openapi', 'healthz', 'readyz', 'livez', 'api', 'apis', 'version', 'metrics', 'a'])(
  'of /%s',
  async (name) => {
    for (const path of [`/${name}${many}x`, `/${name}/x${many}x${many}`]) {
      expect((await send(plane, path, { user })).code).toBeGreaterThanOrEqual(400)
      expect((await send(plane, path)).code).toBeGreaterThanOrEqual(400)
    }
  },
)

test('a key that repeats in YAML is named by its last part, however long', async () => {
  const key = `${'a'.repeat(500_000)}.`
  const body = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n? "${key}"\n: 1\n? "${key}"\n: 2\n`
  const path = '/api/v1/namespaces/default/configmaps'
  const { code } = await send(plane, `${path}?fieldValidation=Warn`, { method: 'POST', type: 'application/yaml', body })
  expect(code).toBe(201)
})
