import { expect, test } from 'vitest'
import { podViolations } from './check-limits.ts'

test('thousands of containers are held against a LimitRange in many pieces', () => {
  const resources = { requests: { cpu: '2m' }, limits: { cpu: '3m' } }
  const containers = Array.from({ length: 3000 }, (_, i) => ({ name: `c${i}`, image: 'i', resources }))
  const range = { metadata: { name: 'r' }, spec: { limits: [{ type: 'Container', max: { cpu: '2500u' } }] } }
  const steps = podViolations({ metadata: { name: 'p' }, spec: { containers } }, undefined, range)
  let pieces = 1
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) pieces++
  expect(step.value).toHaveLength(3000)
  expect(step.value[0]).toBe('maximum cpu usage per Container is 2500u, but limit is 3m')
  expect(pieces).toBeGreaterThanOrEqual(30)
})
