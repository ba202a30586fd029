import { describe, expect, test } from 'vitest'
import { parseRequestInfo } from './request-info.ts'

const cases: { name: string; method?: string; path: string; query?: string; want: Record<string, unknown> }[] = [
  {
    name: 'a namespace is its own namespace',
    path: '/api/v1/namespaces/x',
    want: { verb: 'get', resource: 'namespaces', name: 'x', namespace: 'x', subresource: '' },
  },
  {
    name: 'finalize is a sub-resource of the namespace',
    method: 'PUT',
    path: '/api/v1/namespaces/x/finalize',
    want: { verb: 'update', resource: 'namespaces', name: 'x', namespace: 'x', subresource: 'finalize' },
  },
  {
    name: 'any other third segment is a resource in the namespace',
    path: '/api/v1/namespaces/x/pods',
    want: { verb: 'list', resource: 'pods', namespace: 'x', name: '' },
  },
  {
    name: 'groups have one more segment',
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/x/deployments/d/scale',
    want: { verb: 'patch', group: 'apps', version: 'v1', resource: 'deployments', name: 'd', subresource: 'scale' },
  },
  {
    name: 'DELETE without a name is deletecollection',
    method: 'DELETE',
    path: '/api/v1/namespaces/x/pods',
    want: { verb: 'deletecollection' },
  },
  { name: 'watch=foo watches', path: '/api/v1/pods', query: 'watch=foo', want: { verb: 'watch' } },
  { name: 'watch=0 lists', path: '/api/v1/pods', query: 'watch=0', want: { verb: 'list' } },
  {
    name: 'watch on one object is a plain get',
    path: '/api/v1/namespaces/x',
    query: 'watch=true',
    want: { verb: 'get' },
  },
  {
    name: 'the legacy watch path always watches',
    path: '/api/v1/watch/namespaces/x/pods',
    want: { verb: 'watch', resource: 'pods', namespace: 'x', legacy: true },
  },
  {
    name: 'the legacy list path lists all namespaces',
    path: '/api/v1/list/pods',
    want: { verb: 'list', resource: 'pods', namespace: '', legacy: true },
  },
  {
    name: 'a field selector on the name gives the request that name',
    path: '/api/v1/namespaces',
    query: 'fieldSelector=metadata.name%3Dx',
    want: { verb: 'list', name: 'x' },
  },
  {
    name: 'an empty namespace in the path means all of them',
    path: '/api/v1/namespaces//pods',
    want: { verb: 'list', resource: 'pods', namespace: '', name: '' },
  },
  { name: 'a group alone is not a resource request', path: '/apis/apps/v1', want: { isResource: false, verb: 'get' } },
  { name: 'broken percent encoding is not a resource request', path: '/api/v1/pods/%zz', want: { isResource: false } },
]

describe('request info', () => {
  test.each(cases)('$name', ({ method, path, query, want }) => {
    expect(parseRequestInfo(method ?? 'GET', path, query ?? '')).toMatchObject(want)
  })
})
