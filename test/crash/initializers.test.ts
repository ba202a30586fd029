/** A server that is killed while namespaces wait: the next one knows who has acted, who is awaited, and since when. */
import { expect, test } from 'vitest'
import type { Namespace } from '../../src/apis/namespaces/types.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import { clientOf } from '../replicas/kubeconfig-client.ts'
import { isThere, waitFor } from '../support/wait-for.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configurations = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
}

test('killed while a create is held, the server goes on where it was: order, turn and deadline are kept', async () => {
  await using server = await BoroughProcess.start()
  const before = clientOf(await server.adminKubeconfig(), server)
  const second = { name: 'two.ex.io', timeoutSeconds: 3, failurePolicy: 'Ignore' }
  await before.create(configurations, { metadata: { name: 'a' }, initializers: [{ name: 'one.ex.io' }, second] })
  const cutOff = expect(before.create(namespaces, { metadata: { name: 'team' } })).rejects.toThrow()
  await waitFor(before, namespaces, { name: 'team' }, isThere)
  const acted = (await before.patch(
    namespaces,
    { name: 'team' },
    { spec: { initializers: { pending: [{ name: 'two.ex.io' }] } } },
  )) as Namespace
  await server.end('SIGKILL')
  await cutOff

  await server.start()
  const after = clientOf(await server.adminKubeconfig(), server)
  const found = (await after.get(namespaces, { name: 'team' })) as Namespace
  const beganOf = ({ status }: Namespace) =>
    status?.conditions?.find((c) => c.type === 'Initializing')?.lastTransitionTime
  if (found.spec?.initializers !== undefined) {
    expect(found.spec.initializers.pending).toEqual([{ name: 'two.ex.io' }])
    expect(beganOf(found)).toBe(beganOf(acted))
  }
  const ready = (await waitFor(after, namespaces, { name: 'team' }, (n) =>
    JSON.stringify(n?.['status']).includes('"Active"'),
  )) as Namespace
  const waitedMs = Date.parse(beganOf(ready) ?? '') - Date.parse(beganOf(acted) ?? '')
  expect(waitedMs).toBeGreaterThanOrEqual(2000)
  const reasons = async (): Promise<unknown[]> =>
    (await after.list({ ...namespaces, resource: 'events' }, { namespace: 'team' })).items.map((e) => e['reason'])
  // Events are written behind the work that they tell of.
  await expect.poll(reasons).toContain('InitializerSkipped')
}, 120_000)
