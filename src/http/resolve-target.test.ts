import { describe, expect, test } from 'vitest'
import type { ResourceType, ResourceTypes } from '../kube/resource-type.ts'
import { parseRequestInfo } from './request-info.ts'
import { resolutionOf } from './resolve-target.ts'

const typeOf = (group: string, resource: string, namespaced: boolean): ResourceType =>
  ({ group, version: 'v1', resource, namespaced }) as ResourceType
const all = [
  typeOf('', 'namespaces', false),
  typeOf('', 'nodes', false),
  typeOf('', 'pods', true),
  typeOf('example.org', 'namespaces', true),
  typeOf('example.org', 'boroughs', false),
]
const types = {
  find: ({ group, version, resource }) =>
    all.find((type) => type.group === group && type.resource === resource && version === 'v1'),
  hasGroup: (group) => all.some((type) => type.group === group),
} as ResourceTypes

const resolved = (path: string, method = 'GET'): unknown => {
  const resolution = resolutionOf(types, parseRequestInfo(method, path, ''))
  if (typeof resolution === 'string') return resolution
  const { type, verb, namespace, name, subresource } = resolution
  return { type: type.resource, verb, namespace, name, subresource }
}

describe('what a path is about', () => {
  test.each<{ name: string; path: string; method?: string; want: unknown }>([
    {
      name: 'objects of a namespace',
      path: '/api/v1/namespaces/a/pods',
      want: { type: 'pods', verb: 'list', namespace: 'a', name: '', subresource: '' },
    },
    {
      name: 'a sub-resource of one of them',
      path: '/api/v1/namespaces/a/pods/p/status',
      method: 'PUT',
      want: { type: 'pods', verb: 'update', namespace: 'a', name: 'p', subresource: 'status' },
    },
    {
      name: 'objects of all namespaces',
      path: '/api/v1/pods',
      want: { type: 'pods', verb: 'list', namespace: '', name: '', subresource: '' },
    },
    {
      name: 'the same with an empty namespace',
      path: '/api/v1/namespaces//pods',
      want: { type: 'pods', verb: 'list', namespace: '', name: '', subresource: '' },
    },
    {
      name: 'a namespace, which is in none',
      path: '/api/v1/namespaces/a',
      want: { type: 'namespaces', verb: 'get', namespace: '', name: 'a', subresource: '' },
    },
    {
      name: 'all namespaces',
      path: '/api/v1/namespaces',
      want: { type: 'namespaces', verb: 'list', namespace: '', name: '', subresource: '' },
    },
    {
      name: 'an object of the cluster',
      path: '/api/v1/nodes/n',
      want: { type: 'nodes', verb: 'get', namespace: '', name: 'n', subresource: '' },
    },
    {
      name: 'objects of a namespace whose type is called namespaces',
      path: '/apis/example.org/v1/namespaces/a/namespaces/x',
      want: { type: 'namespaces', verb: 'get', namespace: 'a', name: 'x', subresource: '' },
    },
    { name: 'no resource', path: '/metrics', want: 'no resource' },
    { name: 'no type of the group', path: '/api/v1/parrots', want: 'no such type' },
    { name: 'no version of the type', path: '/api/v2/pods', want: 'no such type' },
    { name: 'no such group', path: '/apis/other.org/v1/pods', want: 'no such group' },
  ])('$name', ({ path, method, want }) => expect(resolved(path, method)).toEqual(want))

  test.each([
    { name: 'a type of the cluster under a namespace', path: '/api/v1/namespaces/a/nodes' },
    { name: 'the same under an empty one', path: '/api/v1/namespaces//nodes' },
    { name: 'an object of the cluster under a namespace', path: '/apis/example.org/v1/namespaces/a/boroughs/b' },
    { name: 'the namespaces under a namespace', path: '/api/v1/namespaces/a/namespaces' },
    { name: 'one of them', path: '/api/v1/namespaces/a/namespaces/b' },
    { name: 'the same as a legacy watch', path: '/api/v1/watch/namespaces/a/namespaces' },
    { name: 'an object of a namespace without a namespace', path: '/api/v1/pods/p' },
    { name: 'the same with an empty namespace', path: '/api/v1/namespaces//pods/p' },
    { name: 'a namespaced type called namespaces, without its namespace', path: '/apis/example.org/v1/namespaces/a' },
    { name: 'its status, without a namespace', path: '/apis/example.org/v1/namespaces/a/status' },
    { name: 'an empty name', path: '/api/v1/namespaces/a/pods//status' },
    { name: 'more than a sub-resource', path: '/api/v1/namespaces/a/pods/p/status/more' },
    { name: 'more than a sub-resource of the cluster', path: '/api/v1/nodes/n/status/more' },
  ])('is no route: $name', ({ path }) => expect(resolved(path)).toBe('no such path'))
})
