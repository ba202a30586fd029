/** Requests with a part that may be of any size: each of these is sent small and large. */

export interface Sent {
  readonly path: string
  readonly method?: string
  readonly type?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** `size`: in characters, about. */
type Make = (size: number) => Sent

const configMaps = '/api/v1/namespaces/default/configmaps'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const metadata = { name: 'x' }

/** What is repeated, and what stands behind it so that nothing matches. */
const runs: Readonly<Record<string, readonly [string, string]>> = {
  letters: ['a', '!'],
  digits: ['1', 'x'],
  zeros: ['0', '!'],
  slashes: ['/', 'x'],
  dots: ['.', '!'],
  dashes: ['-', '!'],
  blanks: [' ', 'x'],
  commas: [',', '!'],
  colons: [':', ']'],
  equals: ['=', '!'],
  quotes: ['"', 'x'],
  backslashes: ['\\\\', 'x'],
  brackets: ['[', 'x'],
  'label terms': ['a=b,', '!'],
  'set terms': ['a in (b),', '!'],
  percents: ['%41', '%4'],
}

/** Where a text may stand in a URL or a header: at most 60 KB. */
const places: Readonly<Record<string, (text: string) => Sent>> = {
  path: (text) => ({ path: `/${text}` }),
  'path of openapi': (text) => ({ path: `/openapi/${text}` }),
  'path of an API': (text) => ({ path: `/apis/${text}` }),
  'path of a name': (text) => ({ path: `${configMaps}/${text}` }),
  'query labelSelector': (text) => ({ path: `${configMaps}?labelSelector=${encodeURIComponent(text)}` }),
  'query fieldSelector': (text) => ({ path: `${configMaps}?fieldSelector=${encodeURIComponent(text)}` }),
  'query continue': (text) => ({ path: `${configMaps}?continue=${encodeURIComponent(text)}` }),
  'query resourceVersion': (text) => ({ path: `${configMaps}?resourceVersion=${encodeURIComponent(text)}` }),
  'query timeout': (text) => ({ path: `${configMaps}?timeout=${encodeURIComponent(text)}` }),
  'query by itself': (text) => ({ path: `${configMaps}?${text.replaceAll('#', '')}` }),
  accept: (text) => ({ path: configMaps, headers: { accept: text.trim() } }),
  'content type': (text) => ({ path: configMaps, method: 'POST', type: text.trim(), body: '{}' }),
  'user agent': (text) => ({ path: configMaps, headers: { 'user-agent': text.trim() } }),
  'impersonated user': (text) => ({ path: configMaps, headers: { 'impersonate-user': text.trim() } }),
  authorization: (text) => ({ path: configMaps, headers: { authorization: `Bearer ${text.trim()}` } }),
}

/** Where a text may stand in a body: up to a megabyte. */
const fields: Readonly<Record<string, (text: string) => object>> = {
  name: (text) => ({ metadata: { name: text } }),
  generateName: (text) => ({ metadata: { generateName: text } }),
  'label key': (text) => ({ metadata: { ...metadata, labels: { [text]: 'x' } } }),
  'label value': (text) => ({ metadata: { ...metadata, labels: { x: text } } }),
  'annotation key': (text) => ({ metadata: { ...metadata, annotations: { [text]: 'x' } } }),
  'annotation value': (text) => ({ metadata: { ...metadata, annotations: { x: text } } }),
  'last applied': (text) => ({
    metadata: { ...metadata, annotations: { 'kubectl.kubernetes.io/last-applied-configuration': text } },
  }),
  finalizer: (text) => ({ metadata: { ...metadata, finalizers: [text] } }),
  'owner reference': (text) => ({
    metadata: { ...metadata, ownerReferences: [{ apiVersion: text, kind: text, name: text, uid: text }] },
  }),
  creationTimestamp: (text) => ({ metadata: { ...metadata, creationTimestamp: text } }),
  'managed fields': (text) => ({
    metadata: {
      ...metadata,
      managedFields: [
        { manager: text, operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { [text]: {} } },
      ],
    },
  }),
  'data key': (text) => ({ metadata, data: { [text]: 'x' } }),
  'data value': (text) => ({ metadata, data: { x: text } }),
  'binary data': (text) => ({ metadata, binaryData: { x: text } }),
  'unknown field': (text) => ({ metadata, [text]: text }),
}

const workload = (container: object, spec: object = {}): object => ({
  metadata,
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { ...spec, containers: [{ name: 'c', image: 'i', ...container }] },
    },
  },
})

const workloadFields: Readonly<Record<string, (text: string) => object>> = {
  image: (text) => workload({ image: text }),
  amount: (text) => workload({ resources: { requests: { cpu: text }, limits: { memory: text } } }),
  'name of an amount': (text) => workload({ resources: { requests: { [text]: '1' } } }),
  'environment variable': (text) => workload({ env: [{ name: text, value: text }] }),
  'name of a port': (text) => workload({ ports: [{ name: text, containerPort: 1 }] }),
  'path of a mount': (text) => workload({ volumeMounts: [{ name: 'v', mountPath: text, subPath: text }] }),
  'path on a host': (text) => workload({}, { volumes: [{ name: 'v', hostPath: { path: text } }] }),
  'host of a probe': (text) => workload({ livenessProbe: { httpGet: { host: text, path: text, port: text } } }),
  'name of a node': (text) => workload({}, { nodeName: text, hostname: text, subdomain: text }),
  'DNS search': (text) => workload({}, { dnsConfig: { searches: [text], nameservers: [text] } }),
}

/** Many members of one kind. */
const many: Readonly<Record<string, (count: number) => object>> = {
  'data keys': (count) => ({ metadata, data: fill(count, (i) => [`k${i}`, 'v']) }),
  labels: (count) => ({ metadata: { ...metadata, labels: fill(count, (i) => [`k${i}`, 'v']) } }),
  'unknown fields': (count) => ({ metadata, ...fill(count, (i) => [`k${i}`, 'v']) }),
  'managed fields': (count) => ({
    metadata: {
      ...metadata,
      managedFields: Array.from({ length: count }, (_, i) => {
        const fieldsV1 = { 'f:data': { [`f:k${i}`]: {} } }
        return { manager: `m${i}`, operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 }
      }),
    },
  }),
  'owner references': (count) => ({
    metadata: {
      ...metadata,
      ownerReferences: Array.from({ length: count }, (_, i) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        name: `p${i}`,
        uid: `${i}`,
      })),
    },
  }),
  'escaped keys': (count) => ({ metadata, page: fill(count, (i) => [`"${i}"`, { '"': 1 }]) }),
}

const fill = (count: number, make: (i: number) => readonly [string, string | object]): object =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => make(i)))

const asPost = (path: string, object: object, type = 'application/json'): Sent => ({
  path: `${path}?dryRun=All`,
  method: 'POST',
  type,
  body: JSON.stringify(object),
})

export interface GrowingKind {
  readonly name: string
  readonly size: number
  readonly make: Make
}

export function* growingKinds(): Generator<GrowingKind> {
  for (const [run, [repeated, end]] of Object.entries(runs)) {
    const textOf = (size: number): string => repeated.repeat(size / repeated.length) + end
    for (const [place, send] of Object.entries(places)) {
      yield { name: `${place}: ${run}`, size: 6000, make: (size) => send(textOf(size)) }
    }
    for (const [field, object] of Object.entries(fields)) {
      const make = (size: number, type?: string): Sent => asPost(configMaps, object(textOf(size)), type)
      yield { name: `${field}: ${run}`, size: 40_000, make: (size) => make(size) }
      yield { name: `yaml, ${field}: ${run}`, size: 20_000, make: (size) => make(size, 'application/yaml') }
    }
    for (const [field, object] of Object.entries(workloadFields)) {
      yield { name: `${field}: ${run}`, size: 40_000, make: (size) => asPost(deployments, object(textOf(size))) }
    }
    const text = (size: number): string => textOf(size)
    yield { name: `json: ${run}`, size: 100_000, make: (size) => ({ ...asPost(configMaps, {}), body: text(size) }) }
    yield {
      name: `yaml: ${run}`,
      size: 20_000,
      make: (size) => ({ ...asPost(configMaps, {}, 'application/yaml'), body: text(size) }),
    }
  }
  for (const [name, object] of Object.entries(many)) {
    yield { name: `many ${name}`, size: 700, make: (count) => asPost(configMaps, object(count)) }
    yield {
      name: `yaml, many ${name}`,
      size: 300,
      make: (count) => asPost(configMaps, object(count), 'application/yaml'),
    }
  }
}
