/** What becomes of changes to what templates made: `drift` and `yieldTo` of each object. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { findObject } from '../../src/client/find-object.ts'
import type { JsonObject } from '../../src/kube/types.ts'
import { otherServes } from '../support/other-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { AnyWorld, anyCluster } from './any-world.ts'
import { conditionOf, configMap, configMapResource, refusal } from './population-world.ts'

const ofAdmission = { group: 'admissionregistration.k8s.io', version: 'v1' }
const admissionPolicies = { ...ofAdmission, resource: 'validatingadmissionpolicies' }
const admissionPolicyBindings = { ...ofAdmission, resource: 'validatingadmissionpolicybindings' }
const policies = { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' }
const denyAll: JsonObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'deny' },
  spec: { podSelector: {}, policyTypes: ['Ingress'] },
}

/** A policy stands for what may keep a server from answering dry runs. */
const hasPolicies = await otherServes('ValidatingAdmissionPolicy')

describe.each(anyCluster)('$where', ({ where, start }) => {
  let world: AnyWorld
  let admin: Client
  beforeAll(async () => {
    world = new AnyWorld(await start())
    admin = world.admin
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  /** A template with one object, and a namespace that has it. */
  const given = async (name: string, entry: JsonObject, spec: JsonObject = {}): Promise<string> => {
    await world.template(name, [entry], spec)
    await world.namespace(`${name}-1`)
    await world.synced(name)
    return `${name}-1`
  }
  const takeOver = (namespace: string, manager: string, data: Record<string, string>): Promise<unknown> => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'about' }, data }
    return admin.apply(configMapResource, object, { fieldManager: manager, force: true })
  }

  test.each([
    { name: 'apply', what: 'an apply by force' },
    { name: 'cleared', what: 'an update that clears managedFields' },
    { name: 'deleted', what: 'a deletion' },
  ])('Correct puts back what $what did, and an Event in the namespace says so', async ({ name }) => {
    const ref = { namespace: await given(name, { template: configMap('about') }), name: 'about' }
    if (name === 'apply') await takeOver(ref.namespace, 'gitops', { a: 'theirs' })
    else if (name === 'deleted') await admin.delete(configMapResource, ref)
    else await admin.patch(configMapResource, ref, { metadata: { managedFields: [{}] }, data: { a: 'theirs' } })
    await world.data(ref.namespace, 'about', { a: '1' })
    await world.synced(name)
    const expected = {
      apply: 'changes by "gitops" were put back: data.a',
      cleared: 'changes by "before-first-apply" were put back: data.a',
      deleted: 'it had been deleted, and is made again',
    }[name]
    await expect
      .poll(() => world.events(ref.namespace, 'PopulationCorrected'))
      .toEqual([`ConfigMap/about of template ${name}: ${expected}`])
  })

  test('a fight is told once a minute, not each time', async () => {
    const namespace = await given('fight', { template: configMap('about') })
    for (let i = 0; i < 5; i++) {
      await takeOver(namespace, `gitops-${i}`, { a: `theirs ${i}` })
      await world.data(namespace, 'about', { a: '1' })
    }
    await expect.poll(() => world.events(namespace, 'PopulationCorrected')).toHaveLength(1)
  })

  test('yieldTo leaves a manager its fields, and puts the other ones back', async () => {
    const entry = { yieldTo: ['scaler'], template: configMap('about', { a: '1', replicas: '1' }) }
    const namespace = await given('yield', entry)
    await takeOver(namespace, 'scaler', { replicas: '5' })
    const ref = { namespace, name: 'about' }
    await admin.patch(configMapResource, ref, { data: { a: 'theirs' } }, { fieldManager: 'kubectl-edit' })
    await world.data(namespace, 'about', { a: '1', replicas: '5' })
    await takeOver(namespace, 'other', { replicas: '9' })
    await waitFor(admin, configMapResource, ref, (o) => (o?.['data'] as JsonObject)['replicas'] === '1')
  })

  test('Correct leaves what others add, and the status says of no such namespace that it is synced', async () => {
    const namespace = await given('opened', { template: denyAll })
    const ref = { namespace, name: 'deny' }
    await admin.patch(policies, ref, { spec: { ingress: [{}] } })
    const isOpened = (s: JsonObject): boolean => conditionOf(s, 'Synced')?.['reason'] === 'Extended'
    const status = await world.status('opened', isOpened)
    expect(status).toMatchObject({ matched: 1, synced: 0, failed: 0, extended: 1 })
    expect(conditionOf(status, 'Synced')).toMatchObject({
      status: 'False',
      message: `In 1 of 1 namespaces others have added to what the template says: ${namespace}`,
    })
    expect(conditionOf(status, 'Progressing')).toMatchObject({ status: 'False', reason: 'Complete' })
    expect(await world.events(namespace, 'PopulationExtended')).toEqual([
      'NetworkPolicy/deny of template opened: it holds what the template does not: spec.ingress; drift: Strict ' +
        'takes it out',
    ])
    // Nor does the next process, nor another pass.
    await world.cluster.restart()
    admin = world.admin
    await world.label(namespace, { look: 'again' })
    await world.template('marker', [{ template: configMap('m') }])
    await world.namespace('marker-1')
    await world.synced('marker')
    expect(await world.status('opened', isOpened)).toMatchObject({ synced: 0, extended: 1 })
    await admin.patch(policies, ref, { spec: { ingress: null } })
    await world.synced('opened')
  })

  test('Strict takes out what others add, metadata and status excepted', async () => {
    const namespace = await given('strict', { drift: 'Strict', template: denyAll })
    const ref = { namespace, name: 'deny' }
    await admin.patch(policies, ref, {
      metadata: { annotations: { mine: 'x' } },
      spec: { ingress: [{}], egress: [{}] },
    })
    const mended = await waitFor(admin, policies, ref, (o) => JSON.stringify(o?.['spec']).includes('gress":') === false)
    expect(mended?.['spec']).toEqual(denyAll['spec'])
    expect(mended?.metadata.annotations).toEqual({ mine: 'x' })
    await world.synced('strict')
  })

  test('an object that becomes Strict loses what was added before', async () => {
    const namespace = await given('tighten', { template: denyAll })
    await admin.patch(policies, { namespace, name: 'deny' }, { spec: { ingress: [{}] } })
    await world.status('tighten', (s) => s['extended'] === 1)
    await world.edit('tighten', { objects: [{ drift: 'Strict', template: denyAll }] })
    await waitFor(admin, policies, { namespace, name: 'deny' }, (o) => !JSON.stringify(o?.['spec']).includes('ingress'))
    await world.synced('tighten')
  })

  const isSilenced = where === 'on Borough' || hasPolicies
  test.runIf(isSilenced)(
    'what was applied is pruned later, though the server would not say what else it holds',
    async () => {
      const namespace = await given('silent', { drift: 'Strict', template: configMap('about') })
      await world.label(namespace, { silent: 'true' })
      const name = 'no-comparisons'
      await admin.create(admissionPolicies, {
        metadata: { name },
        spec: {
          matchConstraints: {
            namespaceSelector: { matchLabels: { silent: 'true' } },
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['UPDATE'] },
            ],
          },
          validations: [{ expression: '!request.dryRun', reason: 'Forbidden', message: 'no dry runs' }],
        },
      })
      const spec = { policyName: name, validationActions: ['Deny'] }
      await admin.create(admissionPolicyBindings, { metadata: { name }, spec })
      const probe = { metadata: { namespace, name: 'probe' } }
      await admin.create(configMapResource, probe)
      await expect
        .poll(() => refusal(admin.update(configMapResource, probe, { dryRun: true })))
        .toMatchObject({ code: 403 })

      await admin.delete(configMapResource, { namespace, name: 'about' })
      expect(await world.failures('silent', 'Forbidden')).toHaveLength(1)
      await world.data(namespace, 'about', { a: '1' })
      await world.edit('silent', { objects: [{ template: configMap('other') }] })
      await world.synced('silent')
      expect(await findObject(admin, configMapResource, { namespace, name: 'about' })).toBeUndefined()
    },
  )

  test('Strict stops after ten corrections within an hour, and says so', async () => {
    const namespace = await given('stop', { drift: 'Strict', template: configMap('about') })
    const ref = { namespace, name: 'about' }
    for (let i = 0; i < 10; i++) {
      await admin.patch(configMapResource, ref, { data: { [`b${i}`]: 'theirs' } })
      await world.data(namespace, 'about', { a: '1' })
    }
    await admin.patch(configMapResource, ref, { data: { b: 'theirs' } })
    expect(await world.failures('stop', 'DriftStopped')).toEqual([
      {
        namespace,
        object: 'ConfigMap/about',
        reason: 'DriftStopped',
        message:
          'it was put back 10 times within an hour, and is left as other writers have it until that hour is over',
      },
    ])
    await world.data(namespace, 'about', { a: '1', b: 'theirs' })
  })

  test.each([
    { name: 'report-update', by: 'an update', manager: /, changed by "[^"]+"$/ },
    { name: 'report-apply', by: 'an apply by force', manager: /, changed by "gitops"$/ },
    {
      name: 'report-cleared',
      by: 'an update that clears managedFields',
      manager: /in data\.a(, changed by "[^"]+")?$/,
    },
  ])(
    'Report writes nothing after $by, whatever driftPolicy says, and names the fields and managers',
    async ({ name, manager }) => {
      const namespace = await given(name, { drift: 'Report', template: configMap('about') }, { driftPolicy: 'Correct' })
      const ref = { namespace, name: 'about' }
      const metadata = name === 'report-cleared' ? { metadata: { managedFields: [{}] } } : {}
      if (name === 'report-apply') await takeOver(namespace, 'gitops', { a: 'theirs' })
      else await admin.patch(configMapResource, ref, { ...metadata, data: { a: 'theirs' } })
      const { resourceVersion } = (await admin.get(configMapResource, ref)).metadata
      expect(await world.failures(name, 'Drift')).toEqual([
        { namespace, object: 'ConfigMap/about', reason: 'Drift', message: expect.stringMatching(manager) },
      ])
      expect((await admin.get(configMapResource, ref)).metadata.resourceVersion).toBe(resourceVersion)
      await admin.delete(configMapResource, ref)
      await world.data(namespace, 'about', { a: '1' })
    },
  )
})
