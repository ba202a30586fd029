import { expect, it } from 'vitest'
import { compareVersions } from '../../kube/version-order.ts'
import { compareGroups } from './groups.ts'

it('orders versions as upstream does: stable, beta, alpha, each newest first, then the rest by name', () => {
  const want = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10']
  expect(want.toReversed().sort(compareVersions)).toEqual(want)
})

it('orders groups by priority, unknown ones last by name', () => {
  const builtIn = ['', 'apiregistration.k8s.io', 'apps', 'policy.borough.dev', 'policy', 'resource.k8s.io']
  const want = [...builtIn, 'a.example.com', 'b.example.com']
  expect(want.toReversed().sort(compareGroups)).toEqual(want)
})
