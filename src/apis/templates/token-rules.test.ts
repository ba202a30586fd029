/** Where tokens may stand in the objects of a template, and what is said of those that may not. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../kube/types.ts'
import { isKeyOfKubernetes, tokenErrors } from './token-rules.ts'
import type { TemplateParameter } from './types.ts'

const size: TemplateParameter = { name: 'size', fromLabel: 'size' }
const tier: TemplateParameter = { name: 'tier', fromLabel: 'tier', enum: ['a', 'b'] }
const told = (object: JsonObject): string[] =>
  tokenErrors(object, 'f', [size, tier]).map(({ field, body }) => `${field}: ${body}`)
const of = (type: string, more: JsonObject): JsonObject => {
  const at = type.lastIndexOf('/')
  return { apiVersion: type.slice(0, at), kind: type.slice(at + 1), ...more }
}
const noParameter = (field: string, name = 'size'): string =>
  `${field}: Forbidden: parameter "${name}" can not stand here: its value is chosen by a user who may label ` +
  'namespaces, and it may only stand where it grants and selects nothing: in data of ConfigMaps, amounts of ' +
  'ResourceQuotas and LimitRanges, labels, annotations of these three kinds, and values of env of containers'

describe('no token', () => {
  test('stands in a key', () => {
    expect(told(of('v1/ConfigMap', { data: { '$(NAMESPACE)': 'x' } }))).toEqual([
      'f: Invalid value: "$(NAMESPACE)": tokens are replaced in values, never in keys',
    ])
  })

  test.each(['apiVersion', 'kind'])('stands in %s', (key) => {
    expect(told({ apiVersion: 'v1', kind: 'ConfigMap', [key]: '$(NAMESPACE)' })).toEqual([
      `f.${key}: Invalid value: "$(NAMESPACE)": a token can not stand here: the rights of the author depend on the ` +
        'kind of the object',
    ])
    // The same word elsewhere is a field like others.
    expect(told(of('v1/ConfigMap', { data: { [key]: '$(NAMESPACE)' } }))).toEqual([])
  })

  test('stands in the role that is bound', () => {
    expect(told(of('rbac.authorization.k8s.io/v1/RoleBinding', { roleRef: { name: '$(CREATOR)' } }))).toEqual([
      'f.roleRef.name: Invalid value: "$(CREATOR)": a token can not stand here: the rights of the author depend on ' +
        'the role that is bound',
    ])
  })

  test('has another name: what is meant as text is escaped', () => {
    const known = '$(CREATOR), $(OWNER), $(NAMESPACE), $(size), $(tier)'
    expect(told(of('v1/ConfigMap', { data: { a: 'x $(CREATER)', b: '$$(CREATER)', c: '$( size )' } }))).toEqual([
      `f.data.a: Invalid value: "x $(CREATER)": $(CREATER) is no token: there are ${known}. The text itself is ` +
        'written $$(CREATER)',
      expect.stringMatching(/^f\.data\.c: Invalid value: "\$\( size \)": \$\( size \) is no token/),
    ])
    expect(tokenErrors({ data: { a: '$(x)' } }, 'f')).toHaveLength(1)
  })

  test('is asked for where Kubernetes itself expands them; parameters that are known are judged there too', () => {
    const container = (more: JsonObject): JsonObject => of('v1/Pod', { spec: { containers: [more] } })
    expect(told(container({ args: ['$(OTHER)'], env: [{ name: 'a', value: '$(OTHER)' }] }))).toEqual([])
    expect(told(container({ args: ['$(size)'] }))).toEqual([noParameter('f.spec.containers[0].args[0]')])
    expect(told(container({ image: '$(OTHER)' }))).toHaveLength(1)
  })
})

describe('a token that every template has may stand in any value', () => {
  test.each(['v1/Secret', 'rbac.authorization.k8s.io/v1/RoleBinding', 'example.com/v1/Thing'])('of %s', (type) => {
    expect(told(of(type, { subjects: [{ name: '$(CREATOR)' }, { name: '$(OWNER)-$(NAMESPACE)' }] }))).toEqual([])
  })
})

describe('a parameter may stand in', () => {
  test.each<{ name: string; object: JsonObject }>([
    { name: 'data of a ConfigMap', object: of('v1/ConfigMap', { data: { a: '$(size)' } }) },
    { name: 'an amount of a quota', object: of('v1/ResourceQuota', { spec: { hard: { pods: '$(size)' } } }) },
    ...['default', 'defaultRequest', 'max', 'maxLimitRequestRatio', 'min'].map((bound) => ({
      name: `${bound} of a LimitRange`,
      object: of('v1/LimitRange', { spec: { limits: [{ type: 'Pod', [bound]: { cpu: '$(size)' } }] } }),
    })),
    { name: 'a label', object: of('apps/v1/Deployment', { metadata: { labels: { a: '$(size)' } } }) },
    {
      name: 'a label of a kind of Kubernetes',
      object: of('a.k8s.io/v1/Thing', { metadata: { labels: { a: '$(size)' } } }),
    },
    {
      name: 'an annotation of a ConfigMap',
      object: of('v1/ConfigMap', { metadata: { annotations: { a: '$(size)' } } }),
    },
    { name: 'the name of such, if it has choices', object: of('v1/ConfigMap', { metadata: { name: 'c-$(tier)' } }) },
    {
      name: 'the value of a variable',
      object: of('apps/v1/Deployment', {
        spec: { template: { spec: { initContainers: [{ env: [{ name: 'a', value: '$(size)' }] }] } } },
      }),
    },
    {
      name: 'the value of a variable of a pod',
      object: of('v1/Pod', { spec: { containers: [{ env: [{ name: 'a', value: '$(size)' }] }] } }),
    },
  ])('$name', ({ object }) => expect(told(object)).toEqual([]))
})

describe('a parameter may not stand in', () => {
  test.each<{ name: string; object: JsonObject; at: string }>([
    { name: 'a Secret', object: of('v1/Secret', { stringData: { a: '$(size)' } }), at: 'stringData.a' },
    {
      name: 'a label of one',
      object: of('v1/Secret', { metadata: { labels: { a: '$(size)' } } }),
      at: 'metadata.labels.a',
    },
    {
      name: 'a label of an account',
      object: of('v1/ServiceAccount', { metadata: { labels: { a: '$(size)' } } }),
      at: 'metadata.labels.a',
    },
    {
      name: 'a label of a pod',
      object: of('v1/Pod', { metadata: { labels: { a: '$(size)' } } }),
      at: 'metadata.labels.a',
    },
    {
      name: 'a label of a binding',
      object: of('rbac.authorization.k8s.io/v1/RoleBinding', { metadata: { labels: { a: '$(size)' } } }),
      at: 'metadata.labels.a',
    },
    {
      name: 'a label that Kubernetes acts upon',
      object: of('v1/ConfigMap', { metadata: { labels: { 'app.kubernetes.io/name': '$(size)' } } }),
      at: 'metadata.labels[app.kubernetes.io/name]',
    },
    {
      name: 'an annotation that Kubernetes acts upon',
      object: of('v1/ConfigMap', { metadata: { annotations: { 'k8s.io/a': '$(size)' } } }),
      at: 'metadata.annotations[k8s.io/a]',
    },
    {
      name: 'the consent of a source',
      object: of('v1/ConfigMap', { metadata: { annotations: { 'policy.borough.dev/clone-to': '$(size)' } } }),
      at: 'metadata.annotations[policy.borough.dev/clone-to]',
    },
    {
      name: 'a label of ours',
      object: of('v1/ConfigMap', { metadata: { labels: { 'policy/a': '$(size)' } } }),
      at: 'metadata.labels[policy/a]',
    },
    {
      name: 'an annotation of another kind',
      object: of('apps/v1/Deployment', { metadata: { annotations: { a: '$(size)' } } }),
      at: 'metadata.annotations.a',
    },
    {
      name: 'labels of what is in it',
      object: of('apps/v1/Deployment', { spec: { template: { metadata: { labels: { a: '$(size)' } } } } }),
      at: 'spec.template.metadata.labels.a',
    },
    {
      name: 'a name without choices',
      object: of('v1/ConfigMap', { metadata: { name: '$(size)' } }),
      at: 'metadata.name',
    },
    { name: 'binaryData', object: of('v1/ConfigMap', { binaryData: { a: '$(size)' } }), at: 'binaryData.a' },
    {
      name: 'scopes of a quota',
      object: of('v1/ResourceQuota', { spec: { scopes: ['$(size)'] } }),
      at: 'spec.scopes[0]',
    },
    {
      name: 'hard elsewhere',
      object: of('v1/ResourceQuota', { status: { hard: { a: '$(size)' } } }),
      at: 'status.hard.a',
    },
    {
      name: 'the type of a limit',
      object: of('v1/LimitRange', { spec: { limits: [{ type: '$(size)' }] } }),
      at: 'spec.limits[0].type',
    },
    {
      name: 'limits elsewhere',
      object: of('v1/LimitRange', { data: { limits: [{ max: { a: '$(size)' } }] } }),
      at: 'data.limits[0].max.a',
    },
    {
      name: 'other parts of a LimitRange',
      object: of('v1/LimitRange', { spec: { other: [{ max: { a: '$(size)' } }] } }),
      at: 'spec.other[0].max.a',
    },
    {
      name: 'data of a custom ConfigMap',
      object: of('example.com/v1/ConfigMap', { data: { a: '$(size)' } }),
      at: 'data.a',
    },
    {
      name: 'a label of a custom kind',
      object: of('example.com/v1/A', { metadata: { labels: { a: '$(size)' } } }),
      at: 'metadata.labels.a',
    },
    {
      name: 'a group that only looks like one',
      object: of('k8s.io.example.com/v1/A', { metadata: { labels: { a: '$(size)' } } }),
      at: 'metadata.labels.a',
    },
    {
      name: 'a version that is none',
      object: { apiVersion: 'a/b/c', kind: 'ConfigMap', data: { a: '$(size)' } },
      at: 'data.a',
    },
    {
      name: 'a variable of a custom kind',
      object: of('example.com/v1/A', { containers: [{ env: [{ name: 'a', value: '$(size)' }] }] }),
      at: 'containers[0].env[0].value',
    },
    {
      name: 'the name of a variable',
      object: of('apps/v1/Deployment', { spec: { containers: [{ env: [{ name: '$(size)' }] }] } }),
      at: 'spec.containers[0].env[0].name',
    },
  ])('$name', ({ object, at }) => expect(told(object)).toEqual([noParameter(`f.${at}`)]))

  test('and is named, behind tokens that may', () => {
    const object = of('v1/Secret', { stringData: { a: '$(CREATOR) $$(size) $(tier) $(size)' } })
    expect(told(object)).toEqual([noParameter('f.stringData.a', 'tier')])
  })
})

test.each([
  ['a', false],
  ['example.com/a', false],
  ['kubernetes.io/a', true],
  ['app.kubernetes.io/a', true],
  ['k8s.io/a', true],
  ['x.k8s.io/a', true],
  ['mykubernetes.io/a', false],
  ['kubernetes.io', false],
  ['kubernetes.io.example.com/a', false],
])('Kubernetes acts upon %s: %s', (key, is) => expect(isKeyOfKubernetes(key)).toBe(is))
