/** What is refused of CustomResourceDefinitions. Each whole. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../../src/testing/index.ts'
import { type DefinitionOptions, definition, definitionsPath, objectOf } from '../../support/definitions.ts'
import { notDns1035, notSubdomain } from '../../support/name-faults.ts'
import { invalidObject } from '../../support/refusal.ts'
import { send } from '../../support/send.ts'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane({ population: false })
})
afterAll(() => plane[Symbol.asyncDispose]())

async function refuses(options: DefinitionOptions, faults: readonly string[]): Promise<void> {
  const body = definition(options)
  const answer = await send(plane, `${definitionsPath}?dryRun=All`, { method: 'POST', body })
  const about = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', name: body.metadata.name ?? '' }
  expect(answer.body).toEqual(invalidObject(about, faults))
}

interface Row<Given> {
  readonly name: string
  readonly given: Given
  readonly want: readonly string[]
}

const scalar = { type: 'string' }
const root = 'spec.validation.openAPIV3Schema'

const converts = (clientConfig: JsonObject, conversionReviewVersions = ['v1']): DefinitionOptions => ({
  spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions } } },
})

describe('a definition', () => {
  const rows: readonly Row<DefinitionOptions>[] = [
    {
      name: 'has a group',
      given: { group: '', plural: 'widgets' },
      want: [`metadata.name: Invalid value: "widgets.": ${notSubdomain}`, 'spec.group: Required value'],
    },
    {
      name: 'has a group that is a domain',
      given: { group: 'Ex_.io' },
      want: [
        `metadata.name: Invalid value: "widgets.Ex_.io": ${notSubdomain}`,
        `spec.group: Invalid value: "Ex_.io": ${notSubdomain}`,
      ],
    },
    { name: 'has a scope', given: { scope: '' }, want: ['spec.scope: Required value'] },
    {
      name: 'has names',
      given: { spec: { names: { plural: '', kind: '', singular: '', listKind: '' } } },
      want: [
        'metadata.name: Invalid value: "widgets.ex.io": must be spec.names.plural+"."+spec.group',
        'spec.names.plural: Required value',
        'spec.names.singular: Required value',
        'spec.names.kind: Required value',
        'spec.names.listKind: Required value',
      ],
    },
    {
      name: 'has categories that are labels',
      given: { names: { categories: ['All'] } },
      want: [`spec.names.categories[0]: Invalid value: "All": ${notDns1035}`],
    },
    {
      name: 'names its versions as labels',
      given: { version: { name: 'V1.0' } },
      want: [`spec.versions[0].name: Invalid value: "V1.0": ${notDns1035}`],
    },
    {
      name: 'of a protected group is approved by an address or says why not',
      given: { group: 'stable.k8s.io', annotations: { 'api-approved.kubernetes.io': 'yes' } },
      want: [
        'metadata.annotations[api-approved.kubernetes.io]: Invalid value: "yes": protected groups must have ' +
          'approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with ' +
          '"unapproved", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    },
    {
      name: 'warns of a deprecated version in some words',
      given: { version: { deprecated: true, deprecationWarning: '' } },
      want: ['spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string'],
    },
    {
      name: 'warns of a deprecated version in a few words',
      given: { version: { deprecated: true, deprecationWarning: 'x'.repeat(257) } },
      want: [
        `spec.versions[0].deprecationWarning: Invalid value: "${'x'.repeat(257)}": must be <= 256 characters long`,
      ],
    },
    {
      name: 'warns of a deprecated version in words that can be printed',
      given: { version: { deprecated: true, deprecationWarning: 'é\u0007' } },
      want: [
        'spec.versions[0].deprecationWarning: Invalid value: "é\\a": must only contain printable UTF-8 ' +
          'characters; non-printable character found at index 2',
      ],
    },
    {
      name: 'has no webhook that is not called',
      given: { spec: { conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } } },
      want: ['spec.conversion.webhook: Forbidden: should not be set when strategy is not set to Webhook'],
    },
    {
      name: 'says in which versions its webhook is asked',
      given: converts({ url: 'https://h/x' }, []),
      want: ['spec.conversion.conversionReviewVersions: Required value'],
    },
    {
      name: 'asks its webhook in a version that there is',
      given: converts({ url: 'https://h/x' }, ['v2']),
      want: [
        'spec.conversion.conversionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
      ],
    },
    {
      name: 'calls its webhook by an address or a service',
      given: converts({}),
      want: ['spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required'],
    },
    {
      name: 'calls its webhook by one of both',
      given: converts({ url: 'https://h/x', service: { name: 's', namespace: 'n' } }),
      want: ['spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required'],
    },
    {
      name: 'calls its webhook by an address that can be read',
      given: converts({ url: 'https://[h/x' }),
      want: [
        'spec.conversion.webhookClientConfig.url: Required value: url must be a valid URL: parse ' +
          `"https://[h/x": missing ']' in host; desired format: https://host[/path]`,
      ],
    },
    {
      name: 'calls its webhook through TLS',
      given: converts({ url: 'http://h/x' }),
      want: [
        'spec.conversion.webhookClientConfig.url: Invalid value: "http": \'https\' is the only allowed URL ' +
          'scheme; desired format: https://host[/path]',
      ],
    },
    {
      name: 'calls its webhook at a host',
      given: converts({ url: 'https:///x' }),
      want: [
        'spec.conversion.webhookClientConfig.url: Invalid value: "": host must be specified; desired format: ' +
          'https://host[/path]',
      ],
    },
    {
      name: 'calls its webhook with no more than host and path',
      given: converts({ url: 'https://u:p@h/x?a=b#c' }),
      want: [
        'spec.conversion.webhookClientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
        'spec.conversion.webhookClientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
        'spec.conversion.webhookClientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
      ],
    },
    {
      name: 'names the service of its webhook',
      given: converts({ service: { name: '', namespace: '' } }),
      want: [
        'spec.conversion.webhookClientConfig.service.name: Required value',
        'spec.conversion.webhookClientConfig.service.namespace: Required value',
      ],
    },
    {
      name: 'calls the service of its webhook at a port that there is',
      given: converts({ service: { name: 's', namespace: 'n', port: 70000 } }),
      want: [
        'spec.conversion.webhookClientConfig.service.port: Invalid value: 70000: port is not valid: must be ' +
          'between 1 and 65535, inclusive',
      ],
    },
    {
      name: 'calls the service of its webhook at a path from the root',
      given: converts({ service: { name: 's', namespace: 'n', path: 'x' } }),
      want: [
        'spec.conversion.webhookClientConfig.service.path: Invalid value: "x": must start with a \'/\'',
        'spec.conversion.webhookClientConfig.service.path: Invalid value: "x": segment[0] may not be empty',
      ],
    },
    {
      name: 'calls the service of its webhook at a path without gaps',
      given: converts({ service: { name: 's', namespace: 'n', path: '//x' } }),
      want: ['spec.conversion.webhookClientConfig.service.path: Invalid value: "//x": segment[0] may not be empty'],
    },
    {
      name: 'calls the service of its webhook at a path of more than slashes',
      given: converts({ service: { name: 's', namespace: 'n', path: '//' } }),
      want: ['spec.conversion.webhookClientConfig.service.path: Invalid value: "//": segment[0] may not be empty'],
    },
    {
      name: 'says how it converts, if it says anything of it',
      given: { spec: { conversion: {} } },
      want: ['spec.conversion.strategy: Required value'],
    },
    {
      name: 'calls the service of its webhook at a path of names',
      given: converts({ service: { name: 's', namespace: 'n', path: '/A b' } }),
      want: [`spec.conversion.webhookClientConfig.service.path: Invalid value: "/A b": segment[0]: ${notSubdomain}`],
    },
    {
      name: 'gives a type and a path to its columns',
      given: { version: { additionalPrinterColumns: [{ name: 'a', type: '', jsonPath: '' }] } },
      want: [
        'spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].JSONPath: Required value',
      ],
    },
    {
      name: 'has columns of forms that there are',
      given: {
        version: { additionalPrinterColumns: [{ name: 'a', type: 'integer', format: 'int8', jsonPath: '.a' }] },
      },
      want: [
        'spec.additionalPrinterColumns[0].format: Invalid value: "int8": must be one of ' +
          'byte,date,date-time,double,float,int32,int64,password',
      ],
    },
    {
      name: 'scales by paths that are simple',
      given: {
        version: {
          subresources: {
            scale: { specReplicasPath: 'spec.x', statusReplicasPath: '.status.x', labelSelectorPath: '.x' },
          },
        },
      },
      want: [
        'spec.subresources.scale.specReplicasPath: Invalid value: "spec.x": must be a simple json path starting with .',
        'spec.subresources.scale.labelSelectorPath: Invalid value: ".x": should be a json path under either ' +
          '.spec or .status',
      ],
    },
    {
      name: 'scales by paths',
      given: { version: { subresources: { scale: { specReplicasPath: '', statusReplicasPath: '.spec.x' } } } },
      want: [
        'spec.subresources.scale.specReplicasPath: Required value',
        'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.x": should be a json path under .status',
      ],
    },
    {
      name: 'says by which fields it is selected',
      given: { version: { selectableFields: [{ jsonPath: '' }] } },
      want: ['spec.selectableFields[0].jsonPath: Required value'],
    },
    {
      name: 'is not selected by what every object has',
      given: {
        schema: objectOf({ metadata: objectOf({ name: scalar }) }),
        version: { selectableFields: [{ jsonPath: '.metadata.name' }] },
      },
      want: [
        'spec.selectableFields[0].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata',
      ],
    },
    {
      name: 'is selected by no more than eight fields',
      given: {
        schema: objectOf(Object.fromEntries([...'abcdefghi'].map((name) => [name, scalar]))),
        version: { selectableFields: [...'abcdefghi'].map((name) => ({ jsonPath: `.${name}` })) },
      },
      want: ['spec.selectableFields: Too many: 9: must have at most 8 items'],
    },
    {
      name: 'has no resource inside of metadata',
      given: {
        schema: objectOf({
          metadata: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            'x-kubernetes-preserve-unknown-fields': true,
          },
        }),
      },
      want: [
        'spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other ' +
          'than name and generateName, but metadata is implicitly specified',
        'spec.validation.openAPIV3Schema.properties[metadata].x-kubernetes-embedded-resource: Forbidden: ' +
          'must not be used inside of resource meta',
      ],
    },
    {
      name: 'has no second copy of what every object has',
      given: { schema: objectOf({ kind: { type: 'integer' }, metadata: { type: 'string' } }) },
      want: [
        'spec.validation.openAPIV3Schema.properties[kind].type: Invalid value: "integer": must be string',
        'spec.validation.openAPIV3Schema.properties[metadata].type: Invalid value: "string": must be object',
      ],
    },
    {
      name: 'with a status has an object at the root',
      given: { schema: { type: 'array', items: scalar }, version: { subresources: { status: {} } } },
      want: [
        'spec.validation.openAPIV3Schema.type: Invalid value: "array": only "object" is allowed as the type ' +
          'at the root of the schema if the status subresource is enabled',
        'spec.validation.openAPIV3Schema.type: Invalid value: "array": must be object at the root',
      ],
    },
    {
      name: 'with a status says nothing else at the root',
      given: {
        schema: { type: 'object', nullable: true, minProperties: 1, externalDocs: { url: 'x' } },
        version: { subresources: { status: {} } },
      },
      want: [
        'spec.validation.openAPIV3Schema: Invalid value: ' +
          '{"type":"object","nullable":true,"minProperties":1,"externalDocs":{"url":"x"}}: only [Description ' +
          'Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern ' +
          'MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example ' +
          'XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status ' +
          'subresource is enabled',
        'spec.validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root',
      ],
    },
  ]
  it.each(rows)('$name', ({ given, want }) => refuses(given, want))
})

describe('a schema has no', () => {
  const at = `${root}.properties[spec].properties[x]`
  const rows: readonly Row<JsonObject>[] = [
    {
      name: 'null as a type',
      given: { type: 'null' },
      want: [`${at}.type: Forbidden: type cannot be set to null, use nullable as an alternative`],
    },
    {
      name: 'items of several schemas',
      given: { type: 'array', items: [scalar] },
      want: [
        `${at}.items: Required value: must be specified`,
        `${at}.items: Forbidden: items must be a schema object and not an array`,
      ],
    },
    {
      name: 'a map type without a type',
      given: { 'x-kubernetes-map-type': 'atomic', 'x-kubernetes-preserve-unknown-fields': true },
      want: [`${at}.type: Required value: must be object if x-kubernetes-map-type is specified`],
    },
    {
      name: 'a map type of text',
      given: { type: 'string', 'x-kubernetes-map-type': 'atomic' },
      want: [`${at}.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified`],
    },
    {
      name: 'a map type that there is not',
      given: { type: 'object', 'x-kubernetes-map-type': 'some' },
      want: [`${at}.x-kubernetes-map-type: Unsupported value: "some": supported values: "atomic", "granular"`],
    },
    {
      name: 'a list type of text',
      given: { type: 'string', 'x-kubernetes-list-type': 'atomic' },
      want: [`${at}.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`],
    },
    {
      name: 'a list type that there is not',
      given: { type: 'array', items: scalar, 'x-kubernetes-list-type': 'some' },
      want: [`${at}.x-kubernetes-list-type: Unsupported value: "some": supported values: "atomic", "set", "map"`],
    },
    {
      name: 'keys of a set',
      given: { type: 'array', items: scalar, 'x-kubernetes-list-type': 'set', 'x-kubernetes-list-map-keys': ['a'] },
      want: [
        `${at}.x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty`,
      ],
    },
    {
      name: 'keys of a list without a list type',
      given: { type: 'array', items: scalar, 'x-kubernetes-list-map-keys': ['a'] },
      want: [`${at}.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty`],
    },
    {
      name: 'a set of what may be null',
      given: { type: 'array', items: { type: 'string', nullable: true }, 'x-kubernetes-list-type': 'set' },
      want: [`${at}.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set`],
    },
    {
      name: 'a set of sets',
      given: {
        type: 'array',
        items: { type: 'array', items: scalar, 'x-kubernetes-list-type': 'set' },
        'x-kubernetes-list-type': 'set',
      },
      want: [
        `${at}.items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with ` +
          'x-kubernetes-list-type=set',
      ],
    },
    {
      name: 'a set of objects',
      given: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
      want: [
        `${at}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with ` +
          'x-kubernetes-list-type=set',
      ],
    },
    {
      name: 'a map of nothing',
      given: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
      want: [
        `${at}.items: Required value: must be specified`,
        `${at}.items: Required value: must have a schema if x-kubernetes-list-type is map`,
      ],
    },
    {
      name: 'a map of text',
      given: { type: 'array', items: scalar, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
      want: [
        `${at}.items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`,
      ],
    },
    {
      name: 'a map by an object',
      given: {
        type: 'array',
        items: objectOf({ a: objectOf({}) }, { required: ['a'] }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a'],
      },
      want: [
        `${at}.items.properties[a].type: Invalid value: "object": must be a scalar type if parent array's ` +
          'x-kubernetes-list-type is map',
      ],
    },
    {
      name: 'a map by the same key twice, which may be null',
      given: {
        type: 'array',
        items: objectOf({ a: { type: 'string', nullable: true } }, { required: ['a'] }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a', 'a'],
      },
      want: [
        `${at}.x-kubernetes-list-map-keys: Invalid value: ["a","a"]: must not contain duplicate entries`,
        `${at}.items.properties[a].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so ` +
          'it cannot be nullable',
        `${at}.items.properties[a].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so ` +
          'it cannot be nullable',
      ],
    },
    {
      name: 'fields and any fields',
      given: objectOf({ a: scalar }, { additionalProperties: scalar }),
      want: [`${at}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
    },
    {
      name: 'unknown fields that are not kept',
      given: { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
      want: [`${at}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`],
    },
    {
      name: 'a resource without a type',
      given: { 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      want: [`${at}.type: Required value: must be object if x-kubernetes-embedded-resource is true`],
    },
    {
      name: 'a resource that is text',
      given: { type: 'string', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      want: [`${at}.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true`],
    },
    {
      name: 'a resource of any fields',
      given: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
        additionalProperties: scalar,
      },
      want: [`${at}.additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set`],
    },
    {
      name: 'a resource of no fields',
      given: { type: 'object', 'x-kubernetes-embedded-resource': true },
      want: [
        `${at}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true ` +
          'without x-kubernetes-preserve-unknown-fields',
      ],
    },
    {
      name: 'a resource whose parts are of other types',
      given: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: { kind: { type: 'integer' }, apiVersion: { type: 'integer' }, metadata: { type: 'string' } },
      },
      want: [
        `${at}.properties[apiVersion].type: Invalid value: "integer": must be string`,
        `${at}.properties[kind].type: Invalid value: "integer": must be string`,
        `${at}.properties[metadata].type: Invalid value: "string": must be object`,
      ],
    },
    {
      name: 'a number or text that is a resource',
      given: {
        'x-kubernetes-int-or-string': true,
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
        type: 'object',
      },
      want: [
        `${at}.x-kubernetes-embedded-resource: Invalid value: true: must be false if ` +
          'x-kubernetes-int-or-string is true',
        `${at}.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if ` +
          'x-kubernetes-int-or-string is true',
      ],
    },
    {
      name: 'an alternative with what belongs outside',
      given: objectOf({ a: scalar }, { anyOf: [{ description: 'd', properties: { a: scalar, metadata: {} } }] }),
      want: [
        `${at}.anyOf[0].description: Forbidden: must be empty to be structural`,
        `${at}.anyOf[0].properties[a].type: Forbidden: must be empty to be structural`,
        `${at}.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context`,
        `${at}.properties[metadata]: Required value: because it is defined in ` +
          'spec.validation.openAPIV3Schema.properties[spec].properties[x].anyOf[0].properties[metadata]',
      ],
    },
    {
      name: 'an alternative with what is not said outside',
      given: objectOf(
        { a: { type: 'array', items: scalar } },
        { not: { properties: { b: {}, a: { items: { properties: { c: {} } } } } } },
      ),
      want: [
        `${at}.properties[a].items.properties[c]: Required value: because it is defined in ` +
          'spec.validation.openAPIV3Schema.properties[spec].properties[x].not.properties[a].items.properties[c]',
        `${at}.properties[b]: Required value: because it is defined in ` +
          'spec.validation.openAPIV3Schema.properties[spec].properties[x].not.properties[b]',
      ],
    },
    {
      name: 'a default that is none',
      given: { type: 'integer', default: 'a' },
      want: [`${at}.default: Invalid value: "string":  in body must be of type integer: "string"`],
    },
  ]
  it.each(rows)('$name', ({ given, want }) => refuses({ schema: objectOf({ spec: objectOf({ x: given }) }) }, want))
})

describe('there is no rule', () => {
  const at = `${root}.properties[spec].x-kubernetes-validations[0]`
  const rows: readonly Row<JsonObject>[] = [
    {
      name: 'with an empty message',
      given: { rule: 'self.n > 0', message: ' ' },
      want: [`${at}.message: Invalid value: " ": must be non-empty if specified`],
    },
    {
      name: 'with a message of two lines',
      given: { rule: 'self.n > 0', message: 'a\nb' },
      want: [`${at}.message: Invalid value: "a\\nb": must not contain line breaks`],
    },
    {
      name: 'with an empty expression of a message',
      given: { rule: 'self.n > 0', messageExpression: ' ' },
      want: [`${at}.messageExpression: Required value: messageExpression must be non-empty if specified`],
    },
    {
      name: 'with an empty path',
      given: { rule: 'self.n > 0', fieldPath: ' ' },
      want: [
        `${at}.fieldPath: Invalid value: " ": must be non-empty if specified`,
        `${at}.fieldPath: Invalid value: " ": must be a valid path`,
      ],
    },
    {
      name: 'with a path of two lines',
      given: { rule: 'self.n > 0', fieldPath: '.n\n' },
      want: [
        `${at}.fieldPath: Invalid value: ".n\\n": must not contain line breaks`,
        `${at}.fieldPath: Invalid value: ".n\\n": must be a valid path`,
      ],
    },
    {
      name: 'with a message that costs too much',
      given: { rule: 'self.n > 0', messageExpression: 'self.l.map(a, self.l.map(b, a + b).join("")).join("")' },
      want: [
        `${at}.messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of ` +
          'more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where ' +
          'arrays, maps, and strings are declared)',
        `${at}.messageExpression: Forbidden: contributed to estimated rule cost total exceeding cost limit ` +
          'for entire OpenAPIv3 schema',
        `${at}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire ` +
          'OpenAPIv3 schema',
        'spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for ' +
          'entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or ' +
          'adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      ],
    },
  ]
  it.each(rows)('$name', ({ given, want }) =>
    refuses(
      {
        schema: objectOf({
          spec: objectOf(
            { n: { type: 'integer' }, l: { type: 'array', items: scalar } },
            { 'x-kubernetes-validations': [given] },
          ),
        }),
      },
      want,
    ),
  )
})

it('a rule can not be about what has no type', () =>
  refuses(
    {
      schema: objectOf({
        spec: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'true' }] },
      }),
    },
    [
      `${root}.properties[spec].x-kubernetes-validations: Internal error: internal error: failed to ` +
        'construct type information for x-kubernetes-validations rules: unable to convert structural schema to ' +
        'CEL declarations',
    ],
  ))
