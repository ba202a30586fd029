/** Field validation as upstream's tests of it see it: the same manifest, every verb, every form. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { send } from '../support/send.ts'

let plane: TestControlPlane
const at = '/apis/apps/v1/namespaces/default/deployments'
beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  const { unknown1: _, unknownDupe: __, ...good } = JSON.parse(json).spec as Record<string, unknown>
  const template = { metadata: { labels: { app: 'nginx' } }, spec: { containers: [{ name: 'nginx', image: 'i' }] } }
  const body = { metadata: { name: 'there' }, spec: { ...good, template } }
  expect((await send(plane, at, { method: 'POST', body })).code).toBe(201)
})
afterAll(() => plane[Symbol.asyncDispose]())

const json = `{
  "apiVersion": "apps/v1",
  "kind": "Deployment",
  "metadata": { "name": "there", "labels": { "app": "nginx" } },
  "spec": {
    "unknown1": "val1",
    "unknownDupe": "valDupe",
    "unknownDupe": "valDupe2",
    "paused": true,
    "paused": false,
    "selector": { "matchLabels": { "app": "nginx" } },
    "template": {
      "metadata": { "labels": { "app": "nginx" } },
      "spec": {
        "containers": [{
          "name": "nginx",
          "image": "nginx:latest",
          "unknown1": "val1",
          "unknownDupe": "valDupe",
          "unknownDupe": "valDupe2",
          "imagePullPolicy": "Always",
          "imagePullPolicy": "Never"
        }]
      }
    }
  }
}`
const yaml = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: there
  labels: {app: nginx}
spec:
  unknown1: val1
  unknownDupe: valDupe
  unknownDupe: valDupe2
  paused: true
  paused: false
  selector:
    matchLabels: {app: nginx}
  template:
    metadata:
      labels: {app: nginx}
    spec:
      containers:
      - name: nginx
        image: nginx:latest
        unknown1: val1
        imagePullPolicy: Always
        imagePullPolicy: Never
`

const container = 'spec.template.spec.containers[0]'
const inBody = [
  'unknown field "spec.unknown1"',
  'unknown field "spec.unknownDupe"',
  'duplicate field "spec.paused"',
  `unknown field "${container}.unknown1"`,
  `unknown field "${container}.unknownDupe"`,
  `duplicate field "${container}.imagePullPolicy"`,
]
const inPatch = [
  'duplicate field "spec.unknownDupe"',
  'duplicate field "spec.paused"',
  `duplicate field "${container}.unknownDupe"`,
  `duplicate field "${container}.imagePullPolicy"`,
  `unknown field "${container}.unknown1"`,
  `unknown field "${container}.unknownDupe"`,
  'unknown field "spec.unknown1"',
  'unknown field "spec.unknownDupe"',
]
const lines = ['line 9: key "unknownDupe"', 'line 11: key "paused"', 'line 23: key "imagePullPolicy"']
const ofYaml = [
  `yaml: unmarshal errors:${lines.map((l) => `\n  ${l} already set in map`).join('')}`,
  `unknown field "${container}.unknown1"`,
  'unknown field "spec.unknown1"',
  'unknown field "spec.unknownDupe"',
]

const writes = [
  { name: 'POST of JSON', method: 'POST', path: at, type: 'application/json', body: json, faults: inBody },
  { name: 'PUT of JSON', method: 'PUT', path: `${at}/there`, type: 'application/json', body: json, faults: inBody },
  { name: 'POST of YAML', method: 'POST', path: at, type: 'application/yaml', body: yaml, faults: ofYaml },
  { name: 'PUT of YAML', method: 'PUT', path: `${at}/there`, type: 'application/yaml', body: yaml, faults: ofYaml },
  {
    name: 'a merge patch',
    method: 'PATCH',
    path: `${at}/there`,
    type: 'application/merge-patch+json',
    body: json,
    faults: inPatch,
  },
  {
    name: 'a strategic merge patch',
    method: 'PATCH',
    path: `${at}/there`,
    type: 'application/strategic-merge-patch+json',
    body: json,
    faults: inPatch,
  },
]

describe.each(writes)('$name', ({ method, path, type, body, faults }) => {
  it('is refused with all that is wrong if that is asked for', async () => {
    const { code, text } = await send(plane, `${path}?fieldValidation=Strict`, { method, type, body })
    expect(code).toBe(method === 'PATCH' ? 422 : 400)
    expect((JSON.parse(text) as { message: string }).message).toContain(`strict decoding error: ${faults.join(', ')}`)
  })

  it.each(['', '?fieldValidation=Warn'])('is warned of, without being asked: %s', async (query) => {
    const { code, headers } = await send(plane, `${path}${query}`, { method, type, body })
    expect([200, 201, 409, 422]).toContain(code)
    const warned = faults.map((fault) => `299 - "${fault.replaceAll('\n', ' ').replaceAll('"', '\\"')}"`)
    expect(headers.get('warning')).toBe(warned.join(', '))
  })

  it('says nothing if that is asked for', async () => {
    const { headers } = await send(plane, `${path}?fieldValidation=Ignore`, { method, type, body })
    expect(headers.get('warning')).toBeNull()
  })
})

describe('apply', () => {
  const apply = (query: string, body: string) =>
    send(plane, `${at}/applied?fieldManager=m${query}`, { method: 'PATCH', type: 'application/apply-patch+yaml', body })
  const known = yaml.replaceAll(/^ +unknown.*\n/gm, '').replaceAll('name: there', 'name: applied')

  it('does not know fields that are in no schema', async () => {
    const { code, text } = await apply('&fieldValidation=Ignore', yaml.replaceAll('name: there', 'name: applied'))
    expect(code).toBe(500)
    expect(text).toContain('.spec.unknown1: field not declared in schema')
  })

  it('tells keys that stand twice by their lines', async () => {
    const said =
      'yaml: unmarshal errors:\n  line 8: key "paused" already set in map\n  line 19: key "imagePullPolicy" ' +
      'already set in map'
    const strict = await apply('&fieldValidation=Strict', known)
    expect(strict.code).toBe(400)
    expect((strict.body as { message: string }).message).toBe(
      `error strict decoding YAML: error converting YAML to JSON: ${said}`,
    )
    const warned = await apply('', known)
    expect(warned.code).toBe(201)
    expect(warned.headers.get('warning')).toBe(
      `299 - "error converting YAML to JSON: ${said.replaceAll('\n', ' ').replaceAll('"', '\\"')}"`,
    )
    expect((await apply('&fieldValidation=Ignore', known)).headers.get('warning')).toBeNull()
  })
})

describe('7,000 keys that stand twice', () => {
  const configMaps = '/api/v1/namespaces/default/configmaps?dryRun=All'
  const pairs = Array.from({ length: 7000 }, (_, i) => [`k${i}`, 'v'] as const)
  const bodies = [
    {
      type: 'application/json',
      body: `{"metadata":{"name":"c"},"data":{${[...pairs, ...pairs].map(([k, v]) => `"${k}":"${v}"`).join(',')}}}`,
      fault: (i: number) => `duplicate field "data.k${i}"`,
    },
    {
      type: 'application/yaml',
      body: `metadata: {name: c}\ndata:\n${pairs.map(([k, v]) => `  ${k}: ${v}\n  ${k}: ${v}\n`).join('')}`,
      fault: (i: number) => `key "k${i}" already set in map`,
    },
  ]

  it.each(bodies)('are refused by the first hundred of them: $type', async ({ type, body, fault }) => {
    const { code, text } = await send(plane, `${configMaps}&fieldValidation=Strict`, { method: 'POST', type, body })
    const { message } = JSON.parse(text) as { message: string }
    expect([code, message.includes(fault(99)), message.includes(fault(100))]).toEqual([400, true, false])
    expect(text.length).toBeLessThan(6000)
  })

  it.each(bodies)('are warned of in no more than 4 KiB and a line: $type', async ({ type, body, fault }) => {
    const { code, headers } = await send(plane, configMaps, { method: 'POST', type, body })
    const warning = headers.get('warning')?.replaceAll('\\"', '"') ?? ''
    expect([code, warning.includes(fault(0)), warning.includes(fault(100))]).toEqual([201, true, false])
    expect(warning.length).toBeLessThan(6000)
  })
})
