import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../kube/types.ts'
import { planBootstrap } from './bootstrap.ts'
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from './bootstrap-objects.ts'
import { planFlowSchemas, planPriorityLevels } from './flowcontrol.ts'

const annotation = 'apf.kubernetes.io/autoupdate-spec'
const wantedSpec = { n: 1 }
const editedSpec = { n: 2 }
const wanted: KubeObject = {
  kind: 'FlowSchema',
  metadata: { name: 'x', annotations: { [annotation]: 'true' } },
  spec: wantedSpec,
}

const stored = (spec: object, generation: number, annotated?: string): KubeObject => ({
  kind: 'FlowSchema',
  metadata: {
    name: 'x',
    generation,
    resourceVersion: '7',
    annotations: { other: 'kept', ...(annotated === undefined ? {} : { [annotation]: annotated }) },
  },
  spec,
})

describe('reconciling the bootstrap objects', () => {
  test.each([
    {
      name: 'is left alone when nothing differs',
      object: stored(wantedSpec, 1, 'true'),
      mandatory: false,
      want: undefined,
    },
    {
      name: 'is put back while it is auto-updated',
      object: stored(editedSpec, 2, 'true'),
      mandatory: false,
      want: stored(wantedSpec, 2, 'true'),
    },
    {
      name: 'is the operator’s once auto-update is off',
      object: stored(editedSpec, 2, 'false'),
      mandatory: false,
      want: undefined,
    },
    {
      name: 'is put back without annotation if it was never edited',
      object: stored(editedSpec, 1),
      mandatory: false,
      want: stored(wantedSpec, 1, 'true'),
    },
    {
      name: 'is the operator’s without annotation if it was edited',
      object: stored(editedSpec, 2),
      mandatory: false,
      want: stored(editedSpec, 2, 'false'),
    },
    {
      name: 'with a malformed annotation counts as without one',
      object: stored(editedSpec, 3, 'perhaps'),
      mandatory: false,
      want: stored(editedSpec, 3, 'false'),
    },
    {
      name: 'may spell the annotation as Go reads booleans',
      object: stored(editedSpec, 3, 'F'),
      mandatory: false,
      want: undefined,
    },
    {
      name: 'that is mandatory is put back whatever the annotation says',
      object: stored(editedSpec, 4, 'false'),
      mandatory: true,
      want: stored(wantedSpec, 4, 'true'),
    },
    {
      name: 'that is mandatory gets its annotation back',
      object: stored(wantedSpec, 4),
      mandatory: true,
      want: stored(wantedSpec, 4, 'true'),
    },
  ])('an object $name', ({ object, mandatory, want }) => {
    const objects = mandatory ? { mandatory: [wanted], suggested: [] } : { mandatory: [], suggested: [wanted] }
    expect(planBootstrap([object], objects)).toEqual(want === undefined ? [] : [{ verb: 'update', object: want }])
  })

  test.each([
    { kind: 'FlowSchema', plan: planFlowSchemas, wantedObjects: [...suggestedFlowSchemas, ...mandatoryFlowSchemas] },
    {
      kind: 'PriorityLevelConfiguration',
      plan: planPriorityLevels,
      wantedObjects: [...suggestedPriorityLevels, ...mandatoryPriorityLevels],
    },
  ])('creates each $kind that is missing, suggested ones first, and is then content', ({ plan, wantedObjects }) => {
    const writes = plan([])
    expect(writes).toEqual(wantedObjects.map((object) => ({ verb: 'create', object })))
    expect(plan(wantedObjects)).toEqual([])
  })

  test('deletes what an older release brought, and nothing else that it does not know', () => {
    const named = (name: string, annotated?: string): KubeObject => ({
      ...stored(editedSpec, 1, annotated),
      metadata: { ...stored(editedSpec, 1, annotated).metadata, name },
    })
    const current = [named('old', 'true'), named('kept-old', 'false'), named('own'), named('odd', 'perhaps')]
    expect(planBootstrap(current, { mandatory: [], suggested: [] })).toEqual([
      { verb: 'delete', name: 'old', resourceVersion: '7' },
    ])
  })

  test('leaves the operator the field exempt of the level exempt, and nothing else of it', () => {
    const level = mandatoryPriorityLevels.find(({ metadata }) => metadata.name === 'exempt')
    if (level === undefined) throw new Error('there is no level exempt')
    const objects = { mandatory: [level], suggested: [] }
    const exempt = { nominalConcurrencyShares: 10, lendablePercent: 50 }
    const edited = { ...level, spec: { type: 'Exempt', exempt } }
    expect(planBootstrap([edited], objects)).toEqual([])
    const broken = { ...level, spec: { type: 'Limited', exempt, limited: {} } }
    expect(planBootstrap([broken], objects)).toEqual([{ verb: 'update', object: edited }])
  })
})
