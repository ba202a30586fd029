/** What stands where something else is expected, or deeper than anything is: a refusal, or nothing, and never a 500. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { send } from '../support/send.ts'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(() => plane[Symbol.asyncDispose]())

test.each([null, 'text', [1], 7, { 'f:deeper': null }])(
  '%j in place of a field leaves ownership as it is',
  async (odd) => {
    const path = '/api/v1/namespaces/default/configmaps'
    const name = `c-${Buffer.from(JSON.stringify(odd)).toString('hex')}`
    const body = { metadata: { name }, data: { a: '1' } }
    const made = (await send(plane, path, { method: 'POST', body })).body as KubeObject
    const entries = structuredClone(made.metadata.managedFields ?? [])
    const fields = entries[0]?.fieldsV1 as Record<string, Record<string, unknown>>
    Object.assign(fields['f:data'] ?? {}, { 'f:a': odd })
    const changed = { ...made, metadata: { ...made.metadata, managedFields: entries } }
    const answer = await send(plane, `${path}/${name}`, { method: 'PUT', body: changed })
    expect(answer.code).toBe(200)
    expect((answer.body as KubeObject).metadata.managedFields).toEqual(made.metadata.managedFields)
  },
)

test('a Secret of JSON whose keys have escapes is one, however deep and however many', async () => {
  const deep = `${'{"\\u0061":'.repeat(50_000)}1${'}'.repeat(50_000)}`
  const many = `{"auths":[${Array.from({ length: 50_000 }, () => '{"\\n":0}').join()}]}`
  for (const [name, text] of Object.entries({ deep, many })) {
    const data = { '.dockerconfigjson': Buffer.from(text).toString('base64') }
    const body = { metadata: { name }, type: 'kubernetes.io/dockerconfigjson', data }
    const answer = await send(plane, '/api/v1/namespaces/default/secrets', { method: 'POST', body })
    expect(answer.code).toBe(201)
  }
})
