import { expect, test } from 'vitest'
import { scaleOf, withReplicas } from './scale.ts'

const metadata = { name: 'web', namespace: 'a', uid: 'u', resourceVersion: '7', labels: { app: 'web' } }

const rows = [
  {
    name: 'a workload with a label selector',
    given: {
      metadata,
      spec: {
        replicas: 3,
        selector: {
          matchLabels: { b: '2', a: '1' },
          matchExpressions: [{ key: 'c', operator: 'In', values: ['x', 'y'] }],
        },
      },
      status: { replicas: 2 },
    },
    want: { spec: { replicas: 3 }, status: { replicas: 2, selector: 'a=1,b=2,c in (x,y)' } },
  },
  {
    name: 'a ReplicationController, whose selector is plain labels',
    given: { metadata, spec: { replicas: 1, selector: { app: 'web' } } },
    want: { spec: { replicas: 1 }, status: { replicas: 0, selector: 'app=web' } },
  },
  {
    name: 'no replicas wanted and none there',
    given: { metadata, spec: { replicas: 0, selector: {} } },
    want: { spec: {}, status: { replicas: 0 } },
  },
]

test.each(rows)('the scale of $name', ({ given, want }) => {
  expect(scaleOf(given)).toEqual({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'web', namespace: 'a', uid: 'u', resourceVersion: '7' },
    ...want,
  })
})

test('another number of replicas leaves the rest of the workload, and the one that was given, as they are', () => {
  const given = { metadata, spec: { replicas: 1, paused: true } }
  expect(withReplicas(given, 4)).toEqual({ metadata, spec: { replicas: 4, paused: true } })
  expect(given.spec.replicas).toBe(1)
})
