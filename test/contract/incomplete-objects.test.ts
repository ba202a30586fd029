/** Objects that lack what their kind needs, or hold something else there: what a client is told, never a 500. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { badRequest, invalidObject } from '../support/refusal.ts'
import { send } from '../support/send.ts'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  const limits = [{ type: 'Container', default: { cpu: '1' } }]
  const range = { metadata: { name: 'r' }, spec: { limits } }
  await send(plane, '/api/v1/namespaces/default/limitranges', { method: 'POST', body: range })
})
afterAll(() => plane[Symbol.asyncDispose]())

describe('a pod', () => {
  const pods = '/api/v1/namespaces/default/pods'
  const noContainers = invalidObject({ kind: 'Pod', name: 'x' }, ['spec.containers: Required value'])
  const mismatch = (found: string, field: string, type: string) =>
    badRequest(
      `Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal ${found} into Go struct field ${field} of type ${type}`,
    )
  const rows: readonly { readonly name: string; readonly pod: object; readonly want: object }[] = [
    { name: 'without a spec', pod: {}, want: noContainers },
    { name: 'whose spec is null', pod: { spec: null }, want: noContainers },
    { name: 'with an empty spec', pod: { spec: {} }, want: noContainers },
    { name: 'whose containers are null', pod: { spec: { containers: null } }, want: noContainers },
    { name: 'without containers', pod: { spec: { containers: [] } }, want: noContainers },
    {
      name: 'with a container that is null',
      pod: { spec: { containers: [null] } },
      want: invalidObject({ kind: 'Pod', name: 'x' }, [
        'spec.containers[0].name: Required value',
        'spec.containers[0].image: Required value',
      ]),
    },
    { name: 'whose spec is a list', pod: { spec: [] }, want: mismatch('array', 'Pod.spec', 'v1.PodSpec') },
    {
      name: 'whose containers are a text',
      pod: { spec: { containers: 'c' } },
      want: mismatch('string', 'PodSpec.spec.containers', '[]v1.Container'),
    },
    {
      name: 'whose only container is a number',
      pod: { spec: { containers: [3] } },
      want: mismatch('number', 'PodSpec.spec.containers', 'v1.Container'),
    },
  ]
  it.each(rows)('$name is refused with the path of the field', async ({ pod, want }) => {
    const answer = await send(plane, pods, { method: 'POST', body: { metadata: { name: 'x' }, ...pod } })
    expect(answer.body).toEqual(want)
  })
})
