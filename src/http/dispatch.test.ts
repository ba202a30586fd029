/** Which verb does what a path asks for, and what is no request at all. */
import { expect, test } from 'vitest'
import { loadCatalog } from '../catalog/catalog.ts'
import { type ResourceType, requiredType } from '../kube/resource-type.ts'
import type { ApiRequest, ApiResponse, RequestContext } from './api.ts'
import { type DispatchDeps, dispatcher } from './dispatch.ts'
import { parseRequestInfo } from './request-info.ts'
import { resolveTarget } from './resolve-target.ts'

const { types } = loadCatalog()
const core = (resource: string): ResourceType => requiredType(types, { group: '', version: 'v1', resource })
const custom: ResourceType = {
  ...core('configmaps'),
  ...{
    group: 'ex.io',
    resource: 'widgets',
    kind: 'Widget',
    custom: true,
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
  },
  deprecationWarning: 'ex.io/v1 Widget is old',
}
types.change({ add: [custom] })

const text = ({ body }: ApiResponse): string => Buffer.from(body as Uint8Array).toString()
const answer = (said: string): ApiResponse => ({ status: 200, headers: {}, body: Buffer.from(said) })
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const
const deps: DispatchDeps = {
  verbs: Object.fromEntries(verbs.map((verb) => [verb, () => answer(verb)])) as unknown as DispatchDeps['verbs'],
  special: new Map([
    ['serviceaccounts/token', { create: () => answer('a token') }],
    ['*/scale', { get: () => answer('a scale') }],
  ]),
  answered: new Map(
    ['subjectaccessreviews', 'localsubjectaccessreviews', 'pods'].map((resource) => [
      resource === 'pods' ? resource : `${resource}.authorization.k8s.io`,
      () => answer('a review'),
    ]),
  ),
  documents: (path) => (path === '/version' ? () => answer('the version') : undefined),
  knownPaths: () => ['/version'],
  onUnknown: ({ resource }) => {
    if (resource === 'damaged') throw new Error('it is damaged')
  },
}

async function ask(asked: string): Promise<{ said: string; warnings: string[] }> {
  const [method = '', target = ''] = asked.split(' ')
  const [path = '', query = ''] = target.split('?')
  const request = { method, path, query, headers: {} } as unknown as ApiRequest
  const info = parseRequestInfo(method, path, query)
  const context = { info, warnings: [], user: { username: 'a', groups: [] } } as unknown as RequestContext
  try {
    const answered = await resolveTarget(types)(dispatcher(deps))(request, context)
    return { said: `${answered.status} ${text(answered).trim()}`, warnings: context.warnings }
  } catch (error) {
    const { code, message } = error as { code?: number; message: string }
    return { said: `${code ?? 'fault'} ${message}`, warnings: context.warnings }
  }
}

const notFound = '404 the server could not find the requested resource'
const notAllowed = '405 the server does not allow this method on the requested resource'
const inNs = '/api/v1/namespaces/ns'

test.each([
  ['GET /version', '200 the version'],
  ['GET /nothing', '404 {"paths":["/version"]}'],
  ['GET /apis/none.io/v1/things', '404 404 page not found'],
  ['GET /api/v1/things', notFound],
  ['GET /api/v1/damaged', 'fault it is damaged'],
  ['GET /api/v1/pods', '200 list'],
  ['HEAD /api/v1/pods', notAllowed],
  ['HEAD /version', '200 the version'],
  ['GET /api/v1/watch/pods', '200 watch'],
  ['POST /api/v1/watch/pods', notAllowed],
  ['DELETE /api/v1/watch/pods', notAllowed],
  ['POST /api/v1/pods', notAllowed],
  ['DELETE /api/v1/pods', notAllowed],
  [`POST ${inNs}/pods`, '200 create'],
  [`DELETE ${inNs}/pods`, '200 deletecollection'],
  [`GET ${inNs}/pods?watch=1`, '200 watch'],
  [`GET ${inNs}/pods/p`, '200 get'],
  [`PUT ${inNs}/pods/p`, '200 update'],
  [`PATCH ${inNs}/pods/p`, '200 patch'],
  [`DELETE ${inNs}/pods/p`, '200 delete'],
  [`POST ${inNs}/pods/p`, notAllowed],
  [`PUT ${inNs}/pods`, notAllowed],
  [`PATCH ${inNs}/pods`, notAllowed],
  ['POST /api/v1/nodes', '200 create'],
  ['DELETE /api/v1/nodes', '200 deletecollection'],
  // Sub-resources: a part of the object, something else, and what is none.
  [`GET ${inNs}/pods/p/status`, '200 get'],
  [`PATCH ${inNs}/pods/p/status`, '200 patch'],
  [`DELETE ${inNs}/pods/p/status`, notAllowed],
  [`GET ${inNs}/pods/p/none`, notFound],
  [`POST ${inNs}/serviceaccounts/s/token`, '200 a token'],
  [`GET ${inNs}/serviceaccounts/s/token`, notAllowed],
  ['GET /apis/apps/v1/namespaces/ns/deployments/d/scale', '200 a scale'],
  ['PUT /apis/apps/v1/namespaces/ns/deployments/d/scale', 'fault deployments.apps/scale has no handler for update'],
  [`GET ${inNs}/pods/p/log`, 'fault pods/log has no handler'],
  // Reviews are answered, and not kept.
  ['POST /apis/authorization.k8s.io/v1/subjectaccessreviews', '200 a review'],
  ['GET /apis/authorization.k8s.io/v1/subjectaccessreviews', notAllowed],
  ['POST /apis/authorization.k8s.io/v1/subjectaccessreviews/x', notAllowed],
  [
    'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    'fault selfsubjectaccessreviews.authorization.k8s.io is not stored, and nobody answers it',
  ],
  ['POST /apis/authorization.k8s.io/v1/namespaces/ns/localsubjectaccessreviews', '200 a review'],
  ['POST /apis/authorization.k8s.io/v1/localsubjectaccessreviews', notFound],
  // A watch of one object.
  ['GET /api/v1/watch/namespaces/ns/pods/p', '200 watch'],
  // Custom kinds have words of their own.
  ['PATCH /apis/ex.io/v1/namespaces/ns/widgets', '400 name must be provided'],
  ['POST /apis/ex.io/v1/widgets', notFound],
  ['PUT /apis/ex.io/v1/namespaces/ns/widgets/w', '405 update is not supported on resources of kind "widgets.ex.io"'],
  ['GET /apis/ex.io/v1/namespaces/ns/widgets/w', '200 get'],
  // How long a client waits must be a time; watches go by another parameter.
  ['GET /api/v1/pods?timeout=5s', '200 list'],
  ['GET /api/v1/pods?timeout=', '200 list'],
  ['GET /api/v1/pods?timeout=soon', '400 invalid timeout specified in the request URL - time: invalid duration "soon"'],
  ['GET /version?timeout=soon', '400 invalid timeout specified in the request URL - time: invalid duration "soon"'],
  ['GET /api/v1/pods?watch=1&timeout=soon', '200 watch'],
])('%s: %s', async (asked, want) => {
  expect((await ask(asked)).said).toBe(want)
})

test('what is not known is answered as Go would', () => {
  const asked = (path: string) => {
    const info = parseRequestInfo('GET', path, '')
    const context = { info, warnings: [], resolution: 'no such group' } as unknown as RequestContext
    return (
      dispatcher({ ...deps, onUnknown: undefined as never })({ method: 'GET' } as ApiRequest, context) as ApiResponse
    ).headers
  }
  expect(asked('/apis/none.io/v1/things')).toEqual({
    ...{ 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  })
  expect(asked('/nothing')).toEqual({ 'content-type': 'application/json' })
})

test('a kind that is old says so', async () => {
  expect((await ask('GET /apis/ex.io/v1/namespaces/ns/widgets/w')).warnings).toEqual(['ex.io/v1 Widget is old'])
  expect((await ask(`GET ${inNs}/pods/p`)).warnings).toEqual([])
})

test('a request that was not resolved is a fault', () => {
  const info = parseRequestInfo('GET', '/api/v1/pods', '')
  const context = { info, warnings: [] } as unknown as RequestContext
  expect(() => dispatcher(deps)({ method: 'GET' } as ApiRequest, context)).toThrow('without what its path was resolved')
})
