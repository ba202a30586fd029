/**
 * Requests from a seed: the one with number `i` is always the same, whatever was sent before it.
 *
 * Most are nearly what a client would send, so that they get far; the rest is what no client sends.
 */
import type { JsonObject } from '../../src/kube/types.ts'
import type { Subject } from '../generated/subjects.ts'
import { encoded, hostile, patch, type Sent } from './bodies.ts'
import { expression, steep } from './expressions.ts'
import { changed } from './objects.ts'
import { Random } from './random.ts'
import { query } from './selectors.ts'
import { name, text } from './words.ts'

export interface FuzzRequest {
  /** Who asks: an identity of this process, or `headers` alone, as from a socket. */
  readonly user: 'admin' | 'tenant' | 'headers'
  readonly method: string
  /** As sent, without the query. */
  readonly path: string
  readonly query: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** base64 */
  readonly body: string
}

/** Of the administrator, in the server's token file. */
export const adminToken = 'fuzz-admin'

const accepts = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;stream=watch',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'application/cbor',
  'text/html',
  '*/*',
  'a/b;c="',
  '',
]
const otherHeaders: readonly (readonly [string, (random: Random) => string])[] = [
  ['impersonate-user', text],
  ['impersonate-group', text],
  ['impersonate-uid', text],
  ['impersonate-extra-scopes', text],
  [
    'authorization',
    (random) => random.pick(['Bearer', 'Bearer x', 'Bearer a.b.c', 'Basic eDp4', `Bearer ${text(random)}`]),
  ],
  ['accept-encoding', (random) => random.pick(['gzip', 'br', 'gzip;q=0', '*', 'identity;q=x'])],
  ['if-none-match', (random) => random.pick(['*', '"x"', 'W/"x"', text(random)])],
  ['content-encoding', () => 'gzip'],
  ['content-length', () => '5'],
  ['upgrade', () => 'websocket'],
  ['x-remote-user', text],
  ['audit-id', text],
  ['user-agent', text],
  ['accept-language', text],
  ['origin', text],
]
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'get', 'X']
const subresources = [
  'status',
  'scale',
  'finalize',
  'approval',
  'eviction',
  'binding',
  'ephemeralcontainers',
  'resize',
  'exec',
  'attach',
  'portforward',
  'log',
  'proxy',
  'proxy/a/b',
  'token',
  'x',
]
const nonResource = [
  '/',
  '/api',
  '/apis',
  '/api/v1',
  '/apis/apps',
  '/apis/apps/v1',
  '/apis/ex.io/v1',
  '/version',
  '/healthz',
  '/livez/ping',
  '/readyz?verbose',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/api/v1',
  '/openapi/v3/apis/ex.io/v1',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/debug/api_priority_and_fairness/dump_queues',
]

/** Of what a server holds that was furnished: what is asked for is there now and then. */
export class Requests {
  readonly #seed: number
  readonly #subjects: readonly Subject[]

  constructor(seed: number, subjects: readonly Subject[]) {
    this.#seed = seed
    this.#subjects = subjects
  }

  at(i: number): FuzzRequest {
    const random = new Random(this.#seed, i)
    return random.weighted([
      [8, () => this.#write(random)],
      [5, () => this.#read(random)],
      [3, () => this.#expression(random)],
      [2, () => this.#template(random)],
      [2, () => this.#subresource(random)],
      [2, () => this.#anyPath(random)],
      [1, () => this.#nonResource(random)],
      [1, () => this.#hostile(random)],
    ])
  }

  #write(random: Random): FuzzRequest {
    const subject = random.pick(this.#subjects)
    const method = random.weighted([
      [5, () => 'POST'],
      [3, () => 'PUT'],
      [4, () => 'PATCH'],
      [1, () => 'DELETE'],
    ])
    const object = changed(random, subject.schema, subject.object)
    const sent = method === 'PATCH' ? patch(random, subject) : encoded(random, subject, object)
    const own = String((subject.object['metadata'] as JsonObject | undefined)?.['name'] ?? 'x')
    const at = method === 'POST' ? '' : `/${random.chance(0.9) ? own : inPath(name(random))}`
    const part = at !== '' && random.chance(0.15) ? '/status' : ''
    const isDry = subject.isFarReaching || random.chance(0.3)
    const apply = sent.type.includes('apply') ? 'fieldManager=fuzz&force=true' : ''
    const asked = [isDry ? 'dryRun=All' : '', apply, query(random, 2)].filter((p) => p !== '').join('&')
    return request(random, { method, path: `${subject.path}${at}${part}`, query: asked, sent })
  }

  #read(random: Random): FuzzRequest {
    const subject = random.pick(this.#subjects)
    const path = random.weighted([
      [4, () => subject.path],
      [3, () => `${subject.path}/${random.chance(0.7) ? 'x' : inPath(name(random))}`],
      [1, () => subject.path.replace('/namespaces/default', '')],
      [1, () => subject.path.replace(/^(\/api\/v1|\/apis\/[^/]+\/[^/]+)/, '$1/watch')],
    ])
    const method = random.chance(0.95) ? 'GET' : random.pick(methods)
    return request(random, { method, path, query: query(random, 5) })
  }

  /** In policies, match conditions and definitions, and an object for them to judge. */
  #expression(random: Random): FuzzRequest {
    const cel = (): string => (random.chance(0.9) ? expression(random) : steep(random))
    const kinds = ['ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy', 'ValidatingWebhookConfiguration'] as const
    const kind = random.pick([...kinds, 'CustomResourceDefinition', 'Widget', 'ResourceClaim'] as const)
    const subject = this.#subjects.find(({ gvk }) => gvk.kind === kind) as Subject
    const object = withExpressions(subject.object, kind, cel)
    const method = 'POST'
    return request(random, {
      method,
      path: subject.path,
      // A policy that is stored judges the requests that follow.
      query: kind.endsWith('Policy') && random.chance(0.3) ? '' : 'dryRun=All',
      sent: encoded(random, subject, object),
    })
  }

  #template(random: Random): FuzzRequest {
    const subject = this.#subjects.find(
      ({ title }) => title === 'policy.borough.dev/v1alpha1 NamespaceTemplate',
    ) as Subject
    if (random.chance(0.4)) {
      const metadata = {
        name: name(random),
        labels: { [name(random)]: text(random) },
        annotations: { [name(random)]: text(random) },
      }
      const body = Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata }))
      return request(random, {
        method: 'POST',
        path: '/api/v1/namespaces',
        query: '',
        sent: { type: 'application/json', body },
      })
    }
    const of = random.pick(this.#subjects)
    const object = {
      ...subject.object,
      metadata: { name: random.pick(['x', 'y', 'z']), annotations: { [name(random)]: text(random) } },
      spec: {
        namespaces: {
          nameSelector: { include: random.some(3, () => text(random)), exclude: random.some(2, () => text(random)) },
          labelSelector: { matchLabels: random.chance(0.5) ? {} : { [name(random)]: name(random) } },
        },
        failurePolicy: random.pick(['Ignore', 'Fail', 'x']),
        templates: random.some(3, () => changed(random, of.schema, of.object)),
      },
    }
    const sent = encoded(random, subject, random.chance(0.5) ? object : changed(random, subject.schema, object))
    return request(random, { method: 'POST', path: subject.path, query: '', sent })
  }

  #subresource(random: Random): FuzzRequest {
    const subject = random.pick(this.#subjects)
    const of = random.pick(['x', 'x', 'waiting', 'default', text(random)].map(inPath))
    const path = `${subject.path}/${of}/${random.pick(subresources)}`
    const sent = random.chance(0.5)
      ? encoded(random, random.pick(this.#subjects), random.pick(this.#subjects).object)
      : patch(random, subject)
    const method = random.pick(methods)
    return request(random, { method, path, query: query(random, 3), ...(method === 'GET' ? {} : { sent }) })
  }

  #anyPath(random: Random): FuzzRequest {
    const words = [
      'api',
      'apis',
      'v1',
      'apps',
      'namespaces',
      'watch',
      'proxy',
      'pods',
      'secrets',
      'default',
      'x',
      'status',
    ]
    const segment = (): string =>
      random.chance(0.7) ? random.pick(words) : random.chance(0.5) ? inPath(text(random)) : text(random)
    const path = `/${random.some(9, segment).join(random.chance(0.9) ? '/' : '//')}`
    const method = random.pick(methods)
    return request(random, {
      method,
      path: path.replaceAll(/[ ?#]/g, ''),
      query: query(random, 3),
      ...(random.chance(0.3) ? { sent: hostile(random) } : {}),
    })
  }

  #nonResource(random: Random): FuzzRequest {
    const [path = '/', asked = ''] = random.pick(nonResource).split('?')
    return request(random, {
      method: random.chance(0.8) ? 'GET' : random.pick(methods),
      path,
      query: asked || query(random, 2),
    })
  }

  #hostile(random: Random): FuzzRequest {
    const subject = random.pick(this.#subjects)
    const method = random.pick(['POST', 'PUT', 'PATCH', 'DELETE'])
    const path = method === 'POST' ? subject.path : `${subject.path}/x`
    return request(random, { method, path, query: 'dryRun=All', sent: hostile(random) })
  }
}

/** A lone surrogate can't be encoded. */
const inPath = (text: string): string => encodeURIComponent(text.toWellFormed())

interface Asked {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly sent?: Sent
}

function request(random: Random, { method, path, query, sent }: Asked): FuzzRequest {
  const user = random.weighted([
    [8, () => 'admin' as const],
    [1, () => 'tenant' as const],
    [1, () => 'headers' as const],
  ])
  const headers: (readonly [string, string])[] = []
  if (random.chance(0.5)) headers.push(['accept', random.pick(accepts)])
  if (sent !== undefined) headers.push(['content-type', random.chance(0.97) ? sent.type : random.pick(accepts)])
  if (user === 'headers' && random.chance(0.7)) headers.push(['authorization', `Bearer ${adminToken}`])
  for (const [header, values] of random.some(user === 'headers' ? 3 : 1, () => random.pick(otherHeaders))) {
    headers.push([header, values(random)])
  }
  return { user, method, path, query, headers, body: (sent?.body ?? Buffer.alloc(0)).toString('base64') }
}

function withExpressions(object: JsonObject, kind: string, cel: () => string): JsonObject {
  const spec = (object['spec'] ?? {}) as JsonObject
  const rules = [{ apiGroups: [''], apiVersions: ['*'], operations: ['*'], resources: ['configmaps', 'secrets'] }]
  const matchConditions = [{ name: 'a', expression: cel() }]
  switch (kind) {
    case 'ValidatingAdmissionPolicy':
      return {
        ...object,
        spec: {
          matchConstraints: { resourceRules: rules },
          failurePolicy: 'Ignore',
          matchConditions,
          variables: [{ name: 'v', expression: cel() }],
          validations: [{ expression: cel(), messageExpression: cel() }],
          auditAnnotations: [{ key: 'a', valueExpression: cel() }],
        },
      }
    case 'MutatingAdmissionPolicy':
      return {
        ...object,
        spec: {
          matchConstraints: { resourceRules: rules },
          failurePolicy: 'Ignore',
          reinvocationPolicy: 'Never',
          matchConditions,
          mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: cel() } }],
        },
      }
    case 'ValidatingWebhookConfiguration': {
      const [hook] = (object['webhooks'] ?? []) as JsonObject[]
      return { ...object, webhooks: [{ ...hook, matchConditions }] }
    }
    case 'CustomResourceDefinition':
      return withRule(object, spec, cel)
    default:
      return object
  }
}

function withRule(object: JsonObject, spec: JsonObject, cel: () => string): JsonObject {
  const [version] = spec['versions'] as JsonObject[]
  const size = { type: 'integer', 'x-kubernetes-validations': [{ rule: cel() }] }
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { size } } },
    'x-kubernetes-validations': [{ rule: cel(), messageExpression: cel() }],
  }
  return { ...object, spec: { ...spec, versions: [{ ...version, schema: { openAPIV3Schema } }] } }
}
