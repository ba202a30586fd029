/**
 * A proxy in front that has already found out who asks: it shows a certificate of its own authority and names the user
 * in headers. From any other client these headers mean nothing.
 *
 * The certificate must be issued by that authority itself, without intermediates.
 *
 * @see k8s.io/apiserver/pkg/authentication/request/headerrequest/requestheader.go v0.36
 */
import { X509Certificate } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { subjectOfCertificate } from '../base/subject-name.ts'
import { unauthorized } from '../kube/status-error.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Authenticator, Credentials } from './authn.ts'
import { authoritiesIn, clientAuth, isIssuedBy } from './certificates.ts'
import { extraHeaders, firstHeaderText, type HeaderSource, headerTexts } from './header-text.ts'

/** As kube-apiserver's `--requestheader-…` flags. Names of headers in lower case. */
export interface FrontProxy {
  /** PEM, one or more. */
  readonly ca: string
  /** Common names of proxies; empty = any that the authority has issued. */
  readonly allowedNames: readonly string[]
  /** The first that has a value counts. */
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraPrefixes: readonly string[]
}

interface Proxy {
  readonly trusted: boolean
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

export class FrontProxyAuthenticator implements Authenticator {
  readonly #proxy: FrontProxy
  readonly #authorities: readonly X509Certificate[]
  readonly #clock: Clock
  /** One connection hands over the same bytes with each request. */
  readonly #known = new WeakMap<Uint8Array, Proxy>()

  constructor(proxy: FrontProxy, clock: Clock) {
    this.#proxy = proxy
    this.#authorities = authoritiesIn(proxy.ca)
    this.#clock = clock
  }

  authenticate({ clientCertificate: der, headers }: Credentials): UserInfo | undefined {
    if (der === undefined || headers === undefined) return undefined
    const proxy = this.#proxyOf(der)
    if (!proxy.trusted) return undefined
    const now = this.#clock.now()
    if (now < proxy.notBeforeMs || now > proxy.notAfterMs) throw unauthorized()
    return this.#userIn(headers)
  }

  #userIn(source: HeaderSource): UserInfo | undefined {
    const { usernameHeaders, uidHeaders, groupHeaders, extraPrefixes } = this.#proxy
    const first = (names: readonly string[]): string | undefined =>
      names.map((name) => firstHeaderText(source, name)).find((value) => value !== '')
    const username = first(usernameHeaders)
    if (username === undefined) return undefined
    const uid = first(uidHeaders)
    const groups = groupHeaders.flatMap((name) => headerTexts(source, name)).filter((group) => group !== '')
    const extra = extraHeaders(source, extraPrefixes)
    return {
      username,
      ...(uid === undefined ? {} : { uid }),
      groups,
      ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
    }
  }

  #proxyOf(der: Uint8Array): Proxy {
    let proxy = this.#known.get(der)
    if (!proxy) {
      proxy = this.#read(der)
      this.#known.set(der, proxy)
    }
    return proxy
  }

  #read(der: Uint8Array): Proxy {
    const stranger: Proxy = { trusted: false, notBeforeMs: 0, notAfterMs: 0 }
    let certificate: X509Certificate
    try {
      certificate = new X509Certificate(der)
    } catch {
      // Bytes of a stranger: nothing about them is worth telling.
      return stranger
    }
    if (!isIssuedBy(certificate, this.#authorities)) return stranger
    const purposes = certificate.keyUsage as readonly string[] | undefined
    if (purposes !== undefined && !purposes.includes(clientAuth)) return stranger
    const { allowedNames } = this.#proxy
    const name = subjectOfCertificate(der)?.commonName
    if (allowedNames.length > 0 && !allowedNames.some((allowed) => allowed === name)) return stranger
    return {
      trusted: true,
      notBeforeMs: certificate.validFromDate.getTime(),
      notAfterMs: certificate.validToDate.getTime(),
    }
  }
}
