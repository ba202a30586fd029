import { expect, test } from 'vitest'
import { usagesOf } from './quota-glance.tsx'

const quota = (name: string, hard: Record<string, string>) => ({ metadata: { name }, status: { hard } })

test('what two quotas limit is told apart by their names, and the nearest limit stands first', () => {
  const quotas = [
    { metadata: { name: 'team' }, status: { hard: { pods: '20' }, used: { pods: '5' } } },
    quota('default', { pods: '50', configmaps: '100' }),
  ]
  expect(usagesOf(quotas).map(({ resource, used, hard }) => `${resource} ${used}/${hard}`)).toEqual([
    'pods (team) 5/20',
    'configmaps 0/100',
    'pods (default) 0/50',
  ])
})
