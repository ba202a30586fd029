/** What `metadata.generation` counts where it is not the spec alone, as a client sees it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

beforeEach(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})

afterEach(() => plane[Symbol.asyncDispose]())

const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
const webhook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}
const hooks = '/apis/admissionregistration.k8s.io/v1'
const namespaced = (group: string, resource: string): string => `/apis/${group}/namespaces/default/${resource}`

interface Case {
  readonly collection: string
  readonly object: object
  readonly counted: object
  readonly uncounted: object
}

const label = { metadata: { labels: { tier: 'one' } } }
const annotation = { metadata: { annotations: { note: 'one' } } }

const cases: Record<string, Case> = {
  'the webhooks of a mutating configuration': {
    collection: `${hooks}/mutatingwebhookconfigurations`,
    object: { webhooks: [webhook] },
    counted: { webhooks: [{ ...webhook, timeoutSeconds: 3 }] },
    uncounted: label,
  },
  'the webhooks of a validating configuration': {
    collection: `${hooks}/validatingwebhookconfigurations`,
    object: { webhooks: [webhook] },
    counted: { webhooks: [] },
    uncounted: annotation,
  },
  'the template of a PodTemplate': {
    collection: '/api/v1/namespaces/default/podtemplates',
    object: { template },
    counted: { template: { metadata: { labels: { app: 'b' } } } },
    uncounted: annotation,
  },
  'the annotations of a Deployment': {
    collection: namespaced('apps/v1', 'deployments'),
    object: { spec: { selector: { matchLabels: { app: 'a' } }, template } },
    counted: annotation,
    uncounted: label,
  },
  'the endpoints of an EndpointSlice': {
    collection: namespaced('discovery.k8s.io/v1', 'endpointslices'),
    object: { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }] },
    counted: { endpoints: [{ addresses: ['10.0.0.2'] }] },
    uncounted: annotation,
  },
  'the labels of an EndpointSlice': {
    collection: namespaced('discovery.k8s.io/v1', 'endpointslices'),
    object: { addressType: 'IPv4', endpoints: [] },
    counted: label,
    uncounted: annotation,
  },
}

describe('metadata.generation counts', () => {
  it.each(Object.entries(cases))('%s', async (_, { collection, object, counted, uncounted }) => {
    const generations: unknown[] = []
    const { metadata } = await wire.must('POST', collection, { metadata: { name: 'x' }, ...object })
    generations.push(metadata.generation)
    for (const patch of [uncounted, counted, counted]) {
      const patched = await wire.must('PATCH', `${collection}/x`, patch, 'application/merge-patch+json')
      generations.push(patched.metadata.generation)
    }
    expect(generations).toEqual([1, 1, 2, 2])
  })
})
