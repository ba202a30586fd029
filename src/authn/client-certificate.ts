/**
 * Client certificates: common name = user, each organization = a group. The TLS adapter has verified the chain; what
 * may change while a connection lives (the end of validity) and what TLS libraries disagree about (the purpose) is
 * checked here, at every request.
 * @see k8s.io/apiserver/pkg/authentication/request/x509/x509.go v0.36
 */
import { hash, X509Certificate } from 'node:crypto'
import { BoundedCache } from '../base/bounded-cache.ts'
import type { Clock } from '../base/clock.ts'
import { subjectOfCertificate } from '../base/subject-name.ts'
import { unauthorized } from '../kube/status-error.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Authenticator, Credentials } from './authn.ts'
import { clientAuth, isIssuedBy } from './certificates.ts'

interface Holder {
  /** undefined = names no user. */
  readonly user: UserInfo | undefined
  readonly forClients: boolean
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

/** Refused like a certificate for other purposes. */
const namesNobody: Holder = { user: undefined, forClients: false, notBeforeMs: 0, notAfterMs: 0 }

const anyPurpose = '2.5.29.37.0'

export class ClientCertificateAuthenticator implements Authenticator {
  readonly #clock: Clock
  /** One connection hands over the same bytes with each request. */
  #byBytes = new WeakMap<Uint8Array, Holder>()
  readonly #authorities: (() => readonly X509Certificate[]) | undefined
  /** Of whom the holders that are kept were read. */
  #issuers: readonly X509Certificate[] | undefined
  #byFingerprint: BoundedCache<string, Holder>
  readonly #cacheSize: number

  /**
   * `authorities`: who must have issued a certificate, as it is now; another array is another answer. Absent = any that
   * the adapter trusts.
   */
  constructor(
    clock: Clock,
    { authorities, cacheSize = 4096 }: { authorities?: () => readonly X509Certificate[]; cacheSize?: number } = {},
  ) {
    this.#clock = clock
    this.#authorities = authorities
    this.#cacheSize = cacheSize
    this.#byFingerprint = new BoundedCache(cacheSize)
  }

  authenticate(credentials: Credentials): UserInfo | undefined {
    const der = credentials.clientCertificate
    if (der === undefined) return undefined
    const holder = this.#holderOf(der)
    const now = this.#clock.now()
    if (!holder.forClients || now < holder.notBeforeMs || now > holder.notAfterMs) throw unauthorized()
    return holder.user
  }

  #holderOf(der: Uint8Array): Holder {
    const issuers = this.#authorities?.()
    if (issuers !== this.#issuers) {
      this.#issuers = issuers
      this.#byBytes = new WeakMap()
      this.#byFingerprint = new BoundedCache(this.#cacheSize)
    }
    const known = this.#byBytes.get(der)
    if (known) return known
    const fingerprint = hash('sha256', der, 'hex')
    let holder = this.#byFingerprint.get(fingerprint)
    if (!holder) {
      holder = readHolder(der, fingerprint, issuers)
      this.#byFingerprint.set(fingerprint, holder)
    }
    this.#byBytes.set(der, holder)
    return holder
  }
}

function readHolder(der: Uint8Array, fingerprint: string, authorities: readonly X509Certificate[] | undefined): Holder {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(der)
  } catch {
    // Bytes of a stranger: nothing about them is worth telling.
    return namesNobody
  }
  if (authorities && !isIssuedBy(certificate, authorities)) return namesNobody
  const subject = subjectOfCertificate(der)
  if (subject === undefined) return namesNobody
  const { commonName: username, organizations: groups } = subject
  const purposes = certificate.keyUsage as readonly string[] | undefined
  return {
    user:
      username === ''
        ? undefined
        : {
            username,
            groups,
            extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
          },
    forClients: purposes === undefined || purposes.includes(clientAuth) || purposes.includes(anyPurpose),
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
  }
}
