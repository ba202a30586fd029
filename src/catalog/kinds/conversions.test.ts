import { describe, expect, it } from 'vitest'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import { loadCatalog } from '../catalog.ts'

const catalog = loadCatalog()
function typeOf(group: string, version: string, resource: string): ResourceType {
  const type = catalog.types.find({ group, version, resource })
  if (!type) throw new Error(`no ${group}/${version} ${resource}`)
  return type
}
const v1 = typeOf('autoscaling', 'v1', 'horizontalpodautoscalers')
const v2 = typeOf('autoscaling', 'v2', 'horizontalpodautoscalers')
const coreEvents = typeOf('', 'v1', 'events')
const newEvents = typeOf('events.k8s.io', 'v1', 'events')

describe('autoscalers', () => {
  const target = { kind: 'Deployment', name: 'd' }
  const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } }
  const memory = {
    type: 'Resource',
    resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
  }
  const full: KubeObject = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'a', annotations: { mine: 'kept' } },
    spec: {
      maxReplicas: 3,
      scaleTargetRef: target,
      metrics: [memory, cpu],
      behavior: { scaleDown: { selectPolicy: 'Min' } },
    },
    status: {
      currentReplicas: 1,
      desiredReplicas: 2,
      conditions: [{ type: 'AbleToScale', status: 'True' }],
      currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 9 } } }],
    },
  }

  it('v1 shows the processor as a field and the rest as annotations', () => {
    expect(v1.conversion?.fromStored(full)).toEqual({
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: {
        name: 'a',
        annotations: {
          mine: 'kept',
          'autoscaling.alpha.kubernetes.io/metrics': JSON.stringify([memory]),
          'autoscaling.alpha.kubernetes.io/behavior': '{"scaleDown":{"selectPolicy":"Min"}}',
          'autoscaling.alpha.kubernetes.io/conditions': '[{"type":"AbleToScale","status":"True"}]',
        },
      },
      spec: { maxReplicas: 3, scaleTargetRef: target, targetCPUUtilizationPercentage: 70 },
      status: { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 9 },
    })
  })

  it('loses nothing on the way to v1 and back', () => {
    const before = structuredClone(full)
    expect(v1.conversion?.toStored(v1.conversion.fromStored(full))).toEqual(full)
    expect(full).toEqual(before)
  })

  const defaulted = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
  }

  it.each([
    ['no list', '{}'],
    ['texts', '["x"]'],
    ['fields of other types', '[{"type":7}]'],
    ['more than an object nests', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['more values than anybody reads', `[${'{},'.repeat(10_000)}{}]`],
  ])('ignores annotations that hold %s', (_, text) => {
    const places = ['metrics', 'behavior', 'current-metrics', 'conditions']
    for (const place of places) {
      if (text === '{}' && place === 'behavior') continue
      const annotations = { [`autoscaling.alpha.kubernetes.io/${place}`]: text }
      const stored = v1.conversion?.toStored({ metadata: { name: 'a', annotations }, spec: { maxReplicas: 1 } })
      expect(stored).toEqual({
        metadata: { name: 'a' },
        spec: { maxReplicas: 1, metrics: [defaulted] },
        status: {},
      })
    }
  })

  it('ignores annotations that hold no JSON', () => {
    const annotations = {
      'autoscaling.alpha.kubernetes.io/metrics': '{',
      'autoscaling.alpha.kubernetes.io/behavior': '7',
    }
    const given: KubeObject = { metadata: { name: 'a', annotations }, spec: { maxReplicas: 1 } }
    expect(v1.conversion?.toStored(given)).toEqual({
      metadata: { name: 'a' },
      spec: { maxReplicas: 1, metrics: [defaulted] },
      status: {},
    })
  })
})

describe('events', () => {
  const core: KubeObject = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', namespace: 'n' },
    involvedObject: { kind: 'Pod' },
    reason: 'Killed',
    message: 'gone',
    source: { component: 'k' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    count: 2,
    type: 'Normal',
    eventTime: null,
    reportingComponent: 'c',
    reportingInstance: 'i',
    series: { count: 2 },
  }

  it('have other names for the same fields in each group', () => {
    const converted = newEvents.conversion?.fromStored(core) ?? core
    expect(converted).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: { kind: 'Pod' },
      note: 'gone',
      deprecatedSource: { component: 'k' },
      deprecatedCount: 2,
      reportingController: 'c',
      reportingInstance: 'i',
    })
    for (const field of Object.keys(converted)) expect(newEvents.schema.properties?.has(field), field).toBe(true)
    expect(newEvents.conversion?.toStored(converted)).toEqual(core)
  })
})

it('only the types that are not stored as they are convert', () => {
  expect(catalog.types.findStorage('horizontalpodautoscalers')).toBe(v2)
  expect(catalog.types.findStorage('events')).toBe(coreEvents)
  expect([...catalog.types.all()].filter((t) => t.conversion)).toEqual([newEvents, v1])
})
