/**
 * Expressions that cost as much as upstream lets them, ten million units for one object: the thread that serves clients
 * gives them up after half a million, and another does them, with the same verdict.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CustomResourceDefinition, definitionResource } from '../../src/apis/crds/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { until } from '../support/definitions.ts'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  await plane.client.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata: { name: 'costly' } })
})
afterAll(() => plane[Symbol.asyncDispose]())

const json = { 'content-type': 'application/json' }

interface Answer {
  readonly code: number
  readonly body: { readonly message?: string; readonly metadata?: { readonly labels?: object } }
  /** Evaluations for it that were done by another thread. */
  readonly offloaded: readonly string[]
}

async function offloaded(): Promise<ReadonlyMap<string, number>> {
  const text = await (await plane.fetch('/metrics')).text()
  const found = text.matchAll(/^borough_expressions_offloaded_total\{purpose="(\w+)"\} (\d+)$/gm)
  return new Map(Array.from(found, ([, purpose = '', times]) => [purpose, Number(times)]))
}

async function post(path: string, object: object): Promise<Answer> {
  const before = await offloaded()
  const response = await plane.fetch(path, { method: 'POST', headers: json, body: JSON.stringify(object) })
  const after = await offloaded()
  return {
    code: response.status,
    body: (await response.json()) as Answer['body'],
    offloaded: [...after.keys()].filter((purpose) => after.get(purpose) !== before.get(purpose)),
  }
}

const configMaps = '/api/v1/namespaces/costly/configmaps'
const admission = '/apis/admissionregistration.k8s.io/v1'

/** Some 900,000 units: a call may cost a million. */
const costly = (items: string): string => `${items}.all(x, ${items}.all(y, x + y >= 0))`
const numbers = Array.from({ length: 240 }, (_, i) => i)

describe('attack: rules of a definition that cost what they may', () => {
  const rules = Array.from({ length: 9 }, () => ({ rule: costly('self') }))
  const list = { type: 'array', maxItems: 250, items: { type: 'integer' } }
  const definition = {
    metadata: { name: 'costs.loop.example' },
    spec: {
      group: 'loop.example',
      names: { kind: 'Cost', plural: 'costs' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                numbers: { ...list, 'x-kubernetes-validations': rules },
                blob: { type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$' },
                least: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 3', message: 'is little' }] },
              },
            },
          },
        },
      ],
    },
  }
  const objects = '/apis/loop.example/v1/namespaces/costly/costs'
  const object = (name: string, least: number): object => ({
    apiVersion: 'loop.example/v1',
    kind: 'Cost',
    metadata: { name },
    numbers,
    least,
  })

  beforeAll(async () => {
    await plane.client.create(definitionResource, definition as unknown as CustomResourceDefinition)
    await until(
      plane,
      'costs.loop.example',
      (now) =>
        now?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true,
    )
  })

  test('they let pass what they should', async () => {
    const { code, offloaded } = await post(objects, object('one', 4))
    expect([code, offloaded]).toEqual([201, ['rules']])
  })

  test.each([
    ['a short text is matched here', 10_000, []],
    ['a long text against a pattern by another thread', 200_000, ['schema']],
  ])('%s, with the same verdict', async (_, length, elsewhere) => {
    const blob = 'QUJD'.repeat(length / 4)
    const object = (name: string, more: string): object => ({
      apiVersion: 'loop.example/v1',
      kind: 'Cost',
      metadata: { name },
      blob: blob + more,
    })
    const good = await post(objects, object(`good-${length}`, '=='))
    expect([good.code, good.offloaded]).toEqual([201, elsewhere])
    const bad = await post(objects, object(`bad-${length}`, '!'))
    expect([bad.code, bad.offloaded]).toEqual([422, elsewhere])
    const shown = length >= 10_000 ? `"${blob.slice(0, 10_000)}"...` : ''
    expect(bad.body.message).toBe(
      `Cost.loop.example "bad-${length}" is invalid: blob: Invalid value: ${shown}: ` +
        `blob in body should match '^[A-Za-z0-9+/]*={0,2}$'`,
    )
  })

  test('they refuse what they should', async () => {
    const { code, body, offloaded } = await post(objects, object('two', 3))
    expect([code, offloaded, body.message]).toEqual([
      422,
      ['rules'],
      'Cost.loop.example "two" is invalid: least: Invalid value: 3: is little',
    ])
  })
})

describe('attack: expressions of admission that cost what they may', () => {
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
  const isMine = (name: string): object => ({ name: 'mine', expression: `object.metadata.name.startsWith('${name}')` })
  const all = costly('object.data')
  const texts = all.replace('x + y >= 0', "x + y != ''")
  const data = Object.fromEntries(numbers.slice(0, 200).map((i) => [`k${i}`, '']))
  const configMap = (name: string): object => ({ metadata: { name }, data })

  const create = async (path: string, object: object): Promise<void> => {
    const { code, body } = await post(`${admission}/${path}`, object)
    expect([code, body.message]).toEqual([201, undefined])
  }
  const bound = { policyName: 'costly', validationActions: ['Deny'] }

  test('of a validating policy, which may ask for permissions: what they answer is what counts', async () => {
    const mayCreate = "authorizer.group('').resource('configmaps').namespace('costly').check('create').allowed()"
    await create('validatingadmissionpolicies', {
      metadata: { name: 'costly' },
      spec: {
        matchConstraints: { resourceRules: rules },
        matchConditions: [isMine('validated')],
        variables: [{ name: 'costly', expression: texts }],
        validations: [
          ...Array.from({ length: 8 }, () => ({ expression: texts })),
          { expression: `variables.costly && ${mayCreate}` },
          { expression: "object.metadata.name != 'validated-not'", message: 'not this one' },
        ],
      },
    })
    await create('validatingadmissionpolicybindings', { metadata: { name: 'costly' }, spec: bound })
    const refused = await post(configMaps, configMap('validated-not'))
    expect([refused.code, refused.body.message]).toEqual([
      422,
      "configmaps \"validated-not\" is forbidden: ValidatingAdmissionPolicy 'costly' with binding 'costly' denied " +
        'request: not this one',
    ])
    const taken = await post(configMaps, configMap('validated'))
    expect([taken.code, taken.body.message]).toEqual([201, undefined])
    expect([refused.offloaded, taken.offloaded]).toEqual([['policy'], ['policy']])
  })

  test('of a mutating policy: what they make is made', async () => {
    await create('mutatingadmissionpolicies', {
      metadata: { name: 'costly' },
      spec: {
        matchConstraints: { resourceRules: rules },
        matchConditions: [isMine('mutated')],
        reinvocationPolicy: 'Never',
        variables: Array.from({ length: 8 }, (_, i) => ({ name: `v${i}`, expression: texts })),
        mutations: [
          {
            patchType: 'JSONPatch',
            jsonPatch: {
              expression:
                `[JSONPatch{op: "add", path: "/metadata/labels", value: {"made": ` +
                `string(${Array.from({ length: 8 }, (_, i) => `variables.v${i}`).join(' && ')})}}]`,
            },
          },
        ],
      },
    })
    await create('mutatingadmissionpolicybindings', { metadata: { name: 'costly' }, spec: { policyName: 'costly' } })
    const { code, body, offloaded } = await post(configMaps, configMap('mutated'))
    expect([code, body.message, body.metadata?.labels]).toEqual([201, undefined, { made: 'true' }])
    expect(offloaded).toEqual(['mutation'])
  })

  test('of a webhook: whether it is asked depends on them', async () => {
    await create('validatingwebhookconfigurations', {
      metadata: { name: 'costly' },
      webhooks: [
        {
          name: 'costly.loop.example',
          // Nothing listens there.
          clientConfig: { url: 'https://127.0.0.1:1/' },
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          rules,
          matchConditions: [
            isMine('asked'),
            ...['a', 'b'].map((name) => ({ name, expression: texts })),
            { name: 'not', expression: "object.metadata.name != 'asked-not'" },
          ],
        },
      ],
    })
    const passed = await post(configMaps, configMap('asked-not'))
    expect([passed.code, passed.body.message, passed.offloaded]).toEqual([201, undefined, ['conditions']])
    expect((await post(configMaps, configMap('asked'))).code).toBe(500)
  })
})
