/** What is said of a template that is written: what is wrong with it, what its author lacks, and what is warned of. */
import { describe, expect, test } from 'vitest'
import { thrown } from '../../../test/support/refusal.ts'
import type { Attributes } from '../../admission/admission.ts'
import { runAtOnce } from '../../base/resumable.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { fieldInvalid } from '../../kube/field-error.ts'
import type { JsonObject } from '../../kube/types.ts'
import { type CheckTemplateDeps, checkTemplate } from './check-template.ts'
import { templateKinds } from './kind.ts'
import { compileMatcher } from './match.ts'
import type { NamespaceTemplate } from './types.ts'

type Spec = NonNullable<NamespaceTemplate['spec']>
const [kind] = templateKinds
const type = loadCatalog().declare(kind as NonNullable<typeof kind>)
const keeping = ['get', 'list', 'watch', 'create', 'patch', 'delete']
const served: Record<string, object> = {
  'v1 ConfigMap': { resource: 'configmaps', namespaced: true, verbs: keeping },
  'v1 Node': { resource: 'nodes', namespaced: false, verbs: keeping },
  'v1 Binding': { resource: 'bindings', namespaced: true, verbs: ['create'] },
}
const configMap = (name: string, more: object = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
})
const of = (spec?: Spec, name = 't'): NamespaceTemplate => ({ metadata: { name }, ...(spec && { spec }) })

interface Given {
  readonly template: NamespaceTemplate
  readonly old?: NamespaceTemplate
  readonly others?: readonly NamespaceTemplate[]
  /** By title. */
  readonly found?: Record<string, { errors?: ReturnType<typeof fieldInvalid>[]; warnings?: string[] }>
  /** Verbs that its author lacks. */
  readonly lacks?: readonly string[]
  readonly checks?: boolean
}
function checked({ template, old, others = [], found = {}, lacks = [], checks = true }: Given) {
  const warnings: string[] = []
  const tried: string[] = []
  const deps = {
    authorizer: { authorize: ({ verb }: { verb: string }) => ({ allowed: !lacks.includes(verb), reason: '' }) },
    findKind: (apiVersion: string, of: string) => served[`${apiVersion} ${of}`],
    findClusterRole: () => undefined,
    matchers: () => others.map(compileMatcher),
    ...(checks && {
      *checkObject(object: JsonObject, parameters: readonly object[]) {
        const { name } = object['metadata'] as { name: string }
        tried.push(`${name} ${parameters.length}`)
        yield
        return { errors: [], warnings: [], ...found[name] }
      },
    }),
  } as unknown as CheckTemplateDeps
  const a = {
    ...{ operation: old ? 'UPDATE' : 'CREATE', type, name: 't', namespace: '', subresource: '' },
    ...{ object: template, oldObject: old, user: { username: 'alice', groups: [] } },
    warn: (text: string) => warnings.push(text),
  } as unknown as Attributes
  const check = (): void => runAtOnce(checkTemplate(a, deps))
  try {
    check()
    return { warnings, tried }
  } catch {
    warnings.length = 0
    tried.length = 0
    const { message = '', details } = thrown(check)
    return {
      refusal: message.replace(/^NamespaceTemplate\.policy\.borough\.dev "t" is invalid: /, ''),
      warnings,
      tried,
      details,
    }
  }
}
const refusal = (given: Given): string | undefined => checked(given).refusal

describe('a template is right', () => {
  test.each<{ name: string; template: NamespaceTemplate }>([
    { name: 'that says nothing', template: of() },
    { name: 'that gives objects', template: of({ templates: [configMap('a'), configMap('b')] }) },
    { name: 'with the longest name that a label holds', template: of({}, 'x'.repeat(63)) },
    {
      name: 'whose objects are alternatives',
      template: of({
        objects: [
          { template: configMap('a'), when: 'true' },
          { template: configMap('a'), when: 'false' },
        ],
      }),
    },
  ])('$name', ({ template }) => expect(refusal({ template })).toBeUndefined())
})

describe('a template is wrong', () => {
  const at = 'spec.templates[0]'
  test.each<{ name: string; template: NamespaceTemplate; others?: NamespaceTemplate[]; is: unknown }>([
    {
      name: 'with a name that no label holds',
      template: of({}, 'x'.repeat(64)),
      is: 'metadata.name: Too long: may not be more than 63 bytes',
    },
    {
      name: 'with a selector that is none',
      template: of({ namespaces: { labelSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } } }),
      is: expect.stringMatching(
        /^spec\.namespaces\.labelSelector\.matchExpressions\[0\]\.operator: Invalid value: "Like"/,
      ),
    },
    {
      name: 'with amounts that are none',
      template: of({ rollout: { maxPrune: -1 } }),
      is: expect.stringMatching(/^spec\.rollout\.maxPrune: /),
    },
    {
      name: 'with an end that is none',
      template: of({ expiry: { default: 'soon' } as never }),
      is: expect.stringMatching(/^spec\.expiry\./),
    },
    {
      name: 'with an entry of nothing',
      template: of({ objects: [{}] }),
      is: 'spec.objects[0]: Required value: must have a template or a cloneFrom',
    },
    {
      name: 'with parameters that are wrong',
      template: of({ parameters: [{ name: 'A', fromLabel: 'a' }] }),
      is: expect.stringMatching(/^spec\.parameters\[0\]\.name: /),
    },
    {
      name: 'with numbers for names, of which nothing more is said',
      template: of({ templates: [{ kind: 7 }] }),
      is: `${at}.kind: Invalid value: 7: must be a string`,
    },
    {
      name: 'with an object of nothing',
      template: of({ templates: [{}] }),
      is: `[${at}.apiVersion: Required value, ${at}.kind: Required value, ${at}.metadata.name: Required value]`,
    },
    {
      name: 'with a namespace',
      template: of({ templates: [{ ...configMap('a'), metadata: { name: 'a', namespace: 'n' } }] }),
      is: `${at}.metadata.namespace: Invalid value: "n": must be empty: every namespace gets one`,
    },
    {
      name: 'with what lives in none',
      template: of({ templates: [{ ...configMap('a'), kind: 'Node' }] }),
      is: `${at}.kind: Invalid value: "Node": does not live in namespaces`,
    },
    {
      name: 'with what is only asked',
      template: of({ templates: [{ ...configMap('a'), kind: 'Binding' }] }),
      is: `${at}.kind: Invalid value: "Binding": is only asked and never kept: its API knows no patch and delete`,
    },
    {
      name: 'with an object twice',
      template: of({ templates: [configMap('a'), configMap('a')] }),
      is: 'spec.templates[1]: Duplicate value: "ConfigMap/a"',
    },
    {
      name: 'with an object of another template',
      template: of({ templates: [configMap('a')] }),
      others: [of({ templates: [configMap('a')] }, 'u')],
      is: `${at}: Invalid value: "ConfigMap/a": template "u" gives it to the same namespaces`,
    },
    {
      name: 'with a label of another template',
      template: of({ namespaceMetadata: { labels: { a: '1' } } }),
      others: [of({ namespaceMetadata: { labels: { a: '2' } } }, 'u')],
      is: 'spec.namespaceMetadata.labels[a]: Invalid value: "1": template "u" sets it to "2" on the same namespaces',
    },
  ])('$name', ({ template, others = [], is }) => expect(refusal({ template, others })).toEqual(is))
})

describe('objects are tried', () => {
  const wrong = (field: string) => [fieldInvalid(field, 'x', 'no')]
  const size = { name: 'size', fromLabel: 'size', enum: ['a'] }

  test('each with the parameters of the template; what is wrong and warned counts from where they stand', () => {
    const spec = { templates: [configMap('a'), configMap('b')], parameters: [size] }
    expect(checked({ template: of(spec) }).tried).toEqual(['a 1', 'b 1'])
    expect(checked({ template: of({ templates: [configMap('a')] }) }).tried).toEqual(['a 0'])
    const found = { a: { errors: wrong('data') }, b: { errors: wrong(''), warnings: ['odd'] } }
    const { refusal: told, warnings } = checked({ template: of(spec), found })
    expect(told).toBe('[spec.templates[0].data: Invalid value: "x": no, spec.templates[1]: Invalid value: "x": no]')
    expect(warnings).toEqual(['spec.templates[1]: odd'])
  })

  test('but copies, what is wrong already, and what was accepted before', () => {
    const clone = { cloneFrom: { namespace: 'n', apiVersion: 'v1', kind: 'ConfigMap', name: 'c' } }
    expect(checked({ template: of({ objects: [clone] }) }).tried).toEqual([])
    for (const object of [
      { kind: 7 },
      { ...configMap('a'), apiVersion: '' },
      { ...configMap('a'), kind: '' },
      configMap(''),
    ]) {
      expect(checked({ template: of({ templates: [object as JsonObject] }) }).tried).toEqual([])
    }
    expect(checked({ template: of({ templates: [{ ...configMap('a'), kind: 'Node' }] }) }).tried).toEqual([])
    const old = of({ templates: [configMap('a')] })
    expect(checked({ template: of({ templates: [configMap('a'), configMap('b')] }), old }).tried).toEqual(['b 0'])
  })

  test('where that can be done', () =>
    expect(checked({ template: of({ templates: [configMap('a')] }), checks: false }).tried).toEqual([]))

  test('a kind that is not served is warned of, and what comes of it', () => {
    const templates = [{ ...configMap('a'), kind: 'New' }]
    const told = 'spec.templates[0]: no kind New in v1 is served: '
    expect(checked({ template: of({ templates }) })).toMatchObject({
      ...{ tried: [] },
      warnings: [`${told}new namespaces wait until there is one; spec.failurePolicy: Ignore would let them go`],
    })
    expect(checked({ template: of({ templates, failurePolicy: 'Ignore' }) }).warnings).toEqual([
      `${told}namespaces do without it until there is one`,
    ])
  })
})

describe('its author', () => {
  const lack = 'spec.templates[0]: needs "patch", "delete" on configmaps in all namespaces'
  const refused =
    `namespacetemplates.policy.borough.dev "t" is forbidden: user "alice" can't give through a template ` +
    `what they may ` +
    `not do themselves: ${lack}`

  test('may give what they may do', () => {
    expect(refusal({ template: of({ templates: [configMap('a')] }), lacks: ['bypass'] })).toBeUndefined()
  })

  test('is told all that they lack, each as a cause', () => {
    const { refusal: told, details } = checked({
      template: of({ templates: [configMap('a')] }),
      lacks: ['patch', 'delete'],
    })
    expect(told).toBe(refused)
    expect(details?.causes).toEqual([
      { reason: 'FieldValueForbidden', field: 'spec.templates[0]', message: lack.slice('spec.templates[0]: '.length) },
    ])
    const two = of({
      templates: [configMap('a'), configMap('b')],
      objects: [{ template: configMap('c'), protect: true }],
    })
    const shielded = of({ objects: [{ template: configMap('b'), protect: true, when: 'true' }] }, 'u')
    const all = checked({ template: two, others: [shielded], lacks: ['patch', 'delete', 'bypass'] }).refusal ?? ''
    expect(all).toContain(`${lack}; `)
    expect(all).toContain('; spec.templates[1]: takes the place of ConfigMap/b of template "u", which protects it')
  })

  test('is told what is wrong before what they lack', () => {
    expect(refusal({ template: of({ templates: [{}, configMap('a')] }), lacks: ['patch'] })).toMatch(
      /^\[spec\.templates\[0\]/,
    )
  })

  test('is not asked again for a change that gives nothing more', () => {
    const old = of({ templates: [configMap('a')] })
    const same = { ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }
    const given = { old, lacks: ['patch', 'delete'], others: [of({ templates: [configMap('b')] }, 'u')] }
    expect(checked({ template: same, ...given })).toMatchObject({ tried: [], warnings: [] })
    expect(refusal({ template: same, ...given })).toBeUndefined()
    expect(refusal({ template: of({ templates: [configMap('a'), configMap('c')] }), ...given })).toContain(
      'needs "patch"',
    )
  })

  test('may disable, and let go, one that nothing judged when it was written', () => {
    const namespaces = { labelSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } }
    const old = of({ namespaces })
    const annotated = (annotations: Record<string, string>) => ({ ...old, metadata: { name: 't', annotations } })
    const disabled = annotated({ 'policy/namespace-template-apply': 'disable' })
    expect(refusal({ template: disabled, old })).toBeUndefined()
    const wrong =
      'spec.namespaces.labelSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator'
    expect(refusal({ template: old, old: disabled })).toBe(wrong)
    expect(refusal({ template: of({ namespaces, adopt: true }), old })).toBe(wrong)
  })

  test('is warned of an annotation that does nothing, also where nothing is asked', () => {
    const old = of({ templates: [configMap('a')] })
    const disabled = {
      ...old,
      metadata: { ...old.metadata, annotations: { 'policy/namespace-template-apply': 'off' } },
    }
    expect(checked({ template: disabled, old }).warnings).toEqual([
      'annotation policy/namespace-template-apply is "off", which does nothing: only "disable" does',
    ])
  })

  test('is warned of a mistyped annotation', () => {
    const template = {
      ...of({}),
      metadata: { name: 't', annotations: { 'policy/namespace-template-require': 'true' } },
    }
    expect(checked({ template }).warnings).toEqual([
      'annotation policy/namespace-template-require does nothing: those that do are policy/namespace-template-apply, ' +
        'policy/namespace-template-require-permission, policy.borough.dev/confirm-prune, ' +
        'policy.borough.dev/pause-rollout',
    ])
  })

  test('keeps texts that were accepted when they were written', () => {
    const old = of({ templates: [configMap('a', { data: { a: '$(what)' } })] })
    expect(refusal({ template: { ...old, metadata: { name: 't', labels: { a: 'b' } } }, old })).toBeUndefined()
    expect(refusal({ template: old })).toMatch(/^spec\.templates\[0\]\.data\.a: Invalid value: "\$\(what\)"/)
  })
})
