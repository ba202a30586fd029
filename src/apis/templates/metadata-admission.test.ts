import { describe, expect, test } from 'vitest'
import type { Attributes } from '../../admission/admission.ts'
import type { KubeObject } from '../../kube/types.ts'
import { namespaceResource } from '../namespaces/types.ts'
import { compileMatcher } from './match.ts'
import { checkMetadata } from './metadata-admission.ts'
import { metadataHoldersAnnotation, type NamespaceTemplate } from './types.ts'

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
