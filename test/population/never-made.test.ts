/** What a template could not make is nothing that its next version would delete: no limit of deletions stops it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/kube/types.ts'
import { otherServes } from '../support/other-cluster.ts'
import { AnyWorld, anyCluster } from './any-world.ts'
import { conditionOf, configMap, configMapResource } from './population-world.ts'

const policies = (resource: string) => ({ group: 'admissionregistration.k8s.io', version: 'v1', resource })

/** From 1.30 on. */
const hasPolicies = await otherServes('ValidatingAdmissionPolicy')

describe.each(anyCluster)('$where', ({ start }) => {
  let world: AnyWorld
  beforeEach(async () => {
    world = new AnyWorld(await start())
  })
  afterEach(() => world[Symbol.asyncDispose]())

  /** A policy keeps a ConfigMap of this name out. */
  async function refuse(name: string): Promise<void> {
    const metadata = { name: `no-${name}` }
    const matchConstraints = {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
    }
    const validations = [{ expression: `object.metadata.name != '${name}'`, message: 'refused', reason: 'Forbidden' }]
    await world.admin.create(policies('validatingadmissionpolicies'), {
      metadata,
      spec: { matchConstraints, validations },
    })
    const spec = { policyName: metadata.name, validationActions: ['Deny'] }
    await world.admin.create(policies('validatingadmissionpolicybindings'), { metadata, spec })
    const probe = { metadata: { namespace: 'default', name } }
    const isRefused = () => world.admin.create(configMapResource, probe, { dryRun: true }).catch(({ reason }) => reason)
    await expect.poll(isRefused).toBe('Forbidden')
  }

  const reasonOf = (status: JsonObject): unknown => conditionOf(status, 'Progressing')?.['reason']

  test.runIf(hasPolicies)('an edit that takes out what was refused everywhere goes on unconfirmed', async () => {
    const before = [{ template: configMap('one') }]
    await world.template('t', before, { rollout: { maxUnavailable: '100%', maxPrune: 1 } })
    for (const name of ['t-0', 't-1', 't-2', 't-3']) await world.namespace(name)
    await world.synced('t', 4)
    await refuse('two')
    await world.edit('t', { objects: [...before, { template: configMap('two') }] })
    await world.status('t', (s) => s['failed'] === 4 && s['observedGeneration'] === 2)
    await world.edit('t', { objects: before })
    // Stopped it may be for a moment: what is tried again just now is announced, and may be there.
    const status = await world.status('t', (s) => s['observedGeneration'] === 3 && reasonOf(s) === 'Complete')
    expect(status).toMatchObject({ matched: 4, synced: 4, failed: 0 })
  })
})
