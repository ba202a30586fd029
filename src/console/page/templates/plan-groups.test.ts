import { expect, test } from 'vitest'
import type { PlannedObject } from '../../../apis/templates/plan.ts'
import { groupPlan } from './plan-groups.ts'

const create: PlannedObject = { object: 'ConfigMap/a', action: 'create' }
const prune: PlannedObject = { object: 'ConfigMap/b', action: 'prune' }

test('namespaces that would be treated alike are together, the largest group first', () => {
  const namespaces = [
    { namespace: 'x', objects: [prune] },
    { namespace: 'y', objects: [create, prune] },
    { namespace: 'z', objects: [create, prune] },
  ]
  expect(groupPlan({ namespaces })).toEqual([
    { namespaces: ['y', 'z'], objects: [create, prune] },
    { namespaces: ['x'], objects: [prune] },
  ])
})
