/**
 * Policies whose expressions are cheap, and thousands: parameters by a selector, of which each is an evaluation. Time
 * is made by hand, every look at it costs some: what is counted is turns of the loop.
 */
import { expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { sliceMs } from '../../src/base/turns.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { TurnCounter } from '../support/turn-counter.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const admission = '/apis/admissionregistration.k8s.io/v1'
const count = 60

test('attack: parameters are collected, and evaluated with, in slices', async () => {
  let elapsedMs = 0
  const monotonic = (): number => {
    elapsedMs += sliceMs / 2
    return elapsedMs
  }
  await using plane = await startControlPlane({ clock: { ...systemClock, monotonic }, population: false })
  const send = (method: string, path: string, object: object): Promise<Response> =>
    plane.fetch(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(object) })
  for (const name of ['params', 'judged']) await plane.client.create(core('namespaces'), { metadata: { name } })
  for (let i = 0; i < count; i++) {
    const object = { metadata: { name: `p${i}`, namespace: 'params', labels: { kept: 'yes' } }, data: { a: `${i}` } }
    await plane.client.create(core('configmaps'), object as KubeObject)
  }
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: {
      resourceRules: [rule],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'judged' } },
    },
    validations: [{ expression: "params.data.a != '59'", message: 'the last one is found' }],
  }
  const paramRef = { namespace: 'params', selector: { matchLabels: { kept: 'yes' } }, parameterNotFoundAction: 'Deny' }
  const metadata = { name: 'many' }
  await send('POST', `${admission}/validatingadmissionpolicies`, { metadata, spec })
  const binding = { policyName: 'many', validationActions: ['Deny'], paramRef }
  await send('POST', `${admission}/validatingadmissionpolicybindings`, { metadata, spec: binding })

  const create = () => send('POST', '/api/v1/namespaces/judged/configmaps?dryRun=All', { metadata: { name: 'a' } })
  await vi.waitFor(async () => expect((await create()).status).toBe(422), { timeout: 30_000 })
  const counter = new TurnCounter()
  const refused = await create()
  counter.stop()
  expect(((await refused.json()) as { message: string }).message).toContain('the last one is found')
  // Two parameters are collected in a slice, and one evaluation alone takes so long.
  expect(counter.turns).toBeGreaterThanOrEqual(count / 2 + count - 2)
})
