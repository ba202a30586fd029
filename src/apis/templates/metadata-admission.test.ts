import { describe, expect, test } from 'vitest'
import type { Attributes } from '../../admission/admission.ts'
import type { KubeObject } from '../../kube/types.ts'
import { namespaceResource } from '../namespaces/types.ts'
import { compileMatcher } from './match.ts'
import { checkMetadata, settleChanged, settleNew } from './metadata-admission.ts'
import { metadataHoldersAnnotation, type NamespaceTemplate, optOutAnnotation } from './types.ts'

const enforce = 'pod-security.kubernetes.io/enforce'
const version = `${enforce}-version`
const template = (labels: Record<string, string>, spec: object = {}): NamespaceTemplate =>
  ({ metadata: { name: 't', generation: 1 }, spec: { namespaceMetadata: { labels }, ...spec } }) as NamespaceTemplate
const namespace = (labels: Record<string, string>, held?: Record<string, string>): KubeObject => ({
  metadata: {
    name: 'n',
    labels,
    ...(held ? { annotations: { [metadataHoldersAnnotation]: JSON.stringify({ labels: held }) } } : {}),
  },
})

interface Case {
  readonly name: string
  readonly templates: readonly NamespaceTemplate[]
  readonly old?: KubeObject
  readonly next: KubeObject
  readonly mayTakeAway?: boolean
  /** Part of the refusal; absent = none. */
  readonly refusal?: string
}

function check({ templates, old, next, mayTakeAway = false }: Case): void {
  const attributes = {
    operation: old ? 'UPDATE' : 'CREATE',
    type: namespaceResource,
    name: 'n',
    object: next,
    oldObject: old,
    user: { username: 'tenant' },
  } as unknown as Attributes
  checkMetadata(
    attributes,
    () => templates.map(compileMatcher),
    () => mayTakeAway,
  )
}

const restricted = template({ [enforce]: 'restricted' })

describe('labels that a template sets', () => {
  test.each<Case>([
    { name: 'may stand as they are', templates: [restricted], next: namespace({ [enforce]: 'restricted' }) },
    {
      name: 'must be there in a create',
      templates: [restricted],
      next: namespace({}),
      refusal: `label ${enforce} is not as it must be: template "t" sets it to "restricted"`,
    },
    {
      name: 'cannot be taken away',
      templates: [restricted],
      old: namespace({ [enforce]: 'restricted' }),
      next: namespace({}),
      refusal: 'user "tenant" cannot take it away',
    },
    {
      name: 'cannot be changed',
      templates: [restricted],
      old: namespace({ [enforce]: 'restricted' }),
      next: namespace({ [enforce]: 'privileged' }),
      refusal: 'user "tenant" cannot change it to "privileged"',
    },
    {
      name: 'hinder no other change where they were wrong before',
      templates: [restricted],
      old: namespace({ [enforce]: 'baseline' }),
      next: namespace({ [enforce]: 'baseline', a: 'b' }),
    },
    {
      name: 'stay when the template says them no more, until the controller takes them away',
      templates: [template({ other: 'x' })],
      old: namespace({ other: 'x', [enforce]: 'restricted' }, { [enforce]: 't' }),
      next: namespace({ other: 'x' }),
      refusal: 'template "t" set it, and its controller takes it away; user "tenant" cannot take it away',
    },
    {
      name: 'may then be taken away by the controller',
      templates: [template({ other: 'x' })],
      old: namespace({ other: 'x', [enforce]: 'restricted' }, { [enforce]: 't' }),
      next: namespace({ other: 'x' }),
      mayTakeAway: true,
    },
    {
      name: 'may be taken away where the template that set them is gone',
      templates: [],
      old: namespace({ [enforce]: 'restricted' }, { [enforce]: 't' }),
      next: namespace({}),
    },
    {
      name: 'may be taken away where the template leaves behind what it made',
      templates: [template({ other: 'x' }, { deletionPolicy: 'Orphan' })],
      old: namespace({ other: 'x', [enforce]: 'restricted' }, { [enforce]: 't' }),
      next: namespace({ other: 'x' }),
    },
  ])('$name', (given) => expectOutcome(given))
})

describe('a level of Pod Security that a template sets without a version', () => {
  const inTeams = { namespaces: { labelSelector: { matchLabels: { kind: 'team' } } } }
  const at = (value: string, more: object = {}): KubeObject =>
    namespace({ [enforce]: 'restricted', [version]: value, ...more })
  test.each<Case>([
    {
      name: 'admits no older version in a create',
      templates: [restricted],
      next: at('v1.0'),
      refusal: `label ${version}: template "t" sets ${enforce}, and no version of it; user "tenant" cannot change`,
    },
    {
      name: 'admits no older version in an update',
      templates: [restricted],
      old: namespace({ [enforce]: 'restricted' }),
      next: at('v1.0'),
      refusal: 'cannot change it to "v1.0"',
    },
    { name: 'admits the latest', templates: [restricted], next: at('latest') },
    {
      name: 'admits that a version goes',
      templates: [restricted],
      old: at('v1.0'),
      next: namespace({ [enforce]: 'restricted' }),
    },
    {
      name: 'leaves a version that was there before',
      templates: [restricted],
      old: at('v1.0'),
      next: at('v1.0', { a: 'b' }),
    },
    {
      name: 'admits no version that was there before in a change that brings the namespace to the template',
      templates: [template({ [enforce]: 'restricted' }, inTeams)],
      old: at('v1.0'),
      next: at('v1.0', { kind: 'team' }),
      refusal: 'cannot change it to "v1.0"',
    },
    {
      name: 'nor where the namespace opts in again',
      templates: [restricted],
      old: { metadata: { ...at('v1.0').metadata, annotations: { [optOutAnnotation]: 'true' } } },
      next: at('v1.0'),
      refusal: 'cannot change it to "v1.0"',
    },
    {
      name: 'leaves it in a later change of a namespace that the template selected',
      templates: [template({ [enforce]: 'restricted' }, inTeams)],
      old: at('v1.0', { kind: 'team' }),
      next: at('v1.0', { kind: 'team', a: 'b' }),
    },
    {
      name: 'admits what the template itself says of the version',
      templates: [template({ [enforce]: 'restricted', [version]: 'v1.30' })],
      next: at('v1.30'),
    },
    {
      name: 'is guarded for audit and warn alike',
      templates: [template({ 'pod-security.kubernetes.io/warn': 'restricted' })],
      next: namespace({
        'pod-security.kubernetes.io/warn': 'restricted',
        'pod-security.kubernetes.io/warn-version': 'v1.0',
      }),
      refusal: 'pod-security.kubernetes.io/warn, and no version of it',
    },
    {
      name: 'says nothing of other labels with a version',
      templates: [template({ size: 'small' })],
      next: namespace({ size: 'small', 'size-version': 'v1.0' }),
    },
  ])('$name', (given) => expectOutcome(given))
})

function expectOutcome(given: Case): void {
  const { refusal } = given
  if (refusal === undefined) check(given)
  else expect(() => check(given)).toThrow(refusal)
}

describe('what a write is stored as', () => {
  const enforced = { [enforce]: 'restricted' }
  const holdersOf = (held: object): string => JSON.stringify({ labels: held, annotations: {} })
  const written = { type: namespaceResource, name: 'n' } as unknown as Attributes
  const changed = (next: KubeObject, old: KubeObject, ...templates: NamespaceTemplate[]) =>
    settleChanged(written, next, old, () => templates.map(compileMatcher)).metadata
  /** Label or annotation by its key, and what is recorded of labels. */
  const shown = ({ labels, annotations }: KubeObject['metadata']): object => {
    const { [metadataHoldersAnnotation]: held } = annotations ?? {}
    return { labels, held: held === undefined ? undefined : (JSON.parse(held) as { labels: unknown }).labels }
  }

  test('a new namespace has what its templates say, and is told of what it said otherwise', () => {
    const warnings: string[] = []
    const told = { warn: (text: string) => void warnings.push(text) }
    const templates = [template({ ...enforced, a: 'b', c: 'd' })]
    const settled = settleNew(told, namespace({ [enforce]: 'baseline', a: 'b' }), () => templates.map(compileMatcher))
    expect(shown(settled.metadata)).toEqual({
      labels: { ...enforced, a: 'b', c: 'd' },
      held: { [enforce]: 't', a: 't', c: 't' },
    })
    expect(warnings).toEqual([`label ${enforce} is not "baseline" here: template "t" sets it to "restricted"`])
  })

  test('one whose name is to come has nothing that goes by it', () => {
    const nameless = { metadata: { generateName: 'n-', labels: {} } } as KubeObject
    const byName = template({ a: 'b' }, { namespaces: { nameSelector: { matchNames: ['*'] } } })
    const named = { ...template({ of: '$(NAMESPACE)' }), metadata: { name: 'u' } }
    const plain = {
      metadata: { name: 'v' },
      spec: { ...template({ c: 'd' }).spec, namespaces: {} },
    } as NamespaceTemplate
    const bare = { metadata: { name: 'w' } } as NamespaceTemplate
    const all = [byName, named, plain, bare].map(compileMatcher)
    expect(settleNew({ warn() {} }, nameless, () => all).metadata.labels).toEqual({ c: 'd' })
  })

  test.each<[string, KubeObject, KubeObject, NamespaceTemplate[], object]>([
    [
      'brings it to a template',
      namespace({ team: 'a' }),
      namespace({}),
      [template(enforced, { namespaces: { labelSelector: { matchLabels: { team: 'a' } } } })],
      { labels: { team: 'a', ...enforced }, held: { [enforce]: 't' } },
    ],
    [
      'leaves what was otherwise before, and is no holder of it',
      namespace({ [enforce]: 'baseline', x: 'y' }),
      namespace({ [enforce]: 'baseline' }),
      [restricted],
      { labels: { [enforce]: 'baseline', x: 'y' }, held: undefined },
    ],
    [
      'keeps the record of what is left to be taken away',
      namespace({ old: '1', x: 'y' }, { old: 't' }),
      namespace({ old: '1' }, { old: 't' }),
      [template({})],
      { labels: { old: '1', x: 'y' }, held: { old: 't' } },
    ],
    [
      'has as its own what the client gave another value',
      namespace({ old: '2' }, { old: 't' }),
      namespace({ old: '1' }, { old: 't' }),
      [template({})],
      { labels: { old: '2' }, held: undefined },
    ],
    [
      'lets go of what a template that is gone had set, or one that leaves behind what it made',
      namespace({ old: '1', kept: '1', x: 'y' }, { old: 'gone', kept: 't' }),
      namespace({ old: '1', kept: '1' }, { old: 'gone', kept: 't' }),
      [template({}, { deletionPolicy: 'Orphan' })],
      { labels: { old: '1', kept: '1', x: 'y' }, held: undefined },
    ],
  ])('a change %s', (_, next, old, templates, stored) => {
    expect(shown(changed(next, old, ...templates))).toEqual(stored)
  })

  test('a change of neither labels nor annotations is stored as it is', () => {
    const next = { ...namespace({ [enforce]: 'baseline' }), spec: {} } as KubeObject
    expect(settleChanged(written, next, namespace({ [enforce]: 'baseline' }), () => [compileMatcher(restricted)])).toBe(
      next,
    )
    const bare: KubeObject = { metadata: { name: 'n' } }
    const empty: KubeObject = { metadata: { name: 'n', labels: {}, annotations: {} } }
    expect(settleChanged(written, empty, bare, () => [compileMatcher(restricted)])).toBe(empty)
    expect(settleChanged(written, bare, empty, () => [compileMatcher(restricted)])).toBe(bare)
    const noted: KubeObject = { metadata: { name: 'n', annotations: { a: 'b' } } }
    expect(changed(noted, bare, restricted).annotations).toEqual({ a: 'b' })
    expect(changed(bare, noted, restricted)).toEqual({ name: 'n' })
  })

  test('a write that is made of other versions than there are is a conflict', () => {
    const settles = 'policy.borough.dev/settles'
    const made = (of: object): KubeObject => ({
      metadata: { name: 'n', labels: enforced, annotations: { a: 'b', [settles]: JSON.stringify(of) } },
    })
    const old = namespace({})
    const { annotations } = changed(made({ t: 1 }), old, restricted)
    expect(annotations).toEqual({ a: 'b', [metadataHoldersAnnotation]: holdersOf({ [enforce]: 't' }) })
    for (const [of, outdated] of [
      [{ t: 2 }, 't'],
      [{ t: 1, gone: 1 }, 'gone'],
    ] as const) {
      expect(() => changed(made(of), old, restricted)).toThrow(
        `template "${outdated}" has another generation than this write is made of`,
      )
    }
  })
})

test('what a namespace gives must make labels: it is told which does not, once', () => {
  const given: NamespaceTemplate = {
    metadata: { name: 't' },
    spec: {
      parameters: [{ name: 'p', fromAnnotation: 'p' }],
      namespaceMetadata: { labels: { of: '$(p)' } },
    },
  }
  const noted = (p: string, more: object = {}): KubeObject => ({ metadata: { name: 'n', annotations: { p, ...more } } })
  const templates = [given]
  expect(() => check({ name: '', templates, next: noted('a b') })).toThrow(
    '"n" is invalid: metadata.labels[of]: Invalid value: "a b": template "t" makes this of what the ' +
      'namespace gives: ',
  )
  expect(() => check({ name: '', templates, old: noted('a b'), next: noted('c d') })).toThrow('"c d"')
  check({ name: '', templates, old: noted('a b'), next: noted('a b', { more: 'x' }) })
})
