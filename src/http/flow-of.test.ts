import { expect, test } from 'vitest'
import { flowOf } from './flow-of.ts'

test.each([
  ['ann', 'user ann'],
  ['system:serviceaccount:team-a:builder', 'service accounts of team-a'],
  ['system:serviceaccount:team-a:deployer', 'service accounts of team-a'],
  [
    'system:serviceaccount:kube-system:namespace-controller',
    'user system:serviceaccount:kube-system:namespace-controller',
  ],
  ['service accounts of team-a', 'user service accounts of team-a'],
])('%s is of the flow %s', (username, flow) => {
  expect(flowOf(username)).toBe(flow)
})
