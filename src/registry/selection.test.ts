import fc from 'fast-check'
import { expect, it } from 'vitest'
import { namespaceStrategy } from '../apis/namespaces/strategy.ts'
import { loadCatalog } from '../catalog/catalog.ts'
import { requiredType } from '../kube/resource-type.ts'
import { encodeStored } from '../kube/stored-form.ts'
import { headBytes } from '../kube/stored-labels.ts'
import type { KubeObject } from '../kube/types.ts'
import { ParsedPool } from '../watch/parsed-pool.ts'
import { ObjectVersion, type VersionRecord } from '../watch/stored-object.ts'
import { selectionOf } from './selection.ts'

const catalog = loadCatalog()
const typeOf = (group: string, resource: string) => requiredType(catalog.types, { group, version: 'v1', resource })
const words = fc.constantFrom('', 'a', 'b', 'Running', 'x y', 'node-1', '0', 'false', 'true', 'Active', 'quo"te', 'ü')

const kinds = [
  {
    type: typeOf('', 'pods'),
    fields: ['spec.nodeName', 'status.phase', 'spec.hostNetwork', 'spec.restartPolicy'],
    objects: fc.record({
      spec: fc.record({ nodeName: words, hostNetwork: fc.boolean() }, { requiredKeys: [] }),
      status: fc.record({ phase: words }, { requiredKeys: [] }),
    }),
  },
  {
    type: typeOf('', 'events'),
    fields: ['involvedObject.name', 'source', 'reason'],
    objects: fc.record(
      {
        involvedObject: fc.record({ name: words }),
        source: fc.record({ component: words }, { requiredKeys: [] }),
        reportingComponent: words,
        reason: words,
      },
      { requiredKeys: [] },
    ),
  },
  {
    type: typeOf('apps', 'replicasets'),
    fields: ['status.replicas'],
    objects: fc.record({ status: fc.record({ replicas: fc.nat(3) }, { requiredKeys: [] }) }, { requiredKeys: [] }),
  },
  {
    type: typeOf('', 'namespaces'),
    fields: ['status.phase'],
    objects: fc.record({ status: fc.record({ phase: words }, { requiredKeys: [] }) }, { requiredKeys: [] }),
  },
] as const

const strategyOf = (type: ReturnType<typeof typeOf>) =>
  type.resource === 'namespaces' ? namespaceStrategy({ initializers: true }) : catalog.strategyOf(type)

it.each(kinds)('selects $type.resource by fields as their values say', ({ type, fields, objects }) => {
  const strategy = strategyOf(type)
  const terms = fc.array(fc.record({ field: fc.constantFrom(...fields), isSame: fc.boolean(), value: words }), {
    minLength: 1,
    maxLength: 2,
  })
  fc.assert(
    fc.property(objects as fc.Arbitrary<Partial<KubeObject>>, terms, (given, asked) => {
      const object: KubeObject = { metadata: { name: 'n' }, ...given }
      const stored = ObjectVersion.of('n', 1024, encodeStored(object, type)).as(type)
      const fieldSelector = asked.map((t) => `${t.field}${t.isSame ? '=' : '!='}${t.value}`).join(',')
      const { matches } = selectionOf(type, strategy, { namespace: '', fieldSelector })
      const holds = asked.every((t) => (strategy.selectableFields?.[t.field]?.(object) === t.value) === t.isSame)
      expect(matches?.(stored)).toBe(holds)
    }),
  )
})

it('does not parse what can not match', () => {
  const type = typeOf('', 'pods')
  const pod = { metadata: { name: 'n' }, spec: { nodeName: 'node-1' }, status: { phase: 'Running' } }
  const { matches } = selectionOf(type, strategyOf(type), { namespace: '', fieldSelector: 'spec.nodeName=node-2' })
  const stored = ObjectVersion.of('n', 1024, encodeStored(pod, type)).as(type)
  expect({ matches: matches?.(stored), isParsed: stored.isAtHand }).toEqual({ matches: false, isParsed: false })
})

it('looks at labels without a copy of the object', () => {
  const type = typeOf('', 'configmaps')
  const object = { metadata: { name: 'n', labels: { k: 'other' } }, data: { a: 'x'.repeat(100_000) } }
  const bytes = Buffer.from(encodeStored(object, type))
  let copied = 0
  const record: VersionRecord = {
    key: 'n',
    revision: 1024,
    sizeBytes: bytes.length,
    firstByte: bytes[0],
    get bytes(): Uint8Array {
      copied += bytes.length
      return bytes
    },
    copyTo(target, at, from) {
      const size = bytes.copy(target, at, from)
      copied += size
      return size
    },
  }
  const home = { pool: new ParsedPool(1), keep: () => {}, forget: () => {} }
  const found = ['k in (a,b)', 'k=other,!l', 'k', 'l!=1', 'k!=other'].map((labelSelector) => {
    const { matches } = selectionOf(type, strategyOf(type), { namespace: '', labelSelector })
    return matches?.(new ObjectVersion(record, home).as(type))
  })
  expect(found).toEqual([false, true, true, true, false])
  expect(copied).toBe(5 * headBytes)
})
