/** When limits are asked about an object at all, and which of them are believed. */
import { describe, expect, test } from 'vitest'
import { attributesOf } from '../../../test/support/admission-attributes.ts'
import type { KubeObject } from '../../kube/types.ts'
import { limitRanger } from './admission.ts'
import type { LimitRange } from './types.ts'

const type = { group: '', version: 'v1', resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim' }
const range = (storage: string): LimitRange => ({
  ...{ apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l', namespace: 'team' } },
  spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage } }] },
})
const claim = (storage: string, metadata: object = {}): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c', ...metadata } },
  spec: { resources: { requests: { storage } } },
})

/** `now`: what is there when everything acknowledged has been seen. */
function asked(known: LimitRange, now: LimitRange = known) {
  let refreshes = 0
  const plugin = limitRanger({
    of: () => [refreshes === 0 ? known : now],
    refresh: async () => void refreshes++,
  })
  const about = async (object: KubeObject | undefined, oldObject?: KubeObject): Promise<string> => {
    try {
      await plugin.validate?.(attributesOf({ type, object, oldObject, operation: oldObject ? 'UPDATE' : 'CREATE' }))
      return 'accepted'
    } catch (error) {
      return (error as Error).message
    }
  }
  return { about, refreshes: () => refreshes }
}

const refused =
  'persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi'

describe('a claim', () => {
  test('beyond the limit is refused', async () => {
    const { about, refreshes } = asked(range('1Gi'))
    expect([await about(claim('2Gi')), refreshes()]).toEqual([refused, 1])
    expect(await about(claim('2Gi'), claim('1Gi'))).toBe(refused)
  })

  test('within it is accepted, and nobody else is asked', async () => {
    const { about, refreshes } = asked(range('1Gi'))
    expect([await about(claim('1Gi')), refreshes()]).toEqual(['accepted', 0])
  })

  test('beyond a limit that was lifted a moment ago is accepted', async () => {
    const { about, refreshes } = asked(range('1Gi'), range('2Gi'))
    expect([await about(claim('2Gi')), refreshes()]).toEqual(['accepted', 1])
  })

  test('that is being deleted may be changed, whatever the limits are by now', async () => {
    const { about } = asked(range('1Gi'))
    expect(await about(claim('2Gi'), claim('2Gi', { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toBe('accepted')
  })

  test('that is only deleted is not asked about', async () => {
    expect(await asked(range('1Gi')).about(undefined, claim('2Gi'))).toBe('accepted')
  })
})
