/** A stateful set's pods and claims are validated before its controller makes any. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runAtOnce } from '../../src/base/resumable.ts'
import { loadCatalog } from '../../src/catalog/catalog.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { assumeValid } from '../../src/kube/unvalidated.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { notLabel, notSubdomain } from '../support/name-faults.ts'
import { faultsOf, invalidObject } from '../support/refusal.ts'
import { Wire } from '../support/wire.ts'

const sets = '/apis/apps/v1/namespaces/default/statefulsets'
const labels = { app: 'a' }
const container = { name: 'c', image: 'nginx' }
const claim = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
})

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

const setOf = (pod: object, spec: object = {}) => ({
  metadata: { name: 's', namespace: 'default' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container], ...pod } },
    ...spec,
  },
})

describe('a stateful set is not created with', () => {
  it.each<[what: string, set: object, ...faults: string[]]>([
    ['pods without containers', setOf({ containers: [] }), 'spec.template.spec.containers: Required value'],
    [
      'pods of a bad profile',
      setOf({ securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: '../x' } } }),
      'spec.template.spec.securityContext.seccompProfile.localhostProfile: Invalid value: "../x": ' +
        "must not contain '..'",
    ],
    [
      'a mount of what is no volume',
      setOf({ containers: [{ ...container, volumeMounts: [{ name: 'w', mountPath: '/w' }] }] }),
      'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "w"',
    ],
    [
      'a service that has no name of a service',
      setOf({}, { serviceName: 'A' }),
      `spec.serviceName: Invalid value: "A": ${notLabel}`,
    ],
    [
      'claims that ask for nothing',
      setOf({}, { volumeClaimTemplates: [claim('v', { accessModes: [], resources: {} })] }),
      'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
      'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
    ],
    [
      'claims of no size',
      setOf({}, { volumeClaimTemplates: [claim('v', { resources: { requests: { storage: '0' } } })] }),
      'spec.volumeClaimTemplates[0].spec.resources[storage]: Invalid value: "0": must be greater than zero',
    ],
    [
      'claims whose modes exclude each other',
      setOf({}, { volumeClaimTemplates: [claim('v', { accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] })] }),
      'spec.volumeClaimTemplates[0].spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
    ],
    [
      'claims of a source without a name',
      setOf({}, { volumeClaimTemplates: [claim('v', { dataSourceRef: { kind: '', name: '', apiGroup: 'A' } })] }),
      'spec.volumeClaimTemplates[0].spec.dataSourceRef.name: Required value',
      'spec.volumeClaimTemplates[0].spec.dataSourceRef.kind: Required value',
      `spec.volumeClaimTemplates[0].spec.dataSourceRef.apiGroup: Invalid value: "A": ${notSubdomain}`,
    ],
    [
      'claims of a source in no group',
      setOf({}, { volumeClaimTemplates: [claim('v', { dataSource: { kind: 'Secret', name: 's' } })] }),
      'spec.volumeClaimTemplates[0].spec.dataSource: Invalid value: "Secret": must be \'PersistentVolumeClaim\' when ' +
        'referencing the default apiGroup',
    ],
    [
      'claims of two sources',
      setOf(
        {},
        {
          volumeClaimTemplates: [
            claim('v', {
              dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
              dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
            }),
            claim('w', {
              dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
              dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'a', namespace: 'A' },
            }),
          ],
        },
      ),
      'spec.volumeClaimTemplates[0].spec: Invalid value: {}: must match dataSourceRef',
      `spec.volumeClaimTemplates[1].spec.dataSourceRef.namespace: Invalid value: "A": ${notLabel}`,
      'spec.volumeClaimTemplates[1].spec: Invalid value: {}: may not be specified when dataSourceRef.namespace is ' +
        'specified',
    ],
  ])('%s', async (_, set, ...faults) => {
    expect((await wire.call('POST', sets, set)).body).toEqual(
      invalidObject({ group: 'apps', kind: 'StatefulSet', name: 's' }, faults),
    )
  })
})

it('what its controller gives each pod is not asked of the template', async () => {
  const mounts = [{ name: 'v', mountPath: '/v' }]
  const pod = {
    hostname: 'Not.A.Label',
    subdomain: 'Nor.This',
    containers: [{ ...container, volumeMounts: mounts }],
    volumes: [{ name: 'v', hostPath: { path: '/a/../b' } }],
  }
  const { status } = await wire.call('POST', sets, setOf(pod, { volumeClaimTemplates: [claim('v'), claim('v')] }))
  expect(status).toBe(201)
})

it('what is stored already is not held against a write that leaves it', () => {
  const catalog = loadCatalog()
  const type = catalog.types.find({ group: 'apps', version: 'v1', resource: 'statefulsets' })
  if (!type) throw new Error('no stateful sets')
  const stored = (pod: object): KubeObject => {
    const set = setOf(pod, { serviceName: 'A', volumeClaimTemplates: [claim('v', { accessModes: [] })] })
    return assumeValid(catalog.applyDefaults(type, set))
  }
  const faults = (next: KubeObject, old: KubeObject) => {
    const context = { subresource: '', now: '2026-11-29T12:00:00Z' }
    return faultsOf(runAtOnce(catalog.strategyOf(type).validate?.(next, old, context) ?? []))
  }
  const bad = { containers: [{ ...container, image: '' }] }
  expect(faults(stored({ ...bad, nodeName: 'n' }), stored(bad))).toEqual([])
  expect(faults(stored({ ...bad, nodeName: 'N' }), stored(bad))).toEqual([
    `spec.template.spec.nodeName: Invalid value: "N": ${notSubdomain}`,
  ])
})
