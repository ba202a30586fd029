import { expect, test } from 'vitest'
import { flowOf, flowOfCaller } from './flow-of.ts'

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
  expect(flowOfCaller(username, '192.0.2.7')).toBe(flow)
})

test.each([
  ['192.0.2.7', 'address 192.0.2.7'],
  ['::ffff:192.0.2.7', 'address 192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', 'address 2001:db8:1:2::/64'],
])('a client at %s without credentials is of the flow %s', (remoteAddress, flow) => {
  expect(flowOfCaller('system:anonymous', remoteAddress)).toBe(flow)
})
