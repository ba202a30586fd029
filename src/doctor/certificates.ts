/** Certificates by their dates. */
import { X509Certificate } from 'node:crypto'
import { type Finding, fail, ok, warn } from './finding.ts'

const dayMs = 86_400_000
/** Time enough for an operator to renew it. */
const soonMs = 30 * dayMs

const oneCertificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** The one of several that ends first decides. `remedy`: how it is renewed. */
export function examineCertificates(check: string, pem: string, nowMs: number, remedy: string): Finding {
  let certificates: readonly X509Certificate[]
  try {
    certificates = (pem.match(oneCertificate) ?? []).map((text) => new X509Certificate(text))
  } catch {
    return fail(check, 'it is no certificate', remedy)
  }
  const [first, ...others] = certificates
  if (first === undefined) return fail(check, 'there is no certificate in it', remedy)
  const next = others.reduce((least, each) => (endMs(each) < endMs(least) ? each : least), first)
  return examineDates(check, { beginMs: Date.parse(next.validFrom), endMs: endMs(next) }, nowMs, remedy)
}

const endMs = ({ validTo }: X509Certificate): number => Date.parse(validTo)

interface Dates {
  readonly beginMs: number
  readonly endMs: number
}

export function examineDates(check: string, { beginMs, endMs }: Dates, nowMs: number, remedy: string): Finding {
  const end = new Date(endMs).toISOString().slice(0, 10)
  if (endMs <= nowMs) return fail(check, `it ended on ${end}: it is refused`, remedy)
  if (beginMs > nowMs) {
    const begin = new Date(beginMs).toISOString()
    return fail(check, `it is not valid before ${begin}`, "set this machine's clock, or make another certificate")
  }
  const days = Math.floor((endMs - nowMs) / dayMs)
  return endMs - nowMs < soonMs
    ? warn(check, `it ends on ${end}, in ${days} days`, remedy)
    : ok(check, `valid until ${end}`)
}
