import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { MemberStatus } from './messages.ts'
import { SlowRequests } from './slow-requests.ts'

function member(): {
  clock: FakeClock
  slow: SlowRequests
  status: (next: Omit<MemberStatus, 'version'> | 'silent' | 'refused') => void
  /** One after the other: what befell the requests that were sent. */
  told: string[]
  asked: () => number
  send: (name: string) => () => void
} {
  const clock = new FakeClock()
  let status: Omit<MemberStatus, 'version'> | 'silent' | 'refused' = { term: 2, hasLeader: true }
  let asked = 0
  const told: string[] = []
  const slow = new SlowRequests({
    clock,
    async ask(timeoutMs) {
      asked++
      if (status === 'refused') throw new Error('connect ECONNREFUSED')
      if (status !== 'silent') return { ...status, version: '3.4.23' }
      await new Promise<void>((resolve) => clock.after(timeoutMs, resolve))
      return 'silent'
    },
    onSilent: () => told.push('silent'),
  })
  return {
    clock,
    slow,
    told,
    status: (next) => {
      status = next
    },
    asked: () => asked,
    send(name) {
      const request = slow.begin(({ message }) => told.push(`${name}: ${message}`))
      return () => slow.end(request, 2)
    },
  }
}

async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 50) await clock.advance(50)
}

describe('requests that etcd does not answer', () => {
  it('that are answered in time cost no question', async () => {
    const { clock, send, asked, told } = member()
    for (let i = 0; i < 40; i++) {
      const answered = send('quick')
      await clock.advance(100)
      answered()
    }
    expect([asked(), told]).toEqual([0, []])
  })

  it('are waited for as long as their member has the leader they were sent under', async () => {
    const { clock, send, asked, told } = member()
    send('first')()
    send('slow')
    await pass(clock, 9000)
    expect(asked()).toBeGreaterThan(10)
    expect(told).toEqual([])
  })

  it('are given up soon after another leader was elected; those sent under it are not', async () => {
    const { clock, send, status, told } = member()
    send('first')()
    send('old')
    await pass(clock, 300)
    status({ term: 3, hasLeader: false })
    await pass(clock, 3000)
    expect(told).toEqual([])
    status({ term: 3, hasLeader: true })
    await pass(clock, 500)
    send('new')
    await pass(clock, 700)
    expect(told).toEqual(['old: etcd elected another leader and has not answered 750 ms later'])
    await pass(clock, 5000)
    expect(told).toHaveLength(1)
  })

  it('are given up, once, where it is not known under which leader they were sent', async () => {
    const { clock, send, told } = member()
    send('first')
    await pass(clock, 1400)
    expect(told).toEqual([])
    await pass(clock, 400)
    expect(told).toEqual(['first: etcd elected another leader and has not answered 750 ms later'])
    send('again')
    await pass(clock, 9000)
    expect(told).toHaveLength(1)
  })

  it('are given up when their member is silent altogether, and it is left', async () => {
    const { clock, send, status, told } = member()
    send('lost')
    status('silent')
    await pass(clock, 3500)
    send('young')
    await pass(clock, 1000)
    expect(told).toEqual(['silent', 'lost: the member has been silent for 3500 ms'])
  })

  it('are left to their connection when that is broken', async () => {
    const { clock, send, status, told } = member()
    send('broken')
    status('refused')
    await pass(clock, 9000)
    expect(told).toEqual([])
  })

  it('are never given up after they were answered', async () => {
    const { clock, send, status, told } = member()
    const answered = send('late')
    status({ term: 3, hasLeader: true })
    await pass(clock, 1000)
    answered()
    await pass(clock, 5000)
    expect(told).toEqual([])
  })
})
