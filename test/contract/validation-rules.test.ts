/** x-kubernetes-validations as clients see them: what a definition may say, and what its rules let through. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, definitionsPath, install, objectOf, post } from '../support/definitions.ts'
import { faultsIn } from '../support/refusal.ts'
import { type Answered, send } from '../support/send.ts'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(() => plane[Symbol.asyncDispose]())

const rules = (schema: JsonObject, ...given: JsonObject[]): JsonObject => ({
  ...schema,
  'x-kubernetes-validations': given,
})
const root = 'spec.validation.openAPIV3Schema'

async function faultsOf(schema: JsonObject): Promise<string[]> {
  const given = definition({ schema })
  const about = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', name: given.metadata.name ?? '' }
  return faultsIn(await post(plane, definitionsPath, given, '?dryRun=All'), about)
}

const text = { type: 'string' }
const shortText = { type: 'string', maxLength: 10 }
const whole = { type: 'integer' }
const ofSpec = (properties: Record<string, JsonObject>, ...given: JsonObject[]): JsonObject =>
  objectOf({ spec: rules(objectOf(properties), ...given) })
const at = `${root}.properties[spec].x-kubernetes-validations[0]`

describe('a rule of a definition', () => {
  const rows: readonly { readonly name: string; readonly given: JsonObject; readonly want: readonly string[] }[] = [
    { name: 'that fits the schema is accepted', given: ofSpec({ n: whole }, { rule: 'self.n > 0' }), want: [] },
    {
      name: 'must be there',
      given: ofSpec({ n: whole }, { rule: ' ' }),
      want: [`${at}.rule: Required value: rule is not specified`],
    },
    {
      name: 'must compile against the types of the schema',
      given: ofSpec({ n: whole }, { rule: 'self.m > 0' }),
      want: [
        `${at}.rule: Invalid value: {"Rule":"self.m \\u003e ` +
          '0","Message":"","MessageExpression":"",' +
          '"Reason":null,"FieldPath":"","OptionalOldSelf":null}: ' +
          `compilation failed: ERROR: <input>:1:5: undefined field 'm'\n | self.m > 0\n | ....^`,
      ],
    },
    {
      name: 'must answer yes or no',
      given: ofSpec({ n: whole }, { rule: 'self.n' }),
      want: [
        `${at}.rule: Invalid value: ` +
          '{"Rule":"self.n","Message":"",' +
          '"MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: ' +
          'cel expression must evaluate to a bool',
      ],
    },
    {
      name: 'needs a message if it has several lines',
      given: ofSpec({ n: whole }, { rule: 'self.n > 0 &&\nself.n < 9' }),
      want: [`${at}.message: Required value: message must be specified if rule contains line breaks`],
    },
    {
      name: 'has a message expression that makes text',
      given: ofSpec({ n: whole }, { rule: 'self.n > 0', messageExpression: 'self.n' }),
      want: [
        `${at}.messageExpression: Invalid value: {"Rule":"self.n \\u003e ` +
          '0","Message":"","MessageExpression":"self.n","Reason":null,"FieldPath":"","OptionalOldSelf":null}: ' +
          'messageExpression must evaluate to a string',
      ],
    },
    {
      name: 'has a reason that there is',
      given: ofSpec({ n: whole }, { rule: 'self.n > 0', reason: 'Bad' }),
      want: [
        `${at}.reason: Unsupported value: "Bad": supported values: "FieldValueDuplicate", ` +
          '"FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
      ],
    },
    {
      name: 'points to a field that there is',
      given: ofSpec({ n: whole }, { rule: 'self.n > 0', fieldPath: '.m' }),
      want: [`${at}.fieldPath: Invalid value: ".m": must be a valid path`],
    },
    {
      name: 'may see oldSelf only where items can be told apart',
      given: ofSpec({ l: { type: 'array', maxItems: 5, items: rules(shortText, { rule: 'self == oldSelf' }) } }),
      want: [
        `${root}.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self ` +
          '== oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ' +
          `${root}.properties[spec].properties[l]`,
      ],
    },
    {
      name: 'asks for an optional oldSelf only if it uses it',
      given: ofSpec({ n: whole }, { rule: 'self.n > 0', optionalOldSelf: true }),
      want: [`${at}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`],
    },
    {
      name: 'must not be too expensive at worst',
      given: ofSpec({ l: { type: 'array', items: text } }, { rule: 'self.l.all(a, self.l.all(b, a != b))' }),
      want: [
        `${at}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try ` +
          'simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and ' +
          'strings are declared)',
        `${at}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire ` +
          'OpenAPIv3 schema',
        `${root}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema ` +
          'exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, ' +
          'maxProperties, and maxLength where arrays, maps, and strings are declared)',
      ],
    },
    {
      name: 'is cheap enough with limits',
      given: ofSpec(
        { l: { type: 'array', maxItems: 100, items: shortText } },
        { rule: 'self.l.all(a, self.l.exists_one(b, a == b))' },
      ),
      want: [],
    },
    {
      name: 'sees names of the resource whatever the schema says of them',
      given: rules(objectOf({}), { rule: 'self.metadata.name.startsWith("a") && self.kind != ""' }),
      want: [],
    },
  ]
  test.each(rows)('$name', async ({ given, want }) => expect(await faultsOf(given)).toEqual(want))
})

const mapList = {
  type: 'array',
  maxItems: 10,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: rules(
    { ...objectOf({ name: shortText, port: whole }), required: ['name'] },
    { rule: 'self.port >= oldSelf.port', message: 'ports only grow' },
  ),
}

const aBox = (name: string): Parameters<typeof faultsIn>[1] => ({ group: 'ex.io', kind: 'Box', name })

const boxSchema = ofSpec(
  {
    min: whole,
    max: whole,
    mode: rules(shortText, { rule: 'self == oldSelf', message: 'mode is immutable' }),
    owner: rules(shortText, {
      rule: 'oldSelf.hasValue() ? self == oldSelf.value() : self != "root"',
      optionalOldSelf: true,
      reason: 'FieldValueForbidden',
    }),
    'my-map': { type: 'object', maxProperties: 5, additionalProperties: rules(whole, { rule: 'self % 2 == 0' }) },
    ports: mapList,
    either: { 'x-kubernetes-int-or-string': true },
    when: { type: 'string', format: 'date-time' },
    deep: { type: 'array', items: { type: 'array', items: whole } },
  },
  {
    rule: 'self.min <= self.max',
    messageExpression: '"min %d is more than max %d".format([self.min, self.max])',
    fieldPath: '.min',
  },
  { rule: '!has(self.either) || (type(self.either) == int ? self.either > 0 : self.either.startsWith("a"))' },
  { rule: '!has(self.when) || self.when < timestamp("2100-01-01T00:00:00Z")' },
  { rule: '!has(self.deep) || self.deep[7][7] > 0' },
)

describe('an object under rules', () => {
  const path = '/apis/ex.io/v1/namespaces/default/boxes'
  const box = (name: string, spec: JsonObject): JsonObject => ({
    apiVersion: 'ex.io/v1',
    kind: 'Box',
    metadata: { name },
    spec: { min: 1, max: 2, ...spec },
  })
  const patch = (name: string, spec: JsonObject): Promise<Answered> =>
    send(plane, `${path}/${name}`, { method: 'PATCH', body: { spec }, type: 'application/merge-patch+json' })

  beforeAll(async () => {
    await install(plane, definition({ plural: 'boxes', kind: 'Box', schema: boxSchema }))
  })

  const rows: readonly { readonly name: string; readonly given: JsonObject; readonly want: readonly string[] }[] = [
    { name: 'that holds to them is stored', given: {}, want: [] },
    {
      name: 'is told what the message expression makes of it, at the field the rule names',
      given: { min: 3 },
      want: ['spec.min: Invalid value: min 3 is more than max 2'],
    },
    {
      name: 'is told the reason',
      given: { owner: 'root' },
      want: ['spec.owner: Forbidden: failed rule: oldSelf.hasValue() ? self == oldSelf.value() : self != "root"'],
    },
    {
      name: 'is judged in each entry of a map',
      given: { 'my-map': { a: 2, b: 3 } },
      want: ['spec.my-map[b]: Invalid value: 3: failed rule: self % 2 == 0'],
    },
    {
      name: 'may be a number or text where both are allowed',
      given: { either: 'b' },
      want: [
        'spec: Invalid value: failed rule: !has(self.either) || (type(self.either) == int ? self.either > 0 ' +
          ': self.either.startsWith("a"))',
      ],
    },
    {
      name: 'has times as times',
      given: { when: '2101-01-01T00:00:00Z' },
      want: ['spec: Invalid value: failed rule: !has(self.when) || self.when < timestamp("2100-01-01T00:00:00Z")'],
    },
    {
      name: 'is told how a rule failed',
      given: { deep: [[1]] },
      want: [
        'spec: Invalid value: "object": index out of bounds: 7 evaluating rule: !has(self.deep) || self.deep[7][7] > 0',
      ],
    },
    {
      name: 'is not put to the rules if its types are wrong',
      given: { min: 'a' },
      want: [
        'spec.min: Invalid value: "string": spec.min in body must be of type integer: "string"',
        '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; ' +
          'correct the existing errors to complete validation',
      ],
    },
  ]
  test.each(rows)('$name', async ({ given, want }) => {
    const answer = await post(plane, path, box('row', given), '?dryRun=All')
    expect(faultsIn(answer, aBox('row'))).toEqual(want)
  })

  test('is refused for the reason that its rule gives, with or without a value', async () => {
    const reasons = ['FieldValueRequired', 'FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid']
    const failing = reasons.map((reason) => ({ rule: 'false', message: reason, reason }))
    const schema = ofSpec(
      { a: rules(shortText, ...failing), either: { 'x-kubernetes-int-or-string': true } },
      ...failing,
    )
    await install(plane, definition({ plural: 'reasons', kind: 'Reason', schema }))
    const given = { apiVersion: 'ex.io/v1', kind: 'Reason', metadata: { name: 'x' }, spec: { a: 'v', either: 1 } }
    const answer = await post(plane, '/apis/ex.io/v1/namespaces/default/reasons', given)
    expect(faultsIn(answer, { group: 'ex.io', kind: 'Reason', name: 'x' })).toEqual([
      'spec: Required value: FieldValueRequired',
      'spec: Duplicate value: FieldValueDuplicate',
      'spec: Forbidden: FieldValueForbidden',
      'spec: Invalid value: FieldValueInvalid',
      'spec.a: Required value: FieldValueRequired',
      'spec.a: Duplicate value: "v"',
      'spec.a: Forbidden: FieldValueForbidden',
      'spec.a: Invalid value: "v": FieldValueInvalid',
    ])
  })

  test('may not change what a transition rule keeps', async () => {
    await post(plane, path, box('fixed', { mode: 'a', owner: 'me', ports: [{ name: 'http', port: 80 }] }))
    expect(faultsIn(await patch('fixed', { mode: 'b' }), aBox('fixed'))).toEqual([
      'spec.mode: Invalid value: "b": mode is immutable',
    ])
    expect(faultsIn(await patch('fixed', { owner: 'you' }), aBox('fixed'))).toEqual([
      'spec.owner: Forbidden: failed rule: oldSelf.hasValue() ? self == oldSelf.value() : self != "root"',
    ])
    const ports = [
      { name: 'new', port: 1 },
      { name: 'http', port: 79 },
    ]
    expect(faultsIn(await patch('fixed', { ports }), aBox('fixed'))).toEqual([
      'spec.ports[1]: Invalid value: ports only grow',
    ])
    expect(
      (
        await patch('fixed', {
          ports: [
            { name: 'new', port: 1 },
            { name: 'http', port: 81 },
          ],
        })
      ).code,
    ).toBe(200)
  })

  test('that was there before a rule keeps what it breaks, with a warning, as long as it is untouched', async () => {
    const schema = (...given: JsonObject[]): JsonObject =>
      // Of what the rest of a schema lets through nothing is said.
      ofSpec({ a: given.length > 0 ? rules({ ...text, maxLength: 2 }, ...given) : shortText, b: shortText })
    await install(plane, definition({ plural: 'olds', kind: 'Old', schema: schema() }))
    const olds = '/apis/ex.io/v1/namespaces/default/olds'
    const old = { apiVersion: 'ex.io/v1', kind: 'Old', metadata: { name: 'x' }, spec: { a: 'bad', b: '1' } }
    expect((await post(plane, olds, old)).code).toBe(201)
    const body = {
      spec: {
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema({ rule: 'self == "ok"' }) } },
        ],
      },
    }
    const changed = await send(plane, `${definitionsPath}/olds.ex.io`, {
      method: 'PATCH',
      body,
      type: 'application/merge-patch+json',
    })
    expect(changed.code).toBe(200)
    const change = (spec: JsonObject): Promise<Answered> =>
      send(plane, `${olds}/x`, { method: 'PATCH', body: { spec }, type: 'application/merge-patch+json' })
    const kept = await change({ b: '2' })
    expect(kept.code).toBe(200)
    expect(kept.headers.get('warning')).toBe(
      String.raw`299 - "spec.a: Invalid value: \"bad\": failed rule: self == \"ok\""`,
    )
    const worse = await change({ a: 'no' })
    expect(faultsIn(worse, { group: 'ex.io', kind: 'Old', name: 'x' })).toEqual([
      'spec.a: Invalid value: "no": failed rule: self == "ok"',
    ])
    expect(worse.headers.get('warning')).toBeNull()
    const good = await change({ a: 'ok' })
    expect(good.code).toBe(200)
    expect(good.headers.get('warning')).toBeNull()
  })
})
