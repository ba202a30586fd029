/** What goes over the wire in which form: compression, protobuf errors, forms that do not exist. */

import { request } from 'node:https'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ProtobufCodec } from '../../src/catalog/protobuf/protobuf-codec.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install } from '../support/definitions.ts'
import { send } from '../support/send.ts'

let plane: TestControlPlane
const maps = '/api/v1/namespaces/default/configmaps'
const protobuf = 'application/vnd.kubernetes.protobuf'

beforeAll(async () => {
  plane = await startControlPlane({ port: 0, population: false })
  for (let i = 0; i < 3; i++) {
    const body = { metadata: { name: `m${i}`, labels: { long: 'yes' } }, data: { k: 'x'.repeat(60_000) } }
    expect((await send(plane, maps, { method: 'POST', body })).code).toBe(201)
  }
})
afterAll(() => plane[Symbol.asyncDispose]())

/** Over a socket: the in-process adapter would hide what is compressed. */
function get(
  path: string,
  headers: Record<string, string>,
): Promise<{ headers: object; body: Buffer; status: number }> {
  const { users, clusters } = parse(plane.kubeconfig) as {
    users: { user: Record<string, string> }[]
    clusters: { cluster: Record<string, string> }[]
  }
  const pem = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64')
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(path, plane.url),
      {
        headers,
        ca: pem(clusters[0]?.cluster['certificate-authority-data']),
        cert: pem(users[0]?.user['client-certificate-data']),
        key: pem(users[0]?.user['client-key-data']),
        agent: false,
      },
      (response) => {
        const { statusCode = 0, headers } = response
        response
          .toArray()
          .then((chunks) => resolve({ status: statusCode, headers, body: Buffer.concat(chunks) }), reject)
      },
    )
    sent.once('error', reject)
    sent.end()
  })
}

describe('compression', () => {
  it.each(['application/json', 'application/yaml', protobuf])('a long list in %s is compressed', async (accept) => {
    // Controllers go on writing: both are asked of one revision.
    const { items } = JSON.parse((await get(maps, {})).body.toString()) as { items: KubeObject[] }
    const revision = Math.max(...items.map((o) => Number(o.metadata.resourceVersion)))
    const path = `${maps}?labelSelector=long&resourceVersion=${revision}&resourceVersionMatch=Exact`
    const plain = await get(path, { accept })
    const packed = await get(path, { accept, 'accept-encoding': 'gzip' })
    expect(packed.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding',
      'content-type': accept,
    })
    expect(packed.body.length).toBeLessThan(plain.body.length / 10)
    expect(gunzipSync(packed.body)).toEqual(plain.body)
    expect(plain.headers).not.toHaveProperty('content-encoding')
  })

  it('one object of 60 kB is not, nor is a watch', async () => {
    for (const path of [`${maps}/m0`, `${maps}?watch=true&timeoutSeconds=1&labelSelector=long`]) {
      const answer = await get(path, { 'accept-encoding': 'gzip' })
      expect(answer.headers).not.toHaveProperty('content-encoding')
      expect(answer.body.includes('xxxx')).toBe(true)
    }
  })
})

describe('errors', () => {
  const error = async (accept: string): Promise<{ type: string | null; bytes: Buffer }> => {
    const response = await plane.fetch(`${maps}/nobody`, { headers: { accept } })
    expect(response.status).toBe(404)
    return { type: response.headers.get('content-type'), bytes: Buffer.from(await response.arrayBuffer()) }
  }

  it('are protobuf for those who read that', async () => {
    const { type, bytes } = await error(`${protobuf},application/json`)
    expect(type).toBe(protobuf)
    const { kind, object } = new ProtobufCodec().decode(bytes)
    expect(kind).toBe('Status')
    expect(object).toMatchObject({
      status: 'Failure',
      reason: 'NotFound',
      code: 404,
      message: 'configmaps "nobody" not found',
      details: { name: 'nobody', kind: 'configmaps' },
    })
  })

  it('are JSON for those who ask for a table or another view', async () => {
    for (const accept of [
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
      `${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json`,
      `${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`,
    ]) {
      expect((await error(accept)).type).toBe('application/json')
    }
  })
})

describe('406', () => {
  const refusal = async (path: string, accept: string): Promise<unknown> => {
    const { code, body } = await send(plane, path, { headers: { accept } })
    expect(code).toBe(406)
    return body
  }
  const status = (message: string) => ({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `only the following media types are accepted: ${message}`,
    reason: 'NotAcceptable',
    code: 406,
  })
  const all = `application/json, application/yaml, ${protobuf}`

  it('names what there is', async () => {
    expect(await refusal(maps, 'text/html')).toEqual(status(all))
    expect(await refusal(`${maps}/m0`, `${protobuf};as=Table;v=v1;g=meta.k8s.io`)).toEqual(status(all))
  })

  it('of a custom resource names the same, and refuses protobuf', async () => {
    await install(plane, definition())
    const { status: code, body } = await get('/apis/ex.io/v1/widgets', { accept: protobuf })
    expect(code).toBe(406)
    expect(new ProtobufCodec().decode(body).object).toMatchObject({ message: status(all).message, code: 406 })
  })

  it('of a watch names what has frames', async () => {
    const frames = `application/json;stream=watch, ${protobuf};stream=watch`
    const streamed = { ...status(frames) }
    const response = await plane.fetch(`${maps}?watch=true`, { headers: { accept: 'application/yaml' } })
    expect(response.status).toBe(406)
    expect(parse(await response.text())).toEqual(streamed)
  })
})

it('a table can be YAML', async () => {
  const accept = 'application/yaml;as=Table;v=v1;g=meta.k8s.io'
  const { text, headers } = await send(plane, `${maps}/m0`, { headers: { accept } })
  expect(headers.get('content-type')).toBe('application/yaml')
  expect(parse(text)).toMatchObject({
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    rows: [{ cells: ['m0', 1, expect.any(String)] }],
  })
})

it('long warnings are cut', async () => {
  await install(
    plane,
    definition({ plural: 'olds', kind: 'Old', version: { deprecated: true, deprecationWarning: 'w'.repeat(200) } }),
  )
  const fields = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`unknown${i}${'y'.repeat(300)}`, 1]))
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'warned' }, ...fields }
  const { headers } = await send(plane, `${maps}?fieldValidation=Warn`, { method: 'POST', body })
  const warnings = (headers.get('warning') ?? '').split(', 299 - ')
  expect(warnings).toHaveLength(16)
  expect(Math.max(...warnings.map((w) => w.length))).toBeLessThan(256 + 20)
})
