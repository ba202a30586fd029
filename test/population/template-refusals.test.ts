/** What an author of templates is told: each refusal whole, as clients get it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { invalidObject, refusal } from '../support/refusal.ts'
import { namespaceResource, templateResource } from './population-world.ts'

const legalName =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const legalLabel =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
const enforce = 'pod-security.kubernetes.io/enforce'
const size = { name: 'size', fromLabel: 'size', enum: ['small', 'large'] }
const a = (more: JsonObject): JsonObject => ({ name: 'a', fromLabel: 'a', ...more })
const setting = (part: 'labels' | 'annotations', key: string, value: string): JsonObject => ({
  parameters: [size],
  namespaceMetadata: { [part]: { [key]: value } },
})

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane()
  for (const [name, spec] of [
    ['reads', { namespaces: { labelSelector: { matchExpressions: [{ key: 'read', operator: 'Exists' }] } } }],
    [
      'sets',
      {
        namespaces: { nameSelector: { include: ['set-*'] } },
        namespaceMetadata: { labels: { set: 'x' }, annotations: { note: 'n' } },
      },
    ],
  ] as const) {
    await plane.client.create(templateResource, { metadata: { name }, spec })
  }
})
afterAll(() => plane[Symbol.asyncDispose]())

const refused = (spec: JsonObject): Promise<unknown> =>
  refusal(plane.client.create(templateResource, { metadata: { name: 'told' }, spec }))
const told = (...faults: string[]): unknown =>
  invalidObject({ group: 'policy.borough.dev', kind: 'NamespaceTemplate', name: 'told' }, faults)

describe('a parameter', () => {
  test.each<[string, JsonObject, string]>([
    [
      'with the name of a token',
      a({ name: 'CREATOR' }),
      '.name: Invalid value: "CREATOR": must be a lower-case letter and up to 62 letters, digits and underscores, ' +
        'and no literal of CEL',
    ],
    [
      'from nowhere',
      { name: 'a' },
      '.fromLabel: Required value: fromLabel or fromAnnotation must say where a namespace gives the value',
    ],
    [
      'from two places',
      a({ fromAnnotation: 'b' }),
      '.fromAnnotation: Invalid value: "b": may not be given together with fromLabel',
    ],
    ['from what is no label', a({ fromLabel: 'a b' }), `.fromLabel: Invalid value: "a b": ${legalName}`],
    [
      'without a choice',
      a({ enum: [] }),
      '.enum: Required value: must name a value at least: without one nothing could be given',
    ],
    ['with a choice twice', a({ enum: ['x', 'x'] }), '.enum[1]: Duplicate value: "x"'],
    [
      'with an empty choice',
      a({ enum: [''] }),
      '.enum[0]: Invalid value: "": may not be empty: an empty label or annotation counts as not given',
    ],
    ['with a choice that no label can give', a({ enum: ['a b'] }), `.enum[0]: Invalid value: "a b": ${legalLabel}`],
    [
      'with too many choices',
      a({ enum: Array.from({ length: 129 }, (_, i) => `v${i}`) }),
      '.enum: Too many: 129: must have at most 128 items',
    ],
    [
      'with a pattern that is none',
      a({ pattern: '(' }),
      '.pattern: Invalid value: "(": is no expression of RE2: error parsing regexp: missing closing ): `(`',
    ],
    [
      'with a pattern that costs too much',
      a({ pattern: '[a-z]{900}[a-z]{900}' }),
      '.pattern: Invalid value: "[a-z]{900}[a-z]{900}": has 1802 instructions when compiled, and may have at most 1000',
    ],
    [
      'with a default that it refuses',
      a({ pattern: '[0-9]', default: 'x' }),
      '.default: Invalid value: "x": must be text that matches [0-9]',
    ],
    [
      'that is required and has a default',
      a({ default: 'x', required: true }),
      '.required: Invalid value: true: may not be given together with default: no namespace would lack a value',
    ],
  ])('%s', async (_, parameter, fault) => {
    expect(await refused({ parameters: [parameter] })).toEqual(told(`spec.parameters[0]${fault}`))
  })

  test('there are at most 64, each with its name', async () => {
    const many = Array.from({ length: 65 }, (_, i) => ({ name: `p${i}`, fromLabel: 'a' }))
    expect(await refused({ parameters: many })).toEqual(
      told('spec.parameters: Too many: 65: must have at most 64 items'),
    )
    expect(await refused({ parameters: [size, size] })).toEqual(
      told('spec.parameters[1].name: Duplicate value: "size"'),
    )
  })

  test('with a value of which an object can not be made, which is named', async () => {
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q' },
      spec: { hard: { pods: '$(size)' } },
    }
    expect(await refused({ parameters: [size], templates: [quota] })).toEqual(
      told(
        'spec.templates[0]: Invalid value: "ResourceQuota": quantities must match the regular expression ' +
          '\'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$\' (where size is "small")',
      ),
    )
  })
})

test.each(['../v1', 'v1?x=y', 'v1%2Fnamespaces', '/v1', 'v1/', 'a/b/c'])(
  'a version of an object that no server can serve: %s',
  async (apiVersion) => {
    expect(await refused({ templates: [{ apiVersion, kind: 'Secret', metadata: { name: 's' } }] })).toEqual(
      told(
        `spec.templates[0].apiVersion: Invalid value: "${apiVersion}": ` +
          'must be the name of a version, such as `v1` or `apps/v1`',
      ),
    )
  },
)

describe('selectors', () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `v${i}`)
  const labels = Object.fromEntries(many(129).map((key) => [key, 'x']))
  const terms = (count: number): JsonObject[] => many(count).map((key) => ({ key, operator: 'Exists' }))

  test.each<[string, JsonObject, string]>([
    ['with too many labels', { labelSelector: { matchLabels: labels } }, 'labelSelector.matchLabels: Too many: 129'],
    [
      'with too many terms',
      { labelSelector: { matchExpressions: terms(129) } },
      'labelSelector.matchExpressions: Too many: 129',
    ],
    ['with too many names', { nameSelector: { include: many(129) } }, 'nameSelector.include: Too many: 129'],
    ['with too many other names', { nameSelector: { exclude: many(129) } }, 'nameSelector.exclude: Too many: 129'],
    ['with too many users', { creatorSelector: { users: many(129) } }, 'creatorSelector.users: Too many: 129'],
    [
      'with too many accounts',
      { creatorSelector: { serviceAccounts: many(129) } },
      'creatorSelector.serviceAccounts: Too many: 129',
    ],
  ])('%s', async (_, namespaces, fault) =>
    expect(await refused({ namespaces })).toEqual(told(`spec.namespaces.${fault}: must have at most 128 items`)),
  )

  test('with too many values, or too long a pattern', async () => {
    const term = { key: 'a', operator: 'In', values: many(1001) }
    expect(await refused({ namespaces: { labelSelector: { matchExpressions: [term] } } })).toEqual(
      told('spec.namespaces.labelSelector.matchExpressions[0].values: Too many: 1001: must have at most 1000 items'),
    )
    expect(await refused({ namespaces: { nameSelector: { include: ['x'.repeat(254)] } } })).toEqual(
      told('spec.namespaces.nameSelector.include[0]: Too long: may not be more than 253 bytes'),
    )
  })

  test('with too many values in all terms, or too many wildcards in a pattern', async () => {
    const matchExpressions = many(2).map((key) => ({ key, operator: 'NotIn', values: many(501) }))
    expect(await refused({ namespaces: { labelSelector: { matchExpressions } } })).toEqual(
      told(
        'spec.namespaces.labelSelector.matchExpressions: Forbidden: ' +
          'the terms hold 1002 values, at most 1000 together',
      ),
    )
    expect(await refused({ namespaces: { creatorSelector: { users: ['ok', 'a*?'.repeat(9)] } } })).toEqual(
      told('spec.namespaces.creatorSelector.users[1]: Forbidden: holds 18 wildcards (* and ?), at most 16'),
    )
  })

  test('may have as much as that', async () => {
    const namespaces = {
      labelSelector: { matchExpressions: [...terms(127), { key: 'a', operator: 'In', values: many(1000) }] },
      nameSelector: { include: many(128), exclude: ['x'.repeat(253), 'x?*'.repeat(8)] },
    }
    await plane.client.create(templateResource, { metadata: { name: 'much' }, spec: { namespaces } })
    await plane.client.delete(templateResource, { name: 'much' })
  })
})

describe('metadata of namespaces', () => {
  test.each<[string, JsonObject, string]>([
    [
      'of our own',
      setting('labels', 'borough.dev/owner', 'x'),
      'namespaceMetadata.labels[borough.dev/owner]: Forbidden: templates may not set keys of borough.dev or policy, ' +
        'or keys that the server sets',
    ],
    [
      'under a key that is none',
      setting('annotations', 'a b', 'x'),
      `namespaceMetadata.annotations[a b]: Invalid value: "a b": ${legalName}`,
    ],
    [
      'that is no label',
      setting('labels', 'a', 'b c'),
      `namespaceMetadata.labels[a]: Invalid value: "b c": ${legalLabel}`,
    ],
    [
      'with a token that is none',
      setting('labels', 'a', '$(NAMESPCE)'),
      'namespaceMetadata.labels[a]: Invalid value: "$(NAMESPCE)": $(NAMESPCE) is no token: there are $(CREATOR), ' +
        '$(OWNER), $(NAMESPACE), $(size). The text itself is written $$(NAMESPCE)',
    ],
    [
      'that Kubernetes acts upon, by choice of a user',
      setting('labels', enforce, '$(size)'),
      `namespaceMetadata.labels[${enforce}]: Forbidden: a token can not stand here: Kubernetes acts upon this key, ` +
        'and its value would be a user’s choice',
    ],
    [
      'that the template itself reads',
      setting('labels', 'size', 'x'),
      'namespaceMetadata.labels[size]: Forbidden: this template reads it from the namespace, by ' +
        'spec.parameters[0].fromLabel',
    ],
    [
      'that another template reads',
      setting('labels', 'read', 'x'),
      'namespaceMetadata.labels[read]: Forbidden: template "reads" reads it from the namespace, by ' +
        'spec.namespaces.labelSelector.matchExpressions[0].key',
    ],
    [
      'that another template sets, and this one reads',
      { parameters: [{ name: 'p', fromAnnotation: 'note' }] },
      'parameters[0].fromAnnotation: Forbidden: template "sets" sets annotation note, which no template may read',
    ],
    [
      'that another template sets otherwise',
      { ...setting('labels', 'set', 'y'), namespaces: { nameSelector: { include: ['set-*'] } } },
      'namespaceMetadata.labels[set]: Invalid value: "y": template "sets" sets it to "x" on the same namespaces',
    ],
  ])('%s', async (_, spec, fault) => expect(await refused(spec)).toEqual(told(`spec.${fault}`)))

  test('of a name that every object of the language inherits clashes with none', async () => {
    const spec = { ...setting('labels', 'constructor', 'y'), namespaces: { nameSelector: { include: ['set-*'] } } }
    const made = await plane.client.create(templateResource, { metadata: { name: 'inherits' }, spec })
    expect(made.metadata.name).toBe('inherits')
  })
})

test('a required parameter that a namespace does not give is told to its creator', async () => {
  const spec = {
    namespaces: { nameSelector: { include: ['wants-*'] } },
    parameters: [{ name: 'cost', fromAnnotation: 'cost', pattern: '[0-9]{4}', required: true }],
  }
  await plane.client.create(templateResource, { metadata: { name: 'wants' }, spec })
  const created = plane.client.create(namespaceResource, { metadata: { name: 'wants-a' } })
  expect(await refusal(created)).toEqual(
    invalidObject({ kind: 'Namespace', name: 'wants-a' }, [
      'metadata.annotations[cost]: Required value: parameter "cost" of template "wants" is required: it must be text ' +
        'that matches [0-9]{4}',
    ]),
  )
})
