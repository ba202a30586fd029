/** What generated objects found, each as the request that showed it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ProtobufCodec } from '../../src/catalog/protobuf/protobuf-codec.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { badRequest } from '../support/refusal.ts'
import { type Answered, send } from '../support/send.ts'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(() => plane[Symbol.asyncDispose]())

describe('a quantity in protobuf', () => {
  const codec = new ProtobufCodec()
  const create = (cpu: string): Promise<Answered> =>
    send(plane, '/api/v1/namespaces/default/limitranges?dryRun=All', {
      method: 'POST',
      type: 'application/vnd.kubernetes.protobuf',
      body: codec.encode(
        { metadata: { name: 'x' }, spec: { limits: [{ type: 'Container', max: { cpu } }] } },
        { group: '', version: 'v1', kind: 'LimitRange' },
      ),
    })

  it('that is none is refused, as in JSON', async () => {
    for (const text of ['', 'much']) {
      expect((await create(text)).body).toEqual(
        badRequest(
          'the object provided is not valid protobuf: quantities must match the regular expression ' +
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
      )
    }
  })

  it('is stored in its canonical form, as in JSON', async () => {
    expect((await create('1000m')).body).toMatchObject({ spec: { limits: [{ max: { cpu: '1' } }] } })
  })
})
