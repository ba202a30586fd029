/**
 * The certificate that the webhooks serve with and the authority that API servers are told to trust, both made here,
 * kept in a Secret that the replicas share, and renewed while they run.
 *
 *   ca.crt    authorities that are trusted, the one that signs first; ca.key its key
 *   tls.crt   the serving certificate; tls.key its key
 *
 * Renewal is one step at a time, so that no client is ever shown a certificate that it does not trust yet:
 *
 *   serving certificate has a third of its time left ──▶ signed again by the authority
 *   authority has a third of its time left           ──▶ a new one, put in front; the old one is still trusted
 *   new authority has been published for an hour     ──▶ serving certificate signed by it
 *   an authority has expired                         ──▶ no longer trusted
 *
 * Nor where the Secret is lost: a process that runs puts back what it serves with, and one that starts makes a new
 * authority beside those that API servers trust, for others may still serve with a certificate of these.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { type Clock, sleep } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import {
  addressBytes,
  generateKeyPair,
  issueCertificate,
  type KeyPair,
  keyPairOf,
  privateKeyPem,
} from '../base/x509-certificate.ts'
import type { Client, ObjectRef } from '../client/client.ts'
import { findObject } from '../client/find-object.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'

/** PEM texts by name. */
export type Material = Readonly<Record<'ca.crt' | 'ca.key' | 'tls.crt' | 'tls.key', string>>

const dayMs = 86_400_000
const authorityMs = 365 * dayMs
const servingMs = 90 * dayMs
/** Part of its time that a certificate has left when it is renewed. */
const renewPart = 1 / 3
/** How long a new authority is made known before anything is signed by it; many times `checkMs`. */
const settleMs = 60 * 60_000
/** For API servers whose clocks run behind. */
const skewMs = 5 * 60_000
const checkMs = 10 * 60_000

/** Authorities without a key that stay trusted: of each loss of the Secret there is one. */
const mostFormer = 3

const authoritySubject = { commonName: 'borough-population' }

interface Authority {
  readonly cert: X509Certificate
  readonly pem: string
}

/** What takes the place of `old`, one step further; undefined if it is good as it is. */
export function renew(old: Partial<Material>, names: readonly string[], nowMs: number): Material | undefined {
  const trusted = authoritiesIn(old['ca.crt'] ?? '').filter(({ cert }) => cert.validToDate.getTime() > nowMs)
  const [signing] = trusted
  const key = signing && keyOf(signing.cert, old['ca.key'])
  if (signing === undefined || key === undefined) return fromScratch(names, trusted, nowMs)

  const bundle = trusted.map(({ pem }) => pem).join('')
  const kept = { 'ca.crt': bundle, 'ca.key': old['ca.key'] ?? '' }
  const signed = (of: readonly string[]): Material => ({
    ...kept,
    ...servingBy(key, signing.cert.validToDate.getTime(), of, nowMs),
  })
  const served = findServing(old)
  const issuer = served && trusted.find(({ cert }) => served.verify(cert.publicKey))
  if (served === undefined || issuer === undefined || isEnding(served, nowMs)) return signed(names)
  // Beside the names of others who use the same Secret, so that they do not take turns at it.
  if (!names.every((name) => isNamed(served, name))) return signed([...new Set([...names, ...namesIn(served)])])
  const serving = { 'tls.crt': old['tls.crt'] ?? '', 'tls.key': old['tls.key'] ?? '' }
  if (isEnding(signing.cert, nowMs)) {
    const next = newAuthority(nowMs)
    return { 'ca.crt': next.pem + bundle, 'ca.key': privateKeyPem(next.key.privateKey), ...serving }
  }
  if (issuer !== signing && nowMs - signing.cert.validFromDate.getTime() - skewMs >= settleMs) {
    return signed([...new Set([...names, ...namesIn(served)])])
  }
  return bundle === old['ca.crt'] ? undefined : { ...kept, ...serving }
}

/** `trusted`: whose keys are lost. */
function fromScratch(names: readonly string[], trusted: readonly Authority[], nowMs: number): Material {
  const { key, pem, notAfterMs } = newAuthority(nowMs)
  const former = trusted.slice(0, mostFormer).map((authority) => authority.pem)
  const authorities = { 'ca.crt': [pem, ...former].join(''), 'ca.key': privateKeyPem(key.privateKey) }
  return { ...authorities, ...servingBy(key, notAfterMs, names, nowMs) }
}

function newAuthority(nowMs: number): { readonly key: KeyPair; readonly pem: string; readonly notAfterMs: number } {
  const key = generateKeyPair()
  const notAfterMs = nowMs + authorityMs
  const pem = issueCertificate({
    subject: authoritySubject,
    publicKey: key.publicKey,
    issuer: { subject: authoritySubject, key },
    notBeforeMs: nowMs - skewMs,
    notAfterMs,
    usage: 'authority',
  })
  return { key, pem, notAfterMs }
}

function servingBy(
  authority: KeyPair,
  authorityEndsMs: number,
  names: readonly string[],
  nowMs: number,
): Pick<Material, 'tls.crt' | 'tls.key'> {
  const pair = generateKeyPair()
  const cert = issueCertificate({
    subject: { commonName: names[0] ?? 'borough-population' },
    publicKey: pair.publicKey,
    issuer: { subject: authoritySubject, key: authority },
    notBeforeMs: nowMs - skewMs,
    notAfterMs: Math.min(nowMs + servingMs, authorityEndsMs),
    usage: 'server',
    names,
  })
  return { 'tls.crt': cert, 'tls.key': privateKeyPem(pair.privateKey) }
}

function isEnding(cert: X509Certificate, nowMs: number): boolean {
  const from = cert.validFromDate.getTime()
  const to = cert.validToDate.getTime()
  return to - nowMs < renewPart * (to - from)
}

/** What can't be read counts as missing: nothing is lost with it. */
function authoritiesIn(bundle: string): Authority[] {
  const pems = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? []
  return pems.flatMap((pem) => {
    const cert = readable(() => new X509Certificate(pem))
    return cert === undefined ? [] : [{ cert, pem: pem.endsWith('\n') ? pem : `${pem}\n` }]
  })
}

function keyOf(cert: X509Certificate, pem: string | undefined): KeyPair | undefined {
  const pair = readable(() => keyPairOf(createPrivateKey(pem ?? '')))
  return pair !== undefined && cert.publicKey.equals(pair.publicKey) ? pair : undefined
}

function findServing(old: Partial<Material>): X509Certificate | undefined {
  const cert = readable(() => new X509Certificate(old['tls.crt'] ?? ''))
  const key = readable(() => createPrivateKey(old['tls.key'] ?? ''))
  return cert !== undefined && key !== undefined && cert.checkPrivateKey(key) ? cert : undefined
}

const isNamed = (cert: X509Certificate, name: string): boolean =>
  (addressBytes(name) ? cert.checkIP(name) : cert.checkHost(name)) !== undefined

/** `DNS:a.svc, IP Address:10.0.0.7`: none of ours needs the quotes that Node puts round odd ones. */
const namesIn = ({ subjectAltName = '' }: X509Certificate): string[] =>
  subjectAltName.split(', ').flatMap((entry) => (entry === '' ? [] : [entry.slice(entry.indexOf(':') + 1)]))

function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

export interface ServingCertificateOptions {
  readonly client: Client
  readonly clock: Clock
  readonly log: Log
  readonly secret: ObjectRef & { readonly namespace: string }
  /** DNS names and IP addresses. */
  readonly names: readonly string[]
}

const secrets = { group: '', version: 'v1', resource: 'secrets' } as const

/**
 * Reads the Secret, renews it where that is due, and answers what it holds. Replicas may call it at the same time.
 * `lost`: what is known of it, should it hold nothing.
 */
export async function obtainMaterial(
  options: ServingCertificateOptions,
  lost: Partial<Material> = {},
): Promise<Material> {
  const { client, clock, secret, names } = options
  for (;;) {
    const found = await findObject(client, secrets, secret)
    const stored = materialIn(found)
    const isLost = Object.keys(stored).length === 0
    const held = isLost ? lost : stored
    const next = renew(held, names, clock.now()) ?? (held as Material)
    if (!isLost && next === held) return next
    const data = Object.fromEntries(Object.entries(next).map(([k, v]) => [k, Buffer.from(v).toString('base64')]))
    try {
      if (found === undefined) {
        await client.create(secrets, {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { ...secret },
          type: 'Opaque',
          data,
        })
      } else await client.update(secrets, { ...found, data: { ...(found['data'] as object), ...data } })
      return next
    } catch (error) {
      // Another replica was faster: what it made is as good.
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error
    }
  }
}

/** Looks again every few minutes, until `signal` aborts; tells what changed. Never rejects. */
export async function followMaterial(
  options: ServingCertificateOptions,
  first: Material,
  onChange: (next: Material) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = options
  let known = first
  for (;;) {
    await sleep(clock, checkMs, signal)
    if (signal.aborted) return
    try {
      const next = await obtainMaterial(options, known)
      if (JSON.stringify(next) === JSON.stringify(known)) continue
      await onChange(next)
      known = next
      log.info({ secret: options.secret.name }, 'serves with a new certificate')
    } catch (error) {
      log.error({ error, secret: options.secret.name }, 'the serving certificate could not be looked after')
    }
  }
}

function materialIn(secret: KubeObject | undefined): Partial<Material> {
  const data = (secret?.['data'] ?? {}) as Record<string, string>
  const names = ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = data[name]
      return value === undefined ? [] : [[name, Buffer.from(value, 'base64').toString()]]
    }),
  )
}

/** Milliseconds since the epoch at which the serving certificate ends. */
export const endOf = (material: Material): number => new X509Certificate(material['tls.crt']).validToDate.getTime()
