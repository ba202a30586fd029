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
  {
    name: 'a method that a peer of HTTP/2 made up is no verb',
    method: 'constructor',
    path: '/api/v1/namespaces/x/pods',
    want: { isResource: true, verb: '' },
  },
  {
    name: 'the first API has no group',
    path: '/api/v1/nodes/a',
    want: { group: '', version: 'v1', resource: 'nodes', name: 'a', namespace: '', underNamespace: false },
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
  {
    name: 'POST to finalize replaces the finalizers, so it is an update',
    method: 'POST',
    path: '/api/v1/namespaces/x/finalize',
    want: { verb: 'update', resource: 'namespaces', name: 'x', subresource: 'finalize' },
  },
  {
    name: 'PATCH of finalize is patch',
    method: 'PATCH',
    path: '/api/v1/namespaces/x/finalize',
    want: { verb: 'patch', name: 'x', subresource: 'finalize' },
  },
  {
    name: 'GET of finalize is get',
    path: '/api/v1/namespaces/x/finalize',
    want: { verb: 'get', name: 'x', subresource: 'finalize' },
  },
  {
    name: 'POST to a legacy watch of finalize is a watch',
    method: 'POST',
    path: '/api/v1/watch/namespaces/x/finalize',
    want: { verb: 'watch', name: 'x', subresource: 'finalize', legacy: true },
  },
  {
    name: 'POST to a legacy watch with a field selector on the name is a watch of that name',
    method: 'POST',
    path: '/api/v1/watch/pods',
    query: 'fieldSelector=metadata.name%3Dx',
    want: { verb: 'watch', name: 'x', legacy: true },
  },
  {
    name: 'POST to another sub-resource creates',
    method: 'POST',
    path: '/api/v1/namespaces/x/serviceaccounts/s/token',
    want: { verb: 'create', resource: 'serviceaccounts', name: 's', subresource: 'token', underNamespace: true },
  },
  {
    name: 'POST to finalize of something else creates',
    method: 'POST',
    path: '/api/v1/nodes/x/finalize',
    want: { verb: 'create', resource: 'nodes', name: 'x', subresource: 'finalize' },
  },
  {
    name: 'status is a sub-resource of the namespace',
    path: '/api/v1/namespaces/x/status',
    want: { verb: 'get', resource: 'namespaces', name: 'x', subresource: 'status', underNamespace: false },
  },
  { name: 'HEAD is get', method: 'HEAD', path: '/api/v1/namespaces/x', want: { verb: 'get', name: 'x' } },
  { name: 'HEAD without a name is list', method: 'HEAD', path: '/api/v1/pods', want: { verb: 'list' } },
  { name: 'POST is create', method: 'POST', path: '/api/v1/namespaces', want: { verb: 'create', namespace: '' } },
  { name: 'PUT is update', method: 'PUT', path: '/api/v1/namespaces/x', want: { verb: 'update' } },
  { name: 'DELETE with a name is delete', method: 'DELETE', path: '/api/v1/namespaces/x', want: { verb: 'delete' } },
  {
    name: 'an unknown method has no verb',
    method: 'TRACE',
    path: '/api/v1/pods',
    want: { isResource: true, verb: '' },
  },
  {
    name: 'the whole of what is known of a collection',
    path: '/apis/apps/v1/namespaces/x/deployments',
    want: {
      isResource: true,
      path: '/apis/apps/v1/namespaces/x/deployments',
      group: 'apps',
      version: 'v1',
      underNamespace: true,
      legacy: false,
      parts: ['deployments'],
      subresource: '',
    },
  },
  {
    name: 'the whole of what is known of another path',
    method: 'DELETE',
    path: '/metrics/slis',
    query: 'a=b',
    want: {
      isResource: false,
      verb: 'delete',
      path: '/metrics/slis',
      group: '',
      version: '',
      namespace: '',
      underNamespace: false,
      legacy: false,
      resource: '',
      subresource: '',
      name: '',
      parts: [],
    },
  },
  {
    name: 'a legacy watch of one object watches',
    path: '/api/v1/watch/namespaces/x/pods/p',
    want: { verb: 'watch', resource: 'pods', name: 'p', namespace: 'x', legacy: true },
  },
  {
    name: 'a legacy watch is a watch by any method, and says that it is legacy',
    method: 'DELETE',
    path: '/api/v1/watch/pods',
    want: { verb: 'watch', resource: 'pods', legacy: true },
  },
  {
    name: 'a legacy list is a list of what follows, and of no more',
    path: '/api/v1/list/pods/p',
    want: { resource: 'list', name: 'pods', subresource: 'p', legacy: false },
  },
  {
    name: 'a type may be called watch',
    path: '/api/v1/watch',
    want: { verb: 'list', resource: 'watch', legacy: false },
  },
  { name: 'a type may be called list', path: '/api/v1/list', want: { verb: 'list', resource: 'list', legacy: false } },
  {
    name: 'the namespaces are no namespace',
    path: '/api/v1/namespaces',
    want: { verb: 'list', resource: 'namespaces', namespace: '', name: '', underNamespace: false },
  },
  { name: 'slashes at the ends vanish', path: '//api/v1/pods//', want: { resource: 'pods', parts: ['pods'] } },
  {
    name: 'a slash that is escaped belongs to the name',
    path: '/api/v1/nodes/a%2Fb',
    want: { resource: 'nodes', name: 'a/b', parts: ['nodes', 'a/b'] },
  },
  { name: 'api alone is not about a resource', path: '/api/v1', want: { isResource: false } },
  { name: 'apis alone is not about a resource', path: '/apis/apps', want: { isResource: false } },
  { name: 'what begins otherwise is not about a resource', path: '/a/v1/pods/p/x', want: { isResource: false } },
  { name: 'nothing is not about a resource', path: '/', want: { isResource: false, path: '/' } },
  {
    name: 'a watch with a field selector on the name gives the request that name',
    path: '/api/v1/namespaces',
    query: 'watch=1&fieldSelector=metadata.name%3Dx',
    want: { verb: 'watch', name: 'x' },
  },
  {
    name: 'deletecollection with a field selector on the name gives the request that name',
    method: 'DELETE',
    path: '/api/v1/namespaces/n/pods',
    query: 'fieldSelector=metadata.name%3Dx',
    want: { verb: 'deletecollection', name: 'x' },
  },
  {
    name: 'a field selector means nothing to a create',
    method: 'POST',
    path: '/api/v1/namespaces',
    query: 'fieldSelector=metadata.name%3Dx',
    want: { verb: 'create', name: '' },
  },
  {
    name: 'nor where the path names an object',
    path: '/api/v1/watch/namespaces/a',
    query: 'fieldSelector=metadata.name%3Dx',
    want: { verb: 'watch', name: 'a' },
  },
  {
    name: 'a field selector that excludes a name pins none',
    path: '/api/v1/namespaces',
    query: 'fieldSelector=metadata.name!%3Dx',
    want: { name: '' },
  },
  {
    name: 'a field selector on something else pins none',
    path: '/api/v1/namespaces',
    query: 'fieldSelector=status.phase%3Dmetadata.name',
    want: { name: '' },
  },
  {
    name: "a field selector that can't be read pins none",
    path: '/api/v1/namespaces',
    query: 'fieldSelector=metadata.name',
    want: { name: '' },
  },
  {
    name: 'nor one of which a part can be read',
    path: '/api/v1/namespaces',
    query: 'fieldSelector=metadata.name%3Dx,y',
    want: { name: '' },
  },
  {
    name: 'nor does one on a field whose name ends as that of the name does',
    path: '/api/v1/namespaces',
    query: 'fieldSelector=spec.metadata.name%3Dx',
    want: { name: '' },
  },
  { name: 'watch=false lists', path: '/api/v1/pods', query: 'watch=false', want: { verb: 'list' } },
  { name: 'watch without a value watches', path: '/api/v1/pods', query: 'watch', want: { verb: 'watch' } },
  { name: 'a group alone is not a resource request', path: '/apis/apps/v1', want: { isResource: false, verb: 'get' } },
  { name: 'broken percent encoding is not a resource request', path: '/api/v1/pods/%zz', want: { isResource: false } },
]

describe('request info', () => {
  test.each(cases)('$name', ({ method, path, query, want }) => {
    expect(parseRequestInfo(method ?? 'GET', path, query ?? '')).toMatchObject(want)
  })

  test('the query is read once', () => {
    expect(parseRequestInfo('GET', '/api/v1/pods', 'limit=1&watch=0').query.get('limit')).toBe('1')
    expect(parseRequestInfo('GET', '/metrics', 'a=b').query.get('a')).toBe('b')
    expect([...parseRequestInfo('GET', '/api/v1/pods', '').query]).toEqual([])
  })
})

test('attack: of a path of thousands of elements no more are looked at than a route has', () => {
  const { parts, resource, isResource } = parseRequestInfo('GET', `/api/v1/pods/${'a/'.repeat(30_000)}b`, '')
  expect({ isResource, resource }).toEqual({ isResource: true, resource: 'pods' })
  expect(parts).toHaveLength(62)
})
