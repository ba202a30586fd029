/**
 * The string formats a CRD schema may ask for. Unknown formats are ignored, as upstream ignores them. All patterns
 * match in time linear in the text, or look at bounded text only.
 * @see k8s.io/apiextensions-apiserver/pkg/apiserver/validation/formats.go, kube-openapi/pkg/validation/strfmt v0.36
 */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { parseGoDuration } from '../duration.ts'
import { isDns1123Label, isDns1123Subdomain } from '../names.ts'
import { parseTime } from '../time.ts'

type Check = (text: string) => boolean

const matches =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text)

const uuid = (version: string, variant: string): Check =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i'))

const hex = '[0-9a-f]'

function isHostname(text: string): boolean {
  if (text.length > 255) return false
  const labels = text.split('.')
  const label = /^[a-zA-Z0-9\p{S}\p{L}]([-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u
  if (!labels.every((l) => label.test(l))) return false
  return labels.length === 1 || /^[a-zA-Z\p{L}]{2,63}$/u.test(labels.at(-1) ?? '')
}

function isEmail(text: string): boolean {
  if (text.length > 1024) return false
  const bracketed = /^[^<>]*<([^<>]+)>$/.exec(text)
  const [local, domain, ...rest] = (bracketed?.[1] ?? text).split('@')
  if (!local || !domain || rest.length > 0) return false
  const atom = /^[^\s()<>[\]:;,"\\.]+$/
  return local.split('.').every(matches(atom)) && domain.split('.').every(matches(atom))
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/')
  const address = text.slice(0, slash)
  const bits = text.slice(slash + 1)
  if (slash < 0 || !/^(0|[1-9]\d{0,2})$/.test(bits) || address.includes('%')) return false
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128)
}

/** As Go's url.ParseRequestURI: an absolute URI or an absolute path. */
function isUri(text: string): boolean {
  if (text === '' || /[\u0000-\u0020\u007f]/.test(text)) return false
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return false
  return text.startsWith('/') || /^[a-zA-Z][a-zA-Z0-9+.-]*:./.test(text)
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && parseTime(`${text}T00:00:00Z`) !== undefined
}

/** Laxer than RFC 3339: the zone may be missing, the seconds may have a fraction. */
function isDateTime(text: string): boolean {
  const m = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)([.,]\d+)?([Zz]|[+-]\d\d:?\d\d)?$/.exec(text)
  return m !== null && parseTime(`${m[1]}T${m[2]}Z`) !== undefined
}

function isDuration(text: string): boolean {
  if (parseGoDuration(text) !== undefined) return true
  const units = /^(ns|nano|us|µs|micro|ms|milli|s|sec|m|min|h|hr|hour|d|day|w|wk|week)/i
  return [...text.slice(0, 1024).matchAll(/(?<!\d)\d+\s*([A-Za-zµ]+)/g)].some((m) => units.test(m[1] ?? ''))
}

const digitsOf = (text: string): string => text.replace(/[\s-]/g, '')

function isIsbn10(text: string): boolean {
  const digits = digitsOf(text)
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  const sum = [...digits].reduce((total, d, i) => total + (i + 1) * (d === 'X' ? 10 : Number(d)), 0)
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = digitsOf(text)
  if (!/^\d{13}$/.test(digits)) return false
  return [...digits].reduce((total, d, i) => total + Number(d) * (i % 2 === 0 ? 1 : 3), 0) % 10 === 0
}

const cardNumber =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/

function isCreditCard(text: string): boolean {
  const digits = text.replace(/\D+/g, '')
  if (!cardNumber.test(digits)) return false
  const sum = [...digits].reverse().reduce((total, d, i) => {
    const n = Number(d) * (i % 2 === 0 ? 1 : 2)
    return total + (n > 9 ? n - 9 : n)
  }, 0)
  return sum % 10 === 0
}

const isByte: Check = (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

/** By name without dashes: `date-time` and `datetime` are one. */
const checks: Readonly<Record<string, Check>> = {
  bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
  uri: isUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: isIPv4,
  ipv6: (text) => isIP(text) === 6 && !text.includes('%'),
  cidr: isCidr,
  mac: matches(
    /^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$|^([0-9a-fA-F]{2}[:-]){7}[0-9a-fA-F]{2}$|^([0-9a-fA-F]{4}\.){2,3}[0-9a-fA-F]{4}$/,
  ),
  uuid: uuid(hex, hex),
  uuid3: uuid('3', hex),
  uuid4: uuid('4', '[89ab]'),
  uuid5: uuid('5', '[89ab]'),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: (text) => {
    const m = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text)
    return m !== null && m.slice(1).every((n) => Number(n) <= 255)
  },
  byte: isByte,
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => isDns1123Label(text).length === 0,
  k8slongname: (text) => isDns1123Subdomain(text).length === 0,
}

/** True for formats that are checked on strings. */
export const isKnownFormat = (format: string): boolean => Object.hasOwn(checks, format.replaceAll('-', ''))

/** Unknown formats hold for every text. */
export function hasFormat(format: string, text: string): boolean {
  const name = format.replaceAll('-', '')
  return Object.hasOwn(checks, name) ? (checks[name]?.(text) ?? true) : true
}
