/** How far the pods of a namespace are looked at, and in which order. */
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../base/clock.ts'
import { FakeClock } from '../../../base/fake-clock.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { warnOfExisting } from './existing-pods.ts'

const enforce = { level: 'baseline', version: 'latest', minor: Number.POSITIVE_INFINITY } as const
const violated = 'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"'
const waiting = new AbortController().signal

const pod = (name: string, spec: object = { hostPID: true }, uid?: string): KubeObject => ({
  metadata: {
    name,
    ...(uid === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'k', uid, controller: true }] }),
  },
  spec,
})

/** Every look at it takes as long. */
function slow(msPerLook: number): Clock {
  const clock = new FakeClock(0)
  let looks = 0
  return { now: () => 0, monotonic: () => looks++ * msPerLook, after: (ms, run) => clock.after(ms, run) }
}

describe('pods that are there', () => {
  it('are told by what they violate, by the first name and how many more', async () => {
    const pods = [
      ...[pod('c'), pod('b'), pod('d', { hostPID: false })],
      ...[
        pod('a', { hostPID: true, volumes: [{ name: 'v', hostPath: {} }] }),
        pod('e', { volumes: [{ name: 'v', hostPath: {} }] }),
      ],
    ]
    expect(await warnOfExisting('n', [...pods, pod('f')], enforce, { clock: slow(0), signal: waiting })).toEqual([
      violated,
      'a: host namespaces, hostPath volumes',
      'b (and 2 other pods): host namespaces',
      'e: hostPath volumes',
    ])
    expect(await warnOfExisting('n', [pod('b'), pod('a')], enforce, { clock: slow(0), signal: waiting })).toEqual([
      violated,
      'a (and 1 other pod): host namespaces',
    ])
    expect(await warnOfExisting('n', [pod('b', {})], enforce, { clock: slow(0), signal: waiting })).toEqual([])
  })

  it('are 3000 at most, first one of each controller', async () => {
    const alike = Array.from({ length: 3_000 }, (_, i) => pod(`p${i}`, {}, 'u'))
    const pods = [...alike, pod('last'), pod('other', { hostIPC: true }, 'v')]
    expect(await warnOfExisting('n', pods, enforce, { clock: slow(0), signal: waiting })).toEqual([
      'new PodSecurity enforce level only checked against the first 3000 of 3002 existing pods',
      violated,
      'last (and 1 other pod): host namespaces',
    ])
  })

  it.each([
    { name: 'for a second', deadlineMs: undefined, checked: 10 },
    { name: 'for half of what the caller will wait', deadlineMs: 800, checked: 4 },
    { name: 'for a second, however long the caller waits', deadlineMs: 60_000, checked: 10 },
  ])('are looked at $name', async ({ deadlineMs, checked }) => {
    const pods = Array.from({ length: 20 }, (_, i) => pod(`p${i}`, {}))
    expect(await warnOfExisting('n', pods, enforce, { clock: slow(100), signal: waiting, deadlineMs })).toEqual([
      `new PodSecurity enforce level only checked against the first ${checked} of 20 existing pods`,
    ])
  })

  it('are left alone when nobody waits for the answer', async () => {
    const gone = AbortSignal.abort()
    expect(await warnOfExisting('n', [pod('a', {}), pod('b')], enforce, { clock: slow(0), signal: gone })).toEqual([
      'new PodSecurity enforce level only checked against the first 1 of 2 existing pods',
    ])
  })
})
