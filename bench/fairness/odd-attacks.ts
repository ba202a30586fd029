/**
 * What is asked seldom and costs its own way: definitions and their patterns, expressions and documents, impersonated
 * groups, tokens, rules, applies by many managers, selectors and continue tokens made by hand.
 */
import { type Attack, http2Flood, http2Once, type Means, type Sent } from './means.ts'

const json = { 'content-type': 'application/json' }
const get = (path: string, headers: Record<string, string> = {}): Sent => ({ headers: { ':path': path, ...headers } })
const send = (method: string, path: string, body: object, headers: Record<string, string> = json): Sent => ({
  headers: { ':method': method, ':path': path, ...headers },
  body: JSON.stringify(body),
})
const post = (path: string, body: object): Sent => send('POST', path, body)
const apply = { 'content-type': 'application/apply-patch+yaml' }
const merge = { 'content-type': 'application/merge-patch+json' }

const mine = '/api/v1/namespaces/attacker'
const configMaps = `${mine}/configmaps`
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const mapOf = (count: number, value: unknown = 'v'): Record<string, unknown> =>
  Object.fromEntries(many(count, (i) => [`key${i}`, value] as const))

interface Defined {
  readonly plural: string
  readonly properties: object
  readonly versions?: readonly string[]
  readonly version?: object
}

function definition({ plural, properties, versions = ['v1'], version = {} }: Defined): object {
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } }
  const one = { served: true, schema: { openAPIV3Schema }, ...version }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.attack.example.com` },
    spec: {
      group: 'attack.example.com',
      scope: 'Namespaced',
      names: { plural, kind: plural, singular: plural },
      versions: versions.map((name, i) => ({ name, storage: i === 0, ...one })),
    },
  }
}

const once = (means: Means, sent: Sent): Promise<void> => http2Once({ ...means, tally: { sent: 0, answers: {} } }, sent)

/** Of a definition that is made first. */
async function instancesOf(means: Means, defined: Defined, spec: (n: number) => object): Promise<void> {
  const { plural } = defined
  await once(means, post(definitions, definition(defined)))
  const path = `/apis/attack.example.com/v1/namespaces/attacker/${plural}`
  const body = (n: number): object => ({
    apiVersion: 'attack.example.com/v1',
    kind: plural,
    metadata: { name: `i-${process.pid}-${n}` },
    spec: spec(n),
  })
  await http2Flood(means, 1, 4, (n) => post(`${path}?dryRun=All`, body(n)))
}

const text = { type: 'string' }
const wide = (n: number): object => Object.fromEntries(many(n, (i) => [`field${i}`, { ...text, description: 'd' }]))

/** Made and removed, or changed, one after the other; others read the documents that follow from them. */
async function definitionsInALoop(means: Means, given: (n: number) => object, documents: readonly string[]) {
  const names = many(4, (i) => `loop${i}`)
  await Promise.all([
    http2Flood(means, 1, 4, (n) => {
      const plural = names[n % 4] ?? ''
      return Math.floor(n / 4) % 2 === 0
        ? post(definitions, definition({ plural, properties: given(n) }))
        : { headers: { ':method': 'DELETE', ':path': `${definitions}/${plural}.attack.example.com` } }
    }),
    ...documents.map((path) => http2Flood(means, 1, 4, () => get(path))),
  ])
}

const tokenOf = (start: string, rv: number): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start })).toString('base64url')

const selectorOf = (values: number): string => `k in (${many(values, (i) => `v${i}`).join(',')})`

async function flappingLabels(means: Means): Promise<void> {
  const path = `${configMaps}/flapping`
  await once(means, post(configMaps, { metadata: { name: 'flapping' }, data: { a: 'x'.repeat(100_000) } }))
  const watches = `${configMaps}?watch=1&labelSelector=${encodeURIComponent(selectorOf(500))}`
  await Promise.all([
    http2Flood(means, 4, 100, () => ({ ...get(watches), stays: true })),
    http2Flood(means, 1, 20, (n) => send('PATCH', path, { metadata: { labels: { k: `v${n % 1000}` } } }, merge)),
  ])
}

async function managers(means: Means): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'managers' } }
  await http2Flood(means, 1, 10, (n) => ({
    ...send('PATCH', `${configMaps}/managers?fieldManager=m${n % 1000}`, object, apply),
    body: JSON.stringify({ ...object, data: { [`k${n % 1000}`]: `${n}`, ...mapOf(20) } }),
  }))
}

async function manyRules(means: Means): Promise<void> {
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/attacker/rolebindings`
  await once(
    means,
    post(rbac, {
      metadata: { name: 'rules' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'many-rules' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'attacker' }],
    }),
  )
  const review = { spec: { namespace: 'attacker' } }
  await http2Flood(means, 2, 20, () => post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', review))
}

/** No header is repeated by Node's client for HTTP/2 but as a list. */
const manyGroups = (means: Means): Promise<void> =>
  http2Flood(means, 2, 20, (n) => ({
    headers: {
      ':path': `${configMaps}/mine`,
      'impersonate-user': `u${n}`,
      'impersonate-group': many(2000, (i) => `g${n}-${i}`) as unknown as string,
    },
  }))

export const oddAttacks: readonly Attack[] = [
  {
    name: 'definition: a text of 1 MB against a pattern',
    run: (means) =>
      instancesOf(
        means,
        { plural: 'patterns', properties: { a: { ...text, pattern: '^[A-Za-z0-9+/]*={0,2}$' } } },
        () => ({
          a: 'a'.repeat(700_000),
        }),
      ),
  },
  {
    name: 'definition: all the patterns that one may have',
    run: (means) =>
      instancesOf(
        means,
        {
          plural: 'manypatterns',
          properties: Object.fromEntries(
            many(35, (i) => [`field${i}`, { ...text, pattern: `^(x${i}|[a-z]{1,20}){1,9}$` }]),
          ),
        },
        () => Object.fromEntries(many(35, (i) => [`field${i}`, 'abcdefgh'])),
      ),
  },
  {
    name: 'definition: made anew with patterns that are costly to compile',
    run: (means) =>
      http2Flood(means, 1, 4, (n) =>
        post(
          `${definitions}?dryRun=All`,
          definition({
            plural: 'compiled',
            properties: Object.fromEntries(
              many(300, (i) => [`field${i}`, { ...text, pattern: `(((a{1,10}){1,10}|b${n}-${i}){1,9}){1,1}` }]),
            ),
          }),
        ),
      ),
  },
  {
    name: 'definition: rules over long lists',
    run: (means) =>
      instancesOf(
        means,
        {
          plural: 'rules',
          properties: {
            a: {
              type: 'array',
              maxItems: 5000,
              items: { type: 'string', maxLength: 10 },
              'x-kubernetes-validations': [
                { rule: 'self.all(x, x.size() < 20)' },
                { rule: 'self.map(x, x).size() >= 0' },
              ],
            },
          },
        },
        () => ({ a: many(5000, (i) => `${i}`) }),
      ),
  },
  {
    name: 'definition: with rules, made anew',
    run: (means) =>
      http2Flood(means, 1, 4, (n) =>
        post(
          `${definitions}?dryRun=All`,
          definition({
            plural: 'ruled',
            properties: Object.fromEntries(
              many(500, (i) => [
                `field${i}`,
                {
                  ...text,
                  maxLength: 10,
                  'x-kubernetes-validations': [
                    { rule: `self.size() < 100 && self != 'x${n}-${i}' || self.matches('^a+$')` },
                  ],
                },
              ]),
            ),
          }),
        ),
      ),
  },
  {
    name: 'definitions: made and removed in a loop, with the documents',
    run: (means) =>
      definitionsInALoop(means, () => wide(2000), [
        '/openapi/v3',
        '/openapi/v2',
        '/openapi/v3/apis/attack.example.com/v1',
      ]),
  },
  {
    name: 'definition: a thousand versions',
    run: (means) =>
      http2Flood(means, 1, 2, () =>
        post(
          `${definitions}?dryRun=All`,
          definition({ plural: 'versions', versions: many(1000, (i) => `v${i + 1}`), properties: { a: text } }),
        ),
      ),
  },
  {
    name: 'definition: a thousand versions, stored and changed',
    run: async (means) => {
      const versions = many(1000, (i) => `v${i + 1}`)
      await once(means, post(definitions, definition({ plural: 'stored', versions, properties: { a: text } })))
      const path = `${definitions}/stored.attack.example.com`
      await http2Flood(means, 1, 2, (n) => send('PATCH', path, { metadata: { labels: { n: `${n}` } } }, merge))
      await once({ ...means, signal: AbortSignal.timeout(5000) }, { headers: { ':method': 'DELETE', ':path': path } })
    },
  },
  {
    name: 'definition: columns with long paths, as Table',
    run: async (means) => {
      const jsonPath = `.spec${'.a'.repeat(5000)}`
      const additionalPrinterColumns = many(20, (i) => ({ name: `c${i}`, type: 'string', jsonPath }))
      const defined = { plural: 'columns', properties: { a: text }, version: { additionalPrinterColumns } }
      await once(means, post(definitions, definition(defined)))
      const path = '/apis/attack.example.com/v1/namespaces/attacker/columns'
      for (let i = 0; i < 200; i++) {
        const object = { apiVersion: 'attack.example.com/v1', kind: 'columns', metadata: { name: `c-${i}` } }
        await once(means, post(path, { ...object, spec: { a: 'x' } }))
      }
      await http2Flood(means, 1, 8, () => get(path, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }))
    },
  },
  { name: 'labels that flap under 400 watches with selectors', run: flappingLabels },
  {
    name: 'lists with a selector of 6,000 values',
    run: (means) =>
      http2Flood(means, 2, 20, () =>
        get(`${mine}/secrets?limit=500&labelSelector=${encodeURIComponent(selectorOf(6000))}`),
      ),
  },
  {
    name: 'watches with a selector of 6,000 values',
    run: (means) =>
      http2Flood(means, 4, 100, () => ({
        ...get(`${configMaps}?watch=1&labelSelector=${encodeURIComponent(selectorOf(6000))}`),
        stays: true,
      })),
  },
  {
    name: 'field selectors of 60 KB',
    run: (means) =>
      http2Flood(means, 2, 50, () =>
        get(`${configMaps}?fieldSelector=${many(3000, (i) => `metadata.name!=n${i}`).join(',')}`),
      ),
  },
  {
    name: 'continue tokens made by hand, one object at a time',
    run: (means) =>
      http2Flood(means, 4, 50, (n) =>
        get(`${mine}/secrets?limit=1&continue=${tokenOf(`s-${n % 3100}\0`, n % 3 === 0 ? -1 : (n % 5000) + 1)}`),
      ),
  },
  { name: 'applies by a thousand field managers', run: managers },
  { name: '2,000 impersonated groups', run: manyGroups },
  { name: 'reviews of 10,000 rules', run: manyRules },
  {
    name: 'flood of tokens',
    run: (means) => http2Flood(means, 2, 50, () => post(`${mine}/serviceaccounts/default/token`, { spec: {} })),
  },
  {
    name: 'flood of events',
    run: (means) =>
      http2Flood(means, 4, 50, (n) =>
        post(`${mine}/events`, {
          metadata: { name: `e-${process.pid}-${n}` },
          involvedObject: { kind: 'ConfigMap', namespace: 'attacker', name: 'mine' },
          message: 'm'.repeat(1000),
          reason: 'Flood',
        }),
      ),
  },
  {
    name: 'flood of leases',
    run: (means) =>
      http2Flood(means, 4, 50, (n) =>
        post('/apis/coordination.k8s.io/v1/namespaces/attacker/leases', {
          metadata: { name: `l-${process.pid}-${n}` },
        }),
      ),
  },
  { name: '/metrics in a loop, as an ordinary user', run: (means) => http2Flood(means, 2, 50, () => get('/metrics')) },
  {
    name: 'user agents of 60 KB',
    run: (means) =>
      http2Flood(means, 2, 50, (n) => get(`${configMaps}/mine`, { 'user-agent': `${n}${'u'.repeat(60_000)}` })),
  },
]
