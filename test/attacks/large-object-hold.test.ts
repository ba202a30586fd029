/**
 * No large object holds the event loop while it is judged: work on it is cut between its parts. Time is made by hand,
 * every look at it costs half a slice: what is counted is turns of the loop, not milliseconds.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { sliceMs } from '../../src/base/turns.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure, invalidObject } from '../support/refusal.ts'
import { TurnCounter } from '../support/turn-counter.ts'

const lookMs = sliceMs / 2

let plane: TestControlPlane
let elapsedMs = 0

beforeAll(async () => {
  const clock = {
    ...systemClock,
    monotonic: () => {
      elapsedMs += lookMs
      return elapsedMs
    },
  }
  plane = await startControlPlane({ clock, population: true })
  await plane.client.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata: { name: 'large' } })
})

afterAll(() => plane[Symbol.asyncDispose]())

type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json }

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const keyed = (count: number, key: (i: number) => string, value: Json): Record<string, Json> =>
  Object.fromEntries(many(count, (i) => [key(i), value]))

const namespaced = '/api/v1/namespaces/large'
const headers = { 'content-type': 'application/json' }
const admission = '/apis/admissionregistration.k8s.io/v1'
const metadata = { name: 'large' }
const matchConstraints = {
  resourceRules: [{ apiGroups: ['none.example'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] }],
}

const definition = (spec: Json): Json => ({
  metadata: { name: 'larges.loop.example' },
  spec: {
    group: 'loop.example',
    names: { kind: 'Large', plural: 'larges' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
})

interface Case {
  readonly name: string
  readonly path: string
  readonly object: Json
  /** Turns of the loop that are between its parts at least. */
  readonly turns: number
  readonly status?: number
}

const cases: readonly Case[] = [
  {
    name: 'an object with many labels',
    path: `${namespaced}/configmaps`,
    object: { metadata: { ...metadata, labels: keyed(20_000, (i) => `key${i}`, 'v') } },
    turns: 15,
  },
  {
    name: 'an object with many labels that are none',
    path: `${namespaced}/configmaps`,
    object: { metadata: { ...metadata, labels: keyed(20_000, (i) => `key${i}`, '/') } },
    turns: 13,
    status: 422,
  },
  {
    name: 'an object with many finalizers',
    path: `${namespaced}/configmaps`,
    object: { metadata: { ...metadata, finalizers: many(20_000, (i) => `loop.example/f${i}`) } },
    turns: 15,
  },
  {
    name: 'a definition with many rules',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    object: definition({
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': many(5_000, (i) => ({ rule: `self.a == '${i}'` })),
    }),
    turns: 50,
  },
  {
    name: 'a definition with many properties',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    object: definition({ type: 'object', properties: keyed(10_000, (i) => `a${i}`, { type: 'string' }) }),
    turns: 8,
  },
  {
    name: 'an admission policy with many validations',
    path: `${admission}/validatingadmissionpolicies`,
    object: { metadata, spec: { matchConstraints, validations: many(5_000, (i) => ({ expression: `${i} == 0` })) } },
    turns: 50,
  },
  {
    name: 'an admission policy with many variables',
    path: `${admission}/validatingadmissionpolicies`,
    object: {
      metadata,
      spec: {
        matchConstraints,
        variables: many(5_000, (i) => ({ name: `v${i}`, expression: `${i} == 0` })),
        validations: [{ expression: 'variables.v4999' }],
      },
    },
    turns: 50,
  },
  {
    name: 'a mutating admission policy with many mutations',
    path: `${admission}/mutatingadmissionpolicies`,
    object: {
      metadata,
      spec: {
        matchConstraints,
        reinvocationPolicy: 'Never',
        mutations: many(5_000, () => ({
          patchType: 'JSONPatch',
          jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/a"}]' },
        })),
      },
    },
    turns: 50,
  },
  {
    name: 'a webhook configuration with many webhooks',
    path: `${admission}/validatingwebhookconfigurations`,
    object: {
      metadata,
      webhooks: many(1_000, (i) => ({
        name: `w${i}.loop.example`,
        clientConfig: { url: 'https://127.0.0.1:1/' },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        rules: matchConstraints.resourceRules,
      })),
    },
    turns: 400,
  },
  {
    name: 'a review with many requirements',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    object: {
      spec: {
        resourceAttributes: {
          verb: 'list',
          resource: 'pods',
          labelSelector: { requirements: many(5_000, (i) => ({ key: `k${i}`, operator: 'Unknown' })) },
        },
      },
    },
    turns: 20,
  },
  {
    name: 'a template with a large object',
    path: '/apis/policy/v1alpha1/namespacetemplates',
    object: {
      metadata,
      spec: {
        namespaces: { nameSelector: { include: ['nothing-*'] } },
        templates: [
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made' }, data: keyed(20_000, (i) => `k${i}`, 'v') },
        ],
      },
    },
    turns: 10,
  },
]

describe('attack: what every later write would be held against is bounded', () => {
  const amounts = (count: number): Json => keyed(count, (i) => `loop.example/r${i}`, '1')
  const pods = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'many' } }

  test.each([
    {
      name: 'a ResourceQuota',
      path: `${namespaced}/resourcequotas`,
      kind: 'ResourceQuota',
      spec: { hard: keyed(29_000, (i) => `count/r${i}`, '1') },
      problem: 'spec.hard: Too many: 29000: must have at most 256 items',
    },
    {
      name: 'a LimitRange',
      path: `${namespaced}/limitranges`,
      kind: 'LimitRange',
      spec: { limits: [{ type: 'Container', default: amounts(14_000), max: amounts(14_000) }] },
      problem: 'spec.limits: Too many: 28000: must have at most 1000 items',
    },
  ])('$name', async ({ path, kind, spec, problem }) => {
    const response = await plane.fetch(path, { method: 'POST', body: JSON.stringify({ metadata, spec }), headers })
    expect(response.status).toBe(422)
    expect(await response.json()).toEqual(invalidObject({ kind, name: 'large' }, [problem]))
  })

  test('a quota that names one scope thousands of times is judged once', { timeout: 5000 }, async () => {
    const spec = { hard: keyed(200, (i) => `count/r${i}`, '1'), scopes: many(28_000, () => 'Terminating') }
    const body = JSON.stringify({ metadata, spec })
    const response = await plane.fetch(`${namespaced}/resourcequotas?dryRun=All`, { method: 'POST', body, headers })
    expect(response.status).toBe(201)
  })

  test('defaults of thousands of containers are counted before they are made', async () => {
    const limits = [{ type: 'Container', default: amounts(300) }]
    const range = JSON.stringify({ metadata: { name: 'defaults' }, spec: { limits } })
    expect((await plane.fetch(`${namespaced}/limitranges`, { method: 'POST', body: range, headers })).status).toBe(201)
    const containers = many(9_000, (i) => ({ name: `c${i}`, image: 'i' }))
    const body = JSON.stringify({ ...pods, spec: { containers } })
    const response = await plane.fetch(`${namespaced}/pods`, { method: 'POST', body, headers })
    expect(response.status).toBe(413)
    const message = 'Request entity too large: limit is 30000 values'
    expect(await response.json()).toEqual(failure({ message, reason: 'RequestEntityTooLarge', code: 413 }))
    await plane.fetch(`${namespaced}/limitranges/defaults`, { method: 'DELETE' })
  })
})

describe('attack: a large object holds nobody up while it is judged', () => {
  test.each(cases)('$name', async ({ path, object, turns: atLeast, status = 201 }) => {
    const counter = new TurnCounter()
    const response = await plane.fetch(`${path}?dryRun=All`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(object),
    })
    counter.stop()
    expect(response.status).toBe(status)
    await response.arrayBuffer()
    expect(counter.turns).toBeGreaterThanOrEqual(atLeast)
  })
})
