/** `borough why` of a namespace that came while no process of `borough populate --fail-open` answered. */
import { expect, test } from 'vitest'
import { explainNamespace } from '../../src/apis/namespaces/explain.ts'
import { systemClock } from '../../src/base/clock.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import { explanationText } from '../../src/cli/explanation-text.ts'
import { type Populate, startPopulate } from '../../src/populate/populate.ts'
import { type OtherCluster, startOtherCluster } from '../support/other-cluster.ts'
import { isThere, waitFor, waitUntilAllowed } from '../support/wait-for.ts'
import { configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const lease = { namespace: 'borough-system', name: 'borough-population' }
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })

const populateOn = ({ client }: OtherCluster): Promise<Populate> =>
  startPopulate({
    ...{ client, clock: systemClock, ids: randomIds, log: silentLog, namespace: 'borough-system' },
    ...{ listen: { host: '127.0.0.1', port: 0 }, reachedAt: 'listen', admission: 'webhooks', failOpen: true },
  })

const template = (name: string, namespaces: string[], more: object = {}) => ({
  apiVersion: 'policy.borough.dev/v1alpha1',
  kind: 'NamespaceTemplate',
  metadata: { name },
  spec: { namespaces: { nameSelector: { include: namespaces } }, templates: [configMap(`of-${name}`)], ...more },
})

const nothingYet = (which: string): string =>
  'Namespace late is Active.\nNothing holds it, but it is not as its templates say.\n\nWhat it lacks:\n\n' +
  `* ${which} given it nothing yet\n  who must act: `
const none = 'who runs borough populate: no process of it populates now (Lease borough-system/borough-population was '
const start =
  '  what helps:\n    kubectl get deployments -n borough-system\n' +
  '      start it where it is to run, or borough populate elsewhere: it goes on by itself\n'

test('says which templates have given it nothing, whether any process populates, and what to do', async () => {
  await using cluster = await startOtherCluster({ port: 0 })
  const { client } = cluster
  const why = async (by = client, clock: Pick<typeof systemClock, 'now'> = systemClock, name = 'late') =>
    explanationText(
      await explainNamespace(by, name, { ...systemClock, now: () => clock.now() }, AbortSignal.timeout(30_000)),
      clock.now(),
    )
  await using populate = await populateOn(cluster)
  await client.create(templateResource, template('t', ['late', 'early']))
  await client.create(templateResource, template('other', ['other']))
  await client.create(templateResource, template('empty', ['late'], { templates: [] }))
  const disabled = template('disabled', ['late'])
  const annotations = { 'policy/namespace-template-apply': 'disable' }
  await client.create(templateResource, { ...disabled, metadata: { ...disabled.metadata, annotations } })
  await client.create(namespaceResource, { metadata: { name: 'early' } })
  await waitFor(client, configMapResource, { namespace: 'early', name: 'of-t' }, isThere)
  await waitFor(client, templateResource, { name: 'disabled' }, (t) => JSON.stringify(t).includes('"Disabled"'))
  await populate[Symbol.asyncDispose]()

  await client.create(namespaceResource, { metadata: { name: 'late' } })
  const one = 'NamespaceTemplate "t" selects this namespace, and has'
  const given = await client.get(leases, lease)
  const { renewTime } = given['spec'] as { renewTime: string }
  const disabledNote = /\n\nNote: NamespaceTemplate "disabled" is disabled: /
  expect((await why()).replace(/\n\nNote: [^]*$/, '\n')).toBe(
    `${nothingYet(one)}${none}given back at ${renewTime})\n${start}`,
  )
  expect(await why()).toMatch(disabledNote)
  expect(await why(client, systemClock, 'early')).not.toContain('nothing yet')

  // A process that was killed, and one that runs.
  const spec = { holderIdentity: 'host_1', leaseDurationSeconds: 15, renewTime: '2030-01-01T00:00:00.000000Z' }
  await client.update(leases, { ...given, spec })
  const at = (seconds: number) => new FakeClock(Date.parse('2030-01-01T00:00:00Z') + seconds * 1000)
  expect(await why(client, at(76))).toContain(`${none}renewed last at 2030-01-01T00:00:00.000000Z)\n${start}`)
  expect(await why(client, at(75))).toContain(
    `${nothingYet(one)}borough populate, which runs as host_1: its controller applies the NamespaceTemplates that ` +
      'match\n',
  )

  // Who may not see objects or templates can't tell.
  const rules = [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'delete'] }]
  const reads = [{ apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'], verbs: ['list'] }]
  const sees = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
  const bind = async (name: string, given_: object[]) => {
    await client.create(rbac('clusterroles'), { metadata: { name }, rules: given_ } as never)
    await client.create(rbac('clusterrolebindings'), {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dora' }],
    } as never)
  }
  const dora = cluster.clientAs('dora')
  await bind('a', rules)
  await waitUntilAllowed(dora, 'delete', namespaceResource)
  expect(await why(dora)).toBe('Namespace late is Active.\nNothing holds it.\n')
  await bind('b', reads)
  await waitUntilAllowed(dora, 'list', templateResource)
  expect(await why(dora)).toMatch(/^Namespace late is Active\.\nNothing holds it\.\n\nNote: [^\n]*\n$/)
  await bind('c', sees)
  await waitUntilAllowed(dora, 'list', configMapResource)
  expect(await why(dora)).toContain(
    'borough populate: its controller applies the NamespaceTemplates that match\n' +
      '  what helps:\n    kubectl get lease borough-population -n borough-system -o yaml\n',
  )

  await client.delete(leases, lease)
  await using _ = await populateOn(cluster)
  await waitFor(client, configMapResource, { namespace: 'late', name: 'of-t' }, isThere)
  expect(await why()).not.toContain('nothing yet')
})

test('of a template with a kind that is not served, and of a namespace that waits, while no process runs', async () => {
  await using cluster = await startOtherCluster({ port: 0 })
  const { client } = cluster
  const why = async (name: string) =>
    explanationText(await explainNamespace(client, name, systemClock, AbortSignal.timeout(30_000)), systemClock.now())
  await using populate = await populateOn(cluster)
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } }
  const templates = [widget, configMap('of-t')]
  await client.create(templateResource, template('t', ['late', 'early'], { templates }))
  await client.create(templateResource, template('other', ['other']))
  await client.create(templateResource, template('u', ['waits']))
  await client.create(namespaceResource, { metadata: { name: 'early' } })
  await waitFor(client, namespaceResource, { name: 'early' }, (n) => JSON.stringify(n?.status).includes('UnknownKind'))
  expect(await why('early')).toContain('who is named below with each object that is missing; it is tried again\n')
  await populate[Symbol.asyncDispose]()

  const labels = { 'policy/namespace-template-pending': 'true' }
  await client.create(namespaceResource, { metadata: { name: 'waits', labels } })
  expect(await why('waits')).toContain(`* its templates have not been applied yet: "u"\n  who must act: ${none}`)

  await client.create(namespaceResource, { metadata: { name: 'late' } })
  expect(await why('late')).toContain(`${nothingYet('NamespaceTemplate "t" selects this namespace, and has')}${none}`)
  const early = await why('early')
  expect(early).toMatch(/\n {2}who must act: who runs borough populate: no process [^\n]+\), and who is named below\n/)
  expect(early).toContain(start)
})
