/** What is asked of the authorizer for a path, and what comes of its answer. */
import { describe, expect, test } from 'vitest'
import type { AuthzAttributes, AuthzDecision } from '../../authz/authz.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import type { ApiRequest, ApiResponse, RequestContext } from '../api.ts'
import { parseRequestInfo } from '../request-info.ts'
import { resolveTarget } from '../resolve-target.ts'
import { type AuthorizeOptions, attributesOf, authorize, requireAuthorized } from './authorize.ts'

const { types } = loadCatalog()
const answer: ApiResponse = { status: 200, headers: {}, body: new Uint8Array() }
const authenticated = { username: 'alice', groups: ['system:authenticated'] }
const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
const yes: AuthzDecision = { allowed: true, reason: 'a binding' }
const no: AuthzDecision = { allowed: false, reason: '' }

function contextOf(method: string, target: string, user = authenticated): RequestContext {
  const [path = '', query = ''] = target.split('?')
  const info = parseRequestInfo(method, path, query)
  const context = { info, user, warnings: [], seats: [] } as unknown as RequestContext
  void resolveTarget(types)(() => answer)({ method, path, query, headers: {} } as unknown as ApiRequest, context)
  return context
}

/** `list apps/deployments in ns`, `get /metrics` */
function written(a: AuthzAttributes): string {
  if (a.path !== undefined) return `${a.verb} ${a.path}`
  const what = `${a.group}/${a.version}/${a.resource}${a.subresource ? `/${a.subresource}` : ''}`
  return `${a.verb} ${what}${a.name ? ` ${a.name}` : ''}${a.namespace ? ` in ${a.namespace}` : ''}`
}

test.each([
  ['GET /metrics', 'get /metrics'],
  ['POST /metrics', 'post /metrics'],
  ['GET /api/v1/pods', 'list /v1/pods'],
  ['GET /api/v1/namespaces/ns/pods/p', 'get /v1/pods p in ns'],
  ['GET /api/v1/namespaces/ns/pods?fieldSelector=metadata.name=p', 'list /v1/pods p in ns'],
  ['GET /api/v1/watch/namespaces/ns/pods', 'watch /v1/pods in ns'],
  ['DELETE /apis/apps/v1/namespaces/ns/deployments', 'deletecollection apps/v1/deployments in ns'],
  ['PATCH /apis/apps/v1/namespaces/ns/deployments/d/scale', 'patch apps/v1/deployments/scale d in ns'],
  // A namespace is authorized like content of itself, and nothing else is.
  ['GET /api/v1/namespaces/ns', 'get /v1/namespaces ns in ns'],
  ['GET /api/v1/namespaces', 'list /v1/namespaces'],
  ['GET /api/v1/nodes/n', 'get /v1/nodes n'],
  // What is not served is authorized as the path says.
  ['GET /apis/ex.io/v1/namespaces/ns/widgets/w/status', 'get ex.io/v1/widgets/status w in ns'],
])('%s: %s', (asked, want) => {
  const [method = '', target = ''] = asked.split(' ')
  const attributes = attributesOf(contextOf(method, target))
  expect(written(attributes)).toBe(want)
  expect(attributes.user).toBe(authenticated)
})

interface Outcome {
  readonly said: string
  readonly asked: string[]
  readonly context: RequestContext
}

async function pass(options: Partial<AuthorizeOptions>, context = contextOf('GET', '/api/v1/pods')): Promise<Outcome> {
  const asked: string[] = []
  const stage = authorize({
    authorizer: { authorize: () => no },
    refresh: async () => void asked.push('refresh') as never,
    refuse: (attributes, { reason }) => new Error(`refused ${written(attributes)}${reason ? `: ${reason}` : ''}`),
    ...options,
  })
  try {
    const response = await stage(() => (asked.push('served'), answer))({} as ApiRequest, context)
    expect(response).toBe(answer)
    return { said: asked.includes('served') ? 'served' : 'nothing came', asked, context }
  } catch (error) {
    return { said: (error as Error).message, asked, context }
  }
}

describe('a request', () => {
  test('that is allowed is served at once, and its decision is told', async () => {
    const { asked, context } = await pass({ authorizer: { authorize: () => yes } })
    expect(asked).toEqual(['served'])
    const reason = 'elsewhere'
    const elsewhere = await pass({ askElsewhere: async () => ({ allowed: true, reason }) })
    expect([elsewhere.asked, elsewhere.context.decision]).toEqual([['refresh', 'served'], { allowed: true, reason }])
    expect([context.decision, context.onlyOwn]).toEqual([yes, undefined])
  })

  test('is refused only by a view that is as new as it', async () => {
    const answers = [no, yes]
    const later = await pass({
      authorizer: { authorize: () => answers.shift() as AuthzDecision },
      refresh: async () => true,
    })
    expect([later.said, later.context.decision]).toEqual(['served', yes])
    expect((await pass({ refresh: async () => true })).said).toBe('refused list /v1/pods')
    const refused = await pass({})
    expect([refused.said, refused.asked]).toEqual(['refused list /v1/pods', ['refresh']])
  })

  test('for a path is refused at once: no binding in a namespace allows it', async () => {
    const { said, asked } = await pass({}, contextOf('GET', '/metrics'))
    expect([said, asked]).toEqual(['refused get /metrics', []])
  })

  test('may be allowed elsewhere', async () => {
    // Where it is allowed here after all, no other is asked.
    const answers = [no, yes]
    const late = await pass({
      authorizer: { authorize: () => answers.shift() as AuthzDecision },
      refresh: async () => true,
      askElsewhere: () => Promise.reject(new Error('must not be asked')),
    })
    expect(late.said).toBe('served')
    expect((await pass({ askElsewhere: async () => yes })).said).toBe('served')
    const because = (reason: string): AuthzDecision => ({ allowed: false, reason })
    expect((await pass({ askElsewhere: async () => because('elsewhere') })).said).toBe(
      'refused list /v1/pods: elsewhere',
    )
    const here = { authorizer: { authorize: () => because('here') } }
    expect((await pass({ ...here, askElsewhere: async () => yes })).said).toBe('served')
    expect((await pass({ ...here, askElsewhere: async () => because('elsewhere') })).said).toContain(': here')
  })

  test('may be narrowed to what the caller may get one by one', async () => {
    const { said, context } = await pass({ narrow: () => 'own namespaces' })
    expect([said, context.onlyOwn]).toEqual(['served', true])
    expect(context.decision).toEqual({ allowed: true, reason: 'own namespaces' })
    const allowed = await pass({ authorizer: { authorize: () => yes }, narrow: () => 'own namespaces' })
    expect(allowed.context.onlyOwn).toBeUndefined()
    expect((await pass({ narrow: () => undefined })).said).toBe('refused list /v1/pods')
  })

  test('may be told something else than a refusal, by a decision of its own', async () => {
    const authorizer = { authorize: ({ verb }: AuthzAttributes) => (verb === 'create' ? yes : no) }
    const insteadOfRefusal: NonNullable<AuthorizeOptions['insteadOfRefusal']> = async (attributes, _r, _c, may) => {
      const created = await may({ ...attributes, verb: 'create' } as AuthzAttributes)
      return created.allowed ? new Error('it is free') : undefined
    }
    expect((await pass({ authorizer, insteadOfRefusal })).said).toBe('it is free')
    expect((await pass({ insteadOfRefusal })).said).toBe('refused list /v1/pods')
  })

  test('for what is no path says so to those who are known, and tells others nothing of types', async () => {
    const path = '/api/v1/namespaces/ns/nodes'
    const options = { authorizer: { authorize: () => yes } }
    const known = await pass(options, contextOf('GET', path))
    expect([known.said, known.asked]).toEqual(['the server could not find the requested resource', []])
    expect((await pass({}, contextOf('GET', path, anonymous))).said).toContain('refused list /v1/nodes')
  })
})

test('a right that is asked for later is refused in the same words', async () => {
  const context = contextOf('GET', '/api/v1/pods')
  const options: AuthorizeOptions = {
    authorizer: { authorize: ({ verb }) => (verb === 'get' ? yes : no) },
    refresh: async () => false,
    refuse: (attributes) => new Error(`refused ${written(attributes)}`),
  }
  const asked = attributesOf(context)
  await expect(requireAuthorized(options, asked, context)).rejects.toThrow('refused list /v1/pods')
  await expect(
    requireAuthorized(options, { ...asked, verb: 'get' } as AuthzAttributes, context),
  ).resolves.toBeUndefined()
})
