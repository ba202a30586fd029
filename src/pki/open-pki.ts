/**
 * The server's own certificate authority, serving certificate and service-account keys: made on first start, kept
 * beside the data, renewed when they must be.
 *
 *   ca.key, ca.crt               signs the serving certificate and client certificates; valid for ten years
 *   server.key, server.crt       reissued when a name is not covered, near expiry, or signed by another CA
 *   sa-<kid>.key, sa-<kid>.crt   service-account tokens; all verify, the newest that has its .key signs, also one that
 *                                was added while a server runs (`signing-keys.ts`). To retire one,
 *                                remove its .key and keep its .crt until its last token has expired
 *
 * Keys are EC P-256. Where the files live is a `PkiStore`: a directory, memory (tests), or a store shared by replicas.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { type ServiceAccountKey, serviceAccountKey } from '../authn/service-account-key.ts'
import type { Clock } from '../base/clock.ts'
import { PrivateFileError } from '../base/private-files.ts'
import {
  addressBytes,
  generateKeyPair,
  issueCertificate,
  type KeyPair,
  keyPairOf,
  privateKeyPem,
} from '../base/x509-certificate.ts'
import type { PkiStore } from './pki-store.ts'

/** Both in PEM. */
export interface Credential {
  readonly cert: string
  readonly key: string
}

export interface ClientCertificateRequest {
  readonly user: string
  readonly groups: readonly string[]
  readonly durationMs: number
}

export interface CertificateAuthority {
  /** PEM: what clients trust. */
  readonly caCert: string
  /** A fresh key and certificate; ends with the CA at the latest. */
  mintClientCertificate(request: ClientCertificateRequest): Credential
  /** For a key that its owner keeps. PEM; ends with the CA at the latest. */
  signClientCertificate(request: ClientCertificateRequest, publicKey: KeyObject): string
}

export interface Pki extends CertificateAuthority {
  readonly serving: Credential
  /** The one that signs comes first. */
  readonly serviceAccountKeys: readonly ServiceAccountKey[]
}

export interface PkiOptions {
  readonly clock: Clock
  /** Host names and addresses that clients may use: see `servingNames`. */
  readonly names: readonly string[]
}

const dayMs = 86_400_000
const authorityMs = 3650 * dayMs
const servingMs = 365 * dayMs
/** Reissued at a start within this time of the end. */
const renewMs = 60 * dayMs
/**
 * Certificates begin this much in the past: for clients whose clocks run behind, and so that a server's clock that was
 * ahead when they were made (by a time zone, or a day) and is set right later locks no client out.
 */
const skewMs = 2 * dayMs

const authoritySubject = { commonName: 'borough' }

/** Reads what is there and makes what is missing. @throws PrivateFileError with one line for the operator */
export async function openPki(store: PkiStore, options: PkiOptions): Promise<Pki> {
  for (;;) {
    const files = await store.read()
    const made = new Map<string, string>()
    const now = options.clock.now()
    const authority = findAuthority(store, files, now) ?? makeAuthority(store, files, now, made)
    const serving =
      findServing(files, authority, options.names, now) ?? makeServing(authority, options.names, now, made)
    const keys = findServiceAccountKeys(store, files)
    if (!keys.some((key) => key.privateKey)) keys.unshift(makeServiceAccountKey(now, made))
    // Lost only against a replica that made what was missing, so the next look finds it.
    if (made.size > 0 && !(await store.write(made))) continue
    return { ...certificateAuthority(authority, options.clock), serving, serviceAccountKeys: keys }
  }
}

/**
 * The CA alone, for commands that mint certificates beside a server. `remedy`: what to do where there is none.
 *
 * @throws PrivateFileError if there is none
 */
export async function openCertificateAuthority(
  store: PkiStore,
  clock: Clock,
  remedy = "start 'borough up' first",
): Promise<CertificateAuthority> {
  const authority = findAuthority(store, await store.read(), clock.now())
  if (!authority) throw new PrivateFileError(`there is no certificate authority in ${store.place}: ${remedy}`)
  return certificateAuthority(authority, clock)
}

interface Authority {
  readonly cert: string
  readonly key: KeyPair
  readonly notAfterMs: number
}

function certificateAuthority(authority: Authority, clock: Clock): CertificateAuthority {
  const sign: CertificateAuthority['signClientCertificate'] = ({ user, groups, durationMs }, publicKey) => {
    if (user === '') throw new RangeError('a client certificate needs a user name')
    if (!(durationMs > 0)) throw new RangeError('a client certificate must be valid for some time')
    const now = clock.now()
    return issueCertificate({
      subject: { commonName: user, organizations: groups },
      publicKey,
      issuer: { subject: authoritySubject, key: authority.key },
      notBeforeMs: now - skewMs,
      notAfterMs: Math.min(now + durationMs, authority.notAfterMs),
      usage: 'client',
    })
  }
  return {
    caCert: authority.cert,
    signClientCertificate: sign,
    mintClientCertificate(request) {
      const key = generateKeyPair()
      return { cert: sign(request, key.publicKey), key: privateKeyPem(key.privateKey) }
    },
  }
}

function findAuthority(store: PkiStore, files: ReadonlyMap<string, string>, now: number): Authority | undefined {
  const cert = files.get('ca.crt')
  const key = files.get('ca.key')
  if (cert === undefined) return undefined
  if (key === undefined) {
    throw new PrivateFileError(`${store.place} has ca.crt but not ca.key: restore it, or remove ca.crt to get a new CA`)
  }
  const parsed = parseCertificate(store, 'ca.crt', cert)
  const pair = keyPairOf(parseKey(store, 'ca.key', key))
  if (!parsed.publicKey.equals(pair.publicKey)) {
    throw new PrivateFileError(`${store.place}: ca.key does not belong to ca.crt: restore the right pair`)
  }
  const notAfterMs = parsed.validToDate.getTime()
  if (notAfterMs <= now) {
    throw new PrivateFileError(
      `${store.place}: ca.crt expired on ${parsed.validTo}: remove ca.crt and ca.key to get a new CA`,
    )
  }
  return { cert, key: pair, notAfterMs }
}

/** With the key that is there, if a start was interrupted before its certificate was written; else with a new one. */
function makeAuthority(
  store: PkiStore,
  files: ReadonlyMap<string, string>,
  now: number,
  made: Map<string, string>,
): Authority {
  const kept = files.get('ca.key')
  const key = kept === undefined ? generateKeyPair() : keyPairOf(parseKey(store, 'ca.key', kept))
  const notAfterMs = Math.floor((now + authorityMs) / 1000) * 1000
  const cert = issueCertificate({
    subject: authoritySubject,
    publicKey: key.publicKey,
    issuer: { subject: authoritySubject, key },
    notBeforeMs: now - skewMs,
    notAfterMs,
    usage: 'authority',
  })
  made.set('ca.crt', cert).set('ca.key', privateKeyPem(key.privateKey))
  return { cert, key, notAfterMs }
}

/** undefined = make a new one; a damaged one counts as missing, since nothing is lost with it. */
function findServing(
  files: ReadonlyMap<string, string>,
  authority: Authority,
  names: readonly string[],
  now: number,
): Credential | undefined {
  const cert = files.get('server.crt')
  const key = files.get('server.key')
  if (cert === undefined || key === undefined) return undefined
  try {
    const parsed = new X509Certificate(cert)
    const good =
      parsed.verify(authority.key.publicKey) &&
      parsed.checkPrivateKey(createPrivateKey(key)) &&
      parsed.validFromDate.getTime() <= now &&
      parsed.validToDate.getTime() - now > renewMs &&
      names.every((name) => (addressBytes(name) ? parsed.checkIP(name) : parsed.checkHost(name)) !== undefined)
    return good ? { cert, key } : undefined
  } catch {
    return undefined
  }
}

function makeServing(
  authority: Authority,
  names: readonly string[],
  now: number,
  made: Map<string, string>,
): Credential {
  const pair = generateKeyPair()
  const cert = issueCertificate({
    subject: { commonName: 'kube-apiserver' },
    publicKey: pair.publicKey,
    issuer: { subject: authoritySubject, key: authority.key },
    notBeforeMs: now - skewMs,
    notAfterMs: Math.min(now + servingMs, authority.notAfterMs),
    usage: 'server',
    names,
  })
  const key = privateKeyPem(pair.privateKey)
  made.set('server.crt', cert).set('server.key', key)
  return { cert, key }
}

/** Those that can sign come first, the newest in front. */
export function findServiceAccountKeys(store: PkiStore, files: ReadonlyMap<string, string>): ServiceAccountKey[] {
  const found: { readonly key: ServiceAccountKey; readonly bornMs: number }[] = []
  for (const [name, text] of files) {
    const kid = /^sa-(.+)\.crt$/.exec(name)?.[1]
    if (kid === undefined) continue
    const cert = parseCertificate(store, name, text)
    const pem = files.get(`sa-${kid}.key`)
    const privateKey = pem === undefined ? undefined : parseKey(store, `sa-${kid}.key`, pem)
    if (privateKey && !cert.checkPrivateKey(privateKey)) {
      throw new PrivateFileError(
        `${store.place}: sa-${kid}.key does not belong to sa-${kid}.crt: restore the right pair`,
      )
    }
    found.push({ key: serviceAccountKey(cert.publicKey, privateKey), bornMs: cert.validFromDate.getTime() })
  }
  const signs = (key: ServiceAccountKey): number => (key.privateKey ? 1 : 0)
  return found.sort((a, b) => signs(b.key) - signs(a.key) || b.bornMs - a.bornMs).map((f) => f.key)
}

function makeServiceAccountKey(now: number, made: Map<string, string>): ServiceAccountKey {
  const pair = generateKeyPair()
  const key = serviceAccountKey(pair.publicKey, pair.privateKey)
  const subject = { commonName: 'service-account-tokens' }
  const cert = issueCertificate({
    subject,
    publicKey: pair.publicKey,
    issuer: { subject, key: pair },
    notBeforeMs: now,
    notAfterMs: now + authorityMs,
    usage: 'client',
  })
  made.set(`sa-${key.kid}.crt`, cert).set(`sa-${key.kid}.key`, privateKeyPem(pair.privateKey))
  return key
}

/**
 * Adds a key pair, which servers that run take up by themselves; tokens of the older keys stay valid. Answers its kid.
 */
export async function rotateServiceAccountKey(store: PkiStore, clock: Clock): Promise<string> {
  const made = new Map<string, string>()
  const key = makeServiceAccountKey(clock.now(), made)
  await store.write(made)
  return key.kid
}

function parseCertificate(store: PkiStore, name: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch (error) {
    throw new PrivateFileError(`${store.place}: ${name} is not a certificate in PEM: restore it`, { cause: error })
  }
}

function parseKey(store: PkiStore, name: string, text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (error) {
    throw new PrivateFileError(`${store.place}: ${name} is not a private key in PEM: restore it`, { cause: error })
  }
}
