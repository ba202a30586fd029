/** What is said of parameters: to the author of a template, and to the author of a namespace that gives them. */
import { describe, expect, test } from 'vitest'
import { thrown } from '../../../test/support/refusal.ts'
import type { Attributes } from '../../admission/admission.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { requiredType } from '../../kube/resource-type.ts'
import type { JsonValue } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { checkParameters, writtenErrors } from './parameter-admission.ts'
import type { NamespaceTemplate } from './types.ts'

type Spec = NonNullable<NamespaceTemplate['spec']>
const type = requiredType(loadCatalog().types, { group: '', version: 'v1', resource: 'namespaces' })
const size = { name: 'size', fromLabel: 'size', enum: ['small', 'large'] }
const of = (spec?: Spec, annotations?: Record<string, string>): NamespaceTemplate => ({
  metadata: { name: 't', ...(annotations && { annotations }) },
  ...(spec && { spec }),
})
const configMap = (data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data,
})

describe('of a template', () => {
  const owned = (ownerReferences: JsonValue) => ({ ...configMap({}), metadata: { name: 'a', ownerReferences } })
  function written(spec?: Spec): { errors: string[]; warnings: string[] } {
    const warnings: string[] = []
    const errors = writtenErrors({ warn: (text) => void warnings.push(text) }, of(spec))
    return { errors: errors.map(({ field, body }) => `${field}: ${body}`), warnings }
  }
  const unbounded = 'without enum and pattern it stands for any text in one line, quotes included'

  test.each<{ name: string; spec: Spec | undefined; errors?: unknown[]; warnings?: string[] }>([
    { name: 'that says nothing', spec: undefined },
    { name: 'that says what it may', spec: { parameters: [size], templates: [configMap({ a: '$(size)' })] } },
    {
      name: 'whose parameter is wrong',
      spec: { parameters: [{ name: 'A', fromLabel: 'a' }] },
      errors: [expect.stringMatching(/^spec\.parameters\[0\]\.name: Invalid value: "A"/)],
    },
    {
      name: 'whose labels of namespaces are wrong',
      spec: { namespaceMetadata: { labels: { 'policy/a': 'b' } } },
      errors: [expect.stringMatching(/^spec\.namespaceMetadata\.labels\[policy\/a\]: Forbidden: /)],
    },
    {
      name: 'whose tokens are none',
      spec: { templates: [configMap({ a: '$(sise)' })] },
      errors: [
        expect.stringMatching(/^spec\.templates\[0\]\.data\.a: Invalid value: "\$\(sise\)": \$\(sise\) is no token/),
      ],
    },
    {
      name: 'whose source is wrong, which is told elsewhere',
      spec: { objects: [{ cloneFrom: { namespace: 'n', apiVersion: 'v1', kind: 'Secret', name: '$(sise)' } }] },
    },
    {
      name: 'whose source is called as nothing is',
      spec: { objects: [{ cloneFrom: { namespace: 'n', apiVersion: 'v1', kind: 'Secret', name: 'x=' } }] },
      errors: [
        expect.stringMatching(/^spec\.objects\[0\]\.cloneFrom\.name: Invalid value: "x=": a lowercase RFC 1123/),
      ],
    },
    {
      name: 'whose parameter nothing bounds',
      spec: { parameters: [size, { name: 'free', fromAnnotation: 'free' }] },
      warnings: [`spec.parameters[1]: ${unbounded}`],
    },
    {
      name: 'whose condition names no parameter',
      spec: {
        parameters: [size],
        objects: [{ template: configMap({}) }, { template: configMap({}), when: 'params.sise == ""' }],
      },
      errors: [
        'spec.objects[1].when: Invalid value: "params.sise == \\"\\"": params.sise is no parameter: ' +
          'there are params.size',
      ],
    },
    {
      name: 'whose condition is never met',
      spec: { parameters: [size], objects: [{ template: configMap({}), when: 'params.size == "huge"' }] },
      warnings: ['spec.objects[0].when: parameter "size" is never "huge": it is one of "small", "large"'],
    },
    {
      name: 'whose condition is too long to be parsed here',
      spec: { objects: [{ template: configMap({}), when: `params.sise == ""${' '.repeat(4096)}` }] },
    },
    {
      name: 'whose condition is none, which is told elsewhere',
      spec: { objects: [{ template: configMap({}), when: '(' }] },
    },
  ])('$name', ({ spec, errors = [], warnings = [] }) => expect(written(spec)).toEqual({ errors, warnings }))

  test('whose object names an owner', () => {
    const templates = [owned([{ uid: 'u' }]), owned([]), owned(null)]
    const errors = writtenErrors({ warn() {} }, of({ templates, objects: [{ template: owned([{}]) }] }))
    expect(errors).toEqual(
      ['spec.templates[0]', 'spec.objects[0].template'].map((at) => ({
        type: 'FieldValueForbidden',
        field: `${at}.metadata.ownerReferences`,
        body: 'Forbidden: a template owns what it makes',
      })),
    )
  })

  test('whose object was copied from a cluster', () => {
    const copied = (metadata: object) => ({ ...configMap({}), metadata: { name: 'a', ...metadata } })
    const empty = [copied({ uid: '', resourceVersion: null, managedFields: [] }), copied({ generation: 1 })]
    const live = copied({ uid: 'u', resourceVersion: '5', managedFields: [{}], creationTimestamp: 't' })
    const spec = { templates: [...empty, live] }
    expect(writtenErrors({ warn() {} }, of(spec as never))).toEqual(
      ['uid', 'resourceVersion', 'managedFields'].map((name) => ({
        type: 'FieldValueForbidden',
        field: `spec.templates[2].metadata.${name}`,
        body: 'Forbidden: the server sets it: leave it out',
      })),
    )
  })
})

describe('of a namespace', () => {
  const namespace = (labels: Record<string, string>): Namespace => ({ metadata: { name: 'n', labels } })
  const required = of({ parameters: [{ ...size, required: true }] })
  const [small, huge, bare] = [namespace({ size: 'small' }), namespace({ size: 'huge' }), namespace({})]
  const newer = of({}, { 'policy.borough.dev/feature-level': '7' })
  const wrong =
    'metadata.labels[size]: Invalid value: "huge": parameter "size" of template "t" must be one of "small", "large"'
  const missing =
    'metadata.labels[size]: Required value: parameter "size" of template "t" is required: it must be one of "small", ' +
    '"large"'
  const beyond =
    'metadata: Forbidden: template "t" selects it, which needs feature level 7 (annotation ' +
    'policy.borough.dev/feature-level), and this is 1'

  test.each<{
    name: string
    next: Namespace
    templates: NamespaceTemplate[]
    old?: Namespace
    before?: NamespaceTemplate[]
    told?: string
  }>([
    { name: 'that gives what it may', next: small, templates: [required] },
    { name: 'of no template', next: huge, templates: [] },
    { name: 'that gives another value', next: huge, templates: [required], told: wrong },
    { name: 'that gives none', next: bare, templates: [required], told: missing },
    { name: 'of a template that is not understood', next: small, templates: [newer], told: beyond },
    { name: 'that gave it before', next: huge, old: huge, templates: [required], before: [required] },
    { name: 'that gave none before', next: bare, old: bare, templates: [required], before: [required] },
    {
      name: 'that gave an empty one before',
      next: bare,
      old: namespace({ size: '' }),
      templates: [required],
      before: [required],
    },
    {
      name: 'that gave another before',
      next: huge,
      old: small,
      templates: [required],
      before: [required],
      told: wrong,
    },
    { name: 'that takes it away', next: bare, old: small, templates: [required], before: [required], told: missing },
    { name: 'that a template has just come to', next: huge, old: huge, templates: [required], before: [], told: wrong },
    { name: 'whose template was not understood before', next: small, old: small, templates: [newer], before: [newer] },
    {
      name: 'that comes to one that is not understood',
      next: small,
      old: small,
      templates: [newer],
      before: [],
      told: beyond,
    },
  ])('$name', ({ next, templates, old, before = [], told }) => {
    const a = { type, name: 'n' } as Attributes
    const check = (): void => checkParameters(a, next, templates, old && { old, templates: before })
    if (told === undefined) expect(check).not.toThrow()
    else expect(thrown(check).message).toBe(`Namespace "n" is invalid: ${told}`)
  })
})
