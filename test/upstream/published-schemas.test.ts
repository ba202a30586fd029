/**
 * What upstream's end-to-end tests of published schemas ask of a cluster, under their names: definitions in OpenAPI v2,
 * and what kubectl makes of them.
 * @see test/e2e/apimachinery/crd_publish_openapi.go of Kubernetes
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { describeEachKubectl, KubectlSession } from '../interop/kubectl.ts'
import { definition, definitionsPath, install, objectOf, uninstall } from '../support/definitions.ts'
import { send } from '../support/send.ts'

let plane: TestControlPlane

beforeAll(async () => {
  plane = await startControlPlane({ population: false, port: 0 })
})
afterAll(() => plane[Symbol.asyncDispose]())

const text = (description: string, more: JsonObject = {}): JsonObject => ({ description, type: 'string', ...more })
const listOf = (description: string, items: JsonObject): JsonObject => ({ description, type: 'array', items })
const fooSchema = objectOf(
  {
    spec: objectOf(
      {
        bars: listOf(
          'List of Bars and their specs.',
          objectOf(
            {
              name: text('Name of Bar.'),
              age: text('Age of Bar.'),
              feeling: text('Whether Bar is feeling great.', { enum: ['Great', 'Down'] }),
              bazs: listOf('List of Bazs.', { type: 'string' }),
            },
            { required: ['name'] },
          ),
        ),
      },
      { description: 'Specification of Foo' },
    ),
    status: objectOf(
      { bars: listOf('List of Bars and their statuses.', objectOf({ available: { type: 'integer' } })) },
      { description: 'Status of Foo' },
    ),
  },
  { description: 'Foo CRD for Testing' },
)
const waldoSchema = objectOf(
  { spec: objectOf({ dummy: text('Dummy property.') }, { description: 'Specification of Waldo' }) },
  { description: 'Waldo CRD for Testing' },
)
const anything = { 'x-kubernetes-preserve-unknown-fields': true }
const preservingRoot: JsonObject = {
  type: 'object',
  description: 'preserve-unknown-properties at root for Testing',
  ...anything,
}
const preservingNested = objectOf(
  {
    spec: { type: 'object', description: 'Specification of Waldo', ...anything },
    status: { type: 'object', ...anything },
  },
  { description: 'preserve-unknown-properties in nested field for Testing' },
)

const versionsOf = (schema: JsonObject, ...names: string[]) =>
  names.map((name, i) => ({ name, served: true, storage: i === 0, schema: { openAPIV3Schema: schema } }))

interface Crd {
  readonly plural: string
  readonly kind: string
  readonly group: string
  readonly schema: JsonObject
  readonly versions: readonly string[]
}
const installed = ({ plural, kind, group, schema, versions }: Crd) =>
  install(plane, definition({ plural, kind, group, versions: versionsOf(schema, ...versions) }))

/** `crd-publish.example.com` v1 Foo → `com.example.crd-publish.v1.Foo` */
const definitionName = ({ group, kind }: Crd, version: string): string =>
  `${group.split('.').reverse().join('.')}.${version}.${kind}`

async function published(): Promise<Record<string, JsonObject>> {
  const { body } = await send(plane, '/openapi/v2')
  return (body as { definitions: Record<string, JsonObject> }).definitions
}

/** Without what the server adds to every kind. */
async function schemaOf(crd: Crd, version: string): Promise<JsonObject | undefined> {
  const found = (await published())[definitionName(crd, version)]
  if (found === undefined) return undefined
  const { 'x-kubernetes-group-version-kind': gvk, properties, ...rest } = found
  expect(gvk).toEqual([{ group: crd.group, version, kind: crd.kind }])
  const { apiVersion: _, kind: __, metadata: ___, ...own } = (properties ?? {}) as JsonObject
  return Object.keys(own).length > 0 ? { ...rest, properties: own } : rest
}

const foo: Crd = { plural: 'foos', kind: 'Foo', group: 'publish-foo.example.com', schema: fooSchema, versions: ['v1'] }
const waldo: Crd = { ...foo, plural: 'waldos', kind: 'Waldo', group: 'publish-waldo.example.com', schema: waldoSchema }
const multi: Crd = { ...foo, group: 'publish-multi.example.com', versions: ['v2', 'v3'] }
const nameOf = ({ plural, group }: Crd): string => `${plural}.${group}`

describe('CustomResourcePublishOpenAPI', () => {
  it(
    'works for multiple CRDs of different groups, of the same group but different versions, and of different ' +
      'kinds',
    async () => {
      const sameGroup = { ...waldo, group: foo.group, versions: ['v5'] }
      const sameVersion = { ...waldo, plural: 'others', kind: 'Other', group: foo.group }
      const all = [foo, waldo, sameGroup, sameVersion, multi]
      for (const crd of all) await installed(crd)
      for (const crd of all) for (const v of crd.versions) expect(await schemaOf(crd, v)).toEqual(crd.schema)
      for (const crd of all) await uninstall(plane, nameOf(crd))
      const left = Object.keys(await published()).filter((name) => name.startsWith('com.example.'))
      expect(left).toEqual([])
    },
  )

  it('updates the published spec when one version gets renamed', async () => {
    await installed(multi)
    const rename = [
      { op: 'test', path: '/spec/versions/1/name', value: 'v3' },
      { op: 'replace', path: '/spec/versions/1/name', value: 'v4' },
    ]
    const at = `${definitionsPath}/${nameOf(multi)}`
    const type = 'application/json-patch+json'
    expect((await send(plane, at, { method: 'PATCH', body: rename, type })).code).toBe(200)
    expect(await schemaOf(multi, 'v4')).toEqual(fooSchema)
    expect(await schemaOf(multi, 'v3')).toBeUndefined()
    expect(await schemaOf(multi, 'v2')).toEqual(fooSchema)
    const unserved = [{ op: 'replace', path: '/spec/versions/1/served', value: false }]
    expect((await send(plane, at, { method: 'PATCH', body: unserved, type })).code).toBe(200)
    // 'removes definition from spec when one version gets changed to not be served'
    expect(await schemaOf(multi, 'v4')).toBeUndefined()
    expect(await schemaOf(multi, 'v2')).toEqual(fooSchema)
    await uninstall(plane, nameOf(multi))
  })

  it('answers 304 to who knows the document, and another tag once a definition was published', async () => {
    const first = await send(plane, '/openapi/v2')
    const tag = first.headers.get('etag') ?? ''
    const known = { headers: { 'if-none-match': tag } }
    expect((await send(plane, '/openapi/v2', known)).code).toBe(304)
    await installed(waldo)
    const next = await send(plane, '/openapi/v2', known)
    expect([next.code, next.headers.get('etag') === tag]).toEqual([200, false])
    await uninstall(plane, nameOf(waldo))
  })
})

describeEachKubectl((kubectl) => {
  let session: KubectlSession
  beforeAll(async () => {
    session = await KubectlSession.open(kubectl, plane.kubeconfig)
  })
  afterAll(() => session[Symbol.asyncDispose]())

  const object = ({ group, kind }: Crd, name: string, content: object): string =>
    JSON.stringify({ kind, apiVersion: `${group}/v1`, metadata: { name }, ...content })
  const succeeds = async (...args: string[]): Promise<string> => {
    const { code, stdout, transcript } = await session.run(args)
    expect(code, transcript).toBe(0)
    return stdout
  }
  const accepts = async (crd: Crd, input: string, verbs: readonly string[]): Promise<void> => {
    for (const verb of verbs) {
      const { code, transcript } = await session.run([verb, '-f', '-'], { input })
      expect(code, transcript).toBe(0)
      await succeeds('delete', nameOf(crd), 'test')
    }
  }
  const refuses = async (input: string, ...words: RegExp[]): Promise<void> => {
    const { code, stderr, transcript } = await session.run(['create', '-f', '-'], { input })
    expect(code, transcript).toBe(1)
    expect(
      words.some((word) => word.test(stderr)),
      transcript,
    ).toBe(true)
  }

  it('works for CRD with validation schema', async () => {
    await installed(foo)
    await accepts(foo, object(foo, 'test', { spec: { bars: [{ name: 'test-bar' }] } }), ['create', 'apply'])
    const feeling = { spec: { bars: [{ name: 'test-bar', feeling: 'NonExistentValue' }] } }
    await refuses(object(foo, 'test', feeling), /Unsupported value: "NonExistentValue"/)
    const unknown = object(foo, 'test', { spec: { foo: true } })
    await refuses(unknown, /unknown field "(spec\.)?foo"/)
    const incomplete = object(foo, 'test', { spec: { bars: [{ age: '10' }] } })
    await refuses(incomplete, /missing required field "name"/, /spec\.bars\[0\]\.name: Required value/)
    expect(await succeeds('explain', 'foos')).toMatch(
      /DESCRIPTION:.*Foo CRD for Testing.*FIELDS:.*apiVersion.*<string>.*APIVersion defines.*spec.*<Object>.*Specification of Foo/s,
    )
    expect(await succeeds('explain', 'foos.metadata')).toMatch(
      /DESCRIPTION:.*Standard object's metadata.*FIELDS:.*creationTimestamp.*<string>.*CreationTimestamp is a timestamp/s,
    )
    expect(await succeeds('explain', 'foos.spec')).toMatch(
      /DESCRIPTION:.*Specification of Foo.*FIELDS:.*bars.*<\[\]Object>.*List of Bars and their specs/s,
    )
    expect(await succeeds('explain', 'foos.spec.bars')).toMatch(
      /(FIELD|RESOURCE):.*bars.*<\[\]Object>.*DESCRIPTION:.*List of Bars and their specs.*FIELDS:.*bazs.*<\[\]string>.*List of Bazs.*name.*<string>.*Name of Bar/s,
    )
    const missing = await session.run(['explain', 'foos.spec.bars2'])
    expect([missing.code, missing.stderr.includes('field "bars2" does not exist')], missing.transcript).toEqual([
      1,
      true,
    ])
    const whole = await succeeds('explain', 'foos', '--recursive')
    for (const field of ['spec', 'bars', 'age', 'bazs', 'feeling', 'status', 'available', 'managedFields']) {
      expect(whole).toMatch(new RegExp(`^ +${field}\\s+<`, 'm'))
    }
    await uninstall(plane, nameOf(foo))
  })

  const loose: { name: string; schema: JsonObject; content: object; explained: RegExp }[] = [
    {
      name: 'works for CRD without validation schema',
      schema: { type: 'object', ...anything },
      content: { a: { b: [{ c: 'd' }] } },
      explained: /DESCRIPTION:.*<empty>/s,
    },
    {
      name: 'works for CRD preserving unknown fields at the schema root',
      schema: preservingRoot,
      content: { a: { b: [{ c: 'd' }] } },
      explained: /KIND:.*Loose/s,
    },
    {
      name: 'works for CRD preserving unknown fields in an embedded object',
      schema: preservingNested,
      content: { spec: { a: null, b: [{ c: 'd' }] } },
      explained: /DESCRIPTION:.*preserve-unknown-properties in nested field for\s+Testing/s,
    },
  ]
  it.each(loose)('$name', async ({ schema, content, explained }) => {
    const crd: Crd = { ...foo, plural: 'looses', kind: 'Loose', group: 'publish-loose.example.com', schema }
    await installed(crd)
    await accepts(crd, object(crd, 'test', content), ['apply'])
    expect(await succeeds('explain', 'looses')).toMatch(explained)
    await uninstall(plane, nameOf(crd))
  })
})
