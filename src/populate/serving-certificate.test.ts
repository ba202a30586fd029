import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { startControlPlane } from '../testing/index.ts'
import { followMaterial, type Material, obtainMaterial, renew } from './serving-certificate.ts'

const dayMs = 86_400_000
const now = Date.UTC(2026, 0, 1)
const names = ['borough-population.borough-system.svc', '10.0.0.7']
const first = renew({}, names, now) as Material

const certs = (bundle: string): X509Certificate[] =>
  (bundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map((pem) => new X509Certificate(pem))
const daysLeft = (pem: string, at: number): number =>
  Math.round((new X509Certificate(pem).validToDate.getTime() - at) / dayMs)
/** Would an API server that trusts `bundle` accept what is served? */
const isTrusted = (bundle: string, served: string, at: number): boolean => {
  const cert = new X509Certificate(served)
  return certs(bundle).some(
    (ca) => cert.verify(ca.publicKey) && ca.validToDate.getTime() > at && cert.validToDate.getTime() > at,
  )
}

describe('the serving certificate', () => {
  test('is made with its authority where there is none, for the names it is served under', () => {
    const cert = new X509Certificate(first['tls.crt'])
    expect(cert.checkHost(names[0] ?? '')).toBe(names[0])
    expect(cert.checkIP('10.0.0.7')).toBe('10.0.0.7')
    expect(isTrusted(first['ca.crt'], first['tls.crt'], now)).toBe(true)
    expect([daysLeft(first['tls.crt'], now), daysLeft(first['ca.crt'], now)]).toEqual([90, 365])
  })

  test('stays as it is while it is good', () => {
    expect(renew(first, names, now)).toBeUndefined()
    expect(renew(first, names, now + 59 * dayMs)).toBeUndefined()
  })

  test('is signed again, by the same authority, when a third of its time is left', () => {
    const next = renew(first, names, now + 61 * dayMs) as Material
    expect(next['ca.crt']).toBe(first['ca.crt'])
    expect(daysLeft(next['tls.crt'], now + 61 * dayMs)).toBe(90)
  })

  test('is signed again for other names', () => {
    const next = renew(first, [...names, 'other.example'], now) as Material
    expect(next['ca.crt']).toBe(first['ca.crt'])
    expect(new X509Certificate(next['tls.crt']).checkHost('other.example')).toBe('other.example')
  })

  test('covers the names of all who share it: they do not take turns at it', () => {
    const others = ['my-machine.example', '::1']
    const shared = renew(first, others, now) as Material
    for (const who of [names, others]) expect(renew(shared, who, now)).toBeUndefined()
    // When it is renewed for age, names that are asked for no more go.
    const later = renew(shared, names, now + 61 * dayMs) as Material
    expect(new X509Certificate(later['tls.crt']).checkHost('my-machine.example')).toBeUndefined()
  })

  test.each([
    ['a key that is not of the authority', { 'ca.key': first['tls.key'] }],
    ['an authority that is no certificate', { 'ca.crt': 'nonsense' }],
  ])('is made anew with its authority when there is %s', (_name, damage) => {
    const next = renew({ ...first, ...damage }, names, now) as Material
    expect(isTrusted(next['ca.crt'], next['tls.crt'], now)).toBe(true)
    expect(next['ca.crt']).not.toContain('nonsense')
  })

  test('is signed again, by the same authority, when it is damaged', () => {
    const next = renew({ ...first, 'tls.crt': 'nonsense' }, names, now) as Material
    expect(next['ca.crt']).toBe(first['ca.crt'])
    expect(isTrusted(next['ca.crt'], next['tls.crt'], now)).toBe(true)
  })

  test('is trusted, over two years, by who last heard of the authorities an hour ago', () => {
    let held = first
    let published = [{ at: now, bundle: first['ca.crt'] }]
    const authorities = new Set<string>()
    // The hours after a change are walked in steps of ten minutes.
    let stepMs = 2 * dayMs
    for (let at = now; at < now + 2 * 365 * dayMs; at += stepMs) {
      const next = renew(held, names, at)
      stepMs = next === undefined && at - (published.at(-1)?.at ?? 0) > 2 * 3_600_000 ? 2 * dayMs : 600_000
      if (next !== undefined) {
        held = next
        published = [...published, { at, bundle: next['ca.crt'] }]
      }
      for (const cert of certs(held['ca.crt'])) authorities.add(cert.fingerprint256)
      const known = published.findLast((p) => p.at <= at - 55 * 60_000) ?? published[0]
      expect(isTrusted(known?.bundle ?? '', held['tls.crt'], at)).toBe(true)
      expect(certs(held['ca.crt']).length).toBeLessThanOrEqual(3)
    }
    expect(authorities.size).toBe(3)
  })
})

describe('the Secret of the serving certificate', () => {
  const secret = { namespace: 'default', name: 'borough-population-tls' }

  test('is made once, whoever of many replicas comes first', async () => {
    await using plane = await startControlPlane({ population: false })
    const options = { client: plane.client, clock: new FakeClock(now), log: silentLog, secret, names }
    const obtained = await Promise.all(Array.from({ length: 5 }, () => obtainMaterial(options)))
    expect(new Set(obtained.map((m) => m['tls.crt'])).size).toBe(1)
  })

  test('is renewed while its user runs, and its user is told', async () => {
    await using plane = await startControlPlane({ population: false })
    const given = { client: plane.client, log: silentLog, secret, names }
    const old = await obtainMaterial({ ...given, clock: new FakeClock(now) })
    const clock = new FakeClock(now + 61 * dayMs)
    const stop = new AbortController()
    let material: Material | undefined
    const following = followMaterial(
      { ...given, clock },
      old,
      async (next) => {
        material = next
      },
      stop.signal,
    )
    // Time goes on; the server answers when it does.
    while (material === undefined) await clock.advance(60_000)
    stop.abort()
    await following
    expect(isTrusted(material['ca.crt'], material['tls.crt'], clock.now())).toBe(true)
  })

  describe('that is deleted', () => {
    const withPlane = async (
      work: (options: Parameters<typeof obtainMaterial>[0], lose: () => Promise<unknown>) => Promise<void>,
    ): Promise<void> => {
      await using plane = await startControlPlane({ population: false })
      const { client } = plane
      const lose = (): Promise<unknown> => client.delete({ group: '', version: 'v1', resource: 'secrets' }, secret)
      await work({ client, clock: new FakeClock(now), log: silentLog, secret, names }, lose)
    }

    test('is put back as it was by a process that runs', () =>
      withPlane(async (options, lose) => {
        const served = await obtainMaterial(options)
        await lose()
        expect(await obtainMaterial(options, served)).toEqual(served)
        expect(await obtainMaterial(options)).toEqual(served)
      }))

    test('leaves those trusted that others still serve with, where a process starts first', () =>
      withPlane(async (options, lose) => {
        const served = await obtainMaterial(options)
        await lose()
        const started = await obtainMaterial(options, { 'ca.crt': served['ca.crt'] })
        expect(started['ca.crt']).not.toBe(served['ca.crt'])
        for (const { 'tls.crt': cert } of [served, started]) expect(isTrusted(started['ca.crt'], cert, now)).toBe(true)
        // The others take over what they find, however often it is lost and made anew.
        expect(await obtainMaterial(options, served)).toEqual(started)
        let last = started
        for (let times = 0; times < 5; times++) last = renew({ 'ca.crt': last['ca.crt'] }, names, now) as Material
        expect(certs(last['ca.crt'])).toHaveLength(4)
      }))
  })
})
