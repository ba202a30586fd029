import { expect, test } from 'vitest'
import { faultsOf } from '../../../test/support/refusal.ts'
import type { KubeObject } from '../../kube/types.ts'
import { scaleOf, validateScale, withScale } from './scale.ts'

const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', namespace: 'n', uid: 'u', resourceVersion: '7', labels: { a: 'b' } },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'x' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['b', 'a'] }] },
  },
  status: { replicas: 2 },
}

test('a scale says how many there are to be, how many there are, and which', () => {
  expect(scaleOf(deployment)).toEqual({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'd', namespace: 'n', uid: 'u', resourceVersion: '7' },
    spec: { replicas: 3 },
    status: { replicas: 2, selector: 'app=x,tier in (a,b)' },
  })
})

test('none wanted is an empty spec; plain selectors are printed too', () => {
  const controller = { metadata: { name: 'c' }, spec: { replicas: 0, selector: { b: '2', a: '1' } } }
  expect(scaleOf(controller)).toMatchObject({ spec: {}, status: { replicas: 0, selector: 'a=1,b=2' } })
})

test('writing a scale changes the number and nothing else', () => {
  const scale: KubeObject = { metadata: { name: 'd' }, spec: { replicas: 5 } }
  const { resourceVersion: _, ...metadata } = deployment.metadata
  const spec = { ...(deployment['spec'] as object), replicas: 5 }
  expect(withScale(deployment, scale)).toEqual({ ...deployment, metadata, spec })
  expect(withScale(deployment, { metadata: { resourceVersion: '9' } })).toMatchObject({
    metadata: { resourceVersion: '9', uid: 'u' },
    spec: { replicas: 0 },
  })
})

test('fewer than none is refused', () => {
  expect(faultsOf(validateScale({ metadata: {}, spec: { replicas: -1 } }))).toEqual([
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ])
  expect(validateScale({ metadata: {}, spec: {} })).toEqual([])
})
