/**
 * How to test your own code against a control plane: the real API in your test's process, a port of its own, and the
 * client you use anyway. Nothing to install, nothing left behind.
 *
 * Here the code under test is `onboard`: it gives a team a namespace with a quota.
 */

import { startControlPlane } from '@borough/borough/testing'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { expect, test } from 'vitest'

async function onboard(core: CoreV1Api, team: string): Promise<void> {
  await core.createNamespace({ body: { metadata: { name: team, labels: { team } } } })
  await core.createNamespacedResourceQuota({
    namespace: team,
    body: { metadata: { name: 'team' }, spec: { hard: { 'count/configmaps': '10' } } },
  })
}

function clientOf(kubeconfig: string): CoreV1Api {
  const config = new KubeConfig()
  config.loadFromString(kubeconfig)
  return config.makeApiClient(CoreV1Api)
}

test('onboarding gives a team its namespace and its quota', async () => {
  await using plane = await startControlPlane({ port: 0 })
  const core = clientOf(plane.kubeconfig)

  await onboard(core, 'blue')

  const { items } = await core.listNamespace({ labelSelector: 'team=blue' })
  expect(items.map((namespace) => namespace.status?.phase)).toEqual(['Active'])
  const quota = await core.readNamespacedResourceQuota({ namespace: 'blue', name: 'team' })
  expect(quota.spec?.hard).toEqual({ 'count/configmaps': '10' })
})

test('onboarding a team twice is a conflict', async () => {
  await using plane = await startControlPlane({ port: 0 })
  const core = clientOf(plane.kubeconfig)
  await onboard(core, 'blue')
  await expect(onboard(core, 'blue')).rejects.toMatchObject({ code: 409 })
})

test('whoever may not create namespaces is refused', async () => {
  await using plane = await startControlPlane({ port: 0 })
  const guest = clientOf(plane.kubeconfigFor('guest'))
  await expect(onboard(guest, 'blue')).rejects.toMatchObject({ code: 403 })
})
