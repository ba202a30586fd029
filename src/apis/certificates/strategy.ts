/**
 * What may be asked for, and which endpoint changes what: nothing of the spec ever changes, `/approval` sets
 * conditions, `/status` the certificate. Approved, Denied and Failed are for good.
 * @see pkg/registry/certificates, pkg/apis/certificates/validation of Kubernetes 1.36
 */
import { X509Certificate } from 'node:crypto'
import { append } from '../../base/append.ts'
import type { Strategy } from '../../catalog/strategy.ts'
import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
} from '../../kube/field-error.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { isDns1123Label, isDns1123Subdomain } from '../../kube/names.ts'
import type { MaybeAbsent, Unvalidated } from '../../kube/types.ts'
import { CertificateRequestError, parseCertificateRequest } from './certificate-request.ts'
import { conditionsOf, type SigningRequest, type SigningRequestCondition } from './types.ts'

export const signingRequestStrategy: Strategy = {
  // Upstream does not care what requests are called, as long as they fit into a path.
  validateName: (name) => (/[/%]/.test(name) || name === '.' || name === '..' ? ['may not be a path'] : []),
  prepare(next: Unvalidated<SigningRequest>, old: SigningRequest | undefined, { subresource, now }) {
    if (old === undefined) return { ...next, status: {} }
    const { spec } = old
    switch (subresource) {
      case 'approval':
        return { ...next, spec, status: { ...old.status, conditions: stamp(givenConditions(next), old, now) } }
      case 'status': {
        const conditions = stamp(withOldVerdicts(givenConditions(next), old), old, now)
        return { ...next, spec, status: { ...next.status, ...(conditions.length > 0 ? { conditions } : {}) } }
      }
      default:
        return { ...next, spec, ...(old.status ? { status: old.status } : {}) }
    }
  },
  validate: (next: SigningRequest, old: SigningRequest | undefined, { subresource }) =>
    old === undefined
      ? requestErrors(next)
      : [...conditionErrors(next), ...certificateErrors(next), ...changeErrors(next, old, subresource)],
}

type GivenCondition = NonNullable<MaybeAbsent<SigningRequestCondition>>

const givenConditions = (next: Unvalidated<SigningRequest>): readonly GivenCondition[] => next.status?.conditions ?? []

/** Times that are missing are filled in; a condition keeps the time since when it holds. */
function stamp(conditions: readonly GivenCondition[], old: SigningRequest, now: string): GivenCondition[] {
  return conditions.map((condition) => {
    const before = conditionsOf(old).find((c) => c.type === condition.type && c.status === condition.status)
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime || now,
      lastTransitionTime: condition.lastTransitionTime || before?.lastTransitionTime || now,
    }
  })
}

/** Verdicts are changed by way of `/approval` alone: if there are as many as before, they are what they were. */
function withOldVerdicts(conditions: readonly GivenCondition[], old: SigningRequest): GivenCondition[] {
  const kept = [...conditions]
  for (const type of ['Approved', 'Denied']) {
    const before = conditionsOf(old).filter((c) => c.type === type)
    const places = kept.flatMap((c, i) => (c.type === type ? [i] : []))
    if (before.length !== places.length) continue
    for (const [i, place] of places.entries()) kept[place] = before[i] as GivenCondition
  }
  return kept
}

const knownUsages = new Set([
  ...['signing', 'digital signature', 'content commitment', 'key encipherment', 'key agreement', 'data encipherment'],
  ...['cert sign', 'crl sign', 'encipher only', 'decipher only', 'any', 'server auth', 'client auth', 'code signing'],
  ...['email protection', 's/mime', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'timestamping', 'ocsp signing'],
  ...['microsoft sgc', 'netscape sgc'],
])
const minSeconds = 600

function requestErrors({ spec }: SigningRequest): FieldError[] {
  const errors: FieldError[] = []
  const { request = '', usages = [], signerName = '', expirationSeconds } = spec ?? {}
  try {
    parseCertificateRequest(request)
  } catch (error) {
    if (!(error instanceof CertificateRequestError)) throw error
    errors.push(fieldInvalid('spec.request', request || null, error.message))
  }
  if (usages.length === 0) errors.push(fieldRequired('spec.usages'))
  const seen = new Set<string>()
  for (const [i, usage] of usages.entries()) {
    const field = `spec.usages[${i}]`
    if (!knownUsages.has(usage)) errors.push(fieldNotSupported(field, usage, [...knownUsages].sort()))
    if (seen.has(usage)) errors.push(fieldDuplicate(field, usage))
    seen.add(usage)
  }
  append(errors, signerNameErrors(signerName))
  if (expirationSeconds !== undefined && expirationSeconds < minSeconds) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)'
    errors.push(fieldInvalid('spec.expirationSeconds', expirationSeconds, detail))
  }
  return errors
}

const legacySigner = 'kubernetes.io/legacy-unknown'
const maxDomainBytes = 253
const maxSignerBytes = 571

/** @see ValidateSignerName in pkg/apis/core/validation/names.go of Kubernetes 1.36 */
function signerNameErrors(name: string): FieldError[] {
  const field = 'spec.signerName'
  if (name === '') return [fieldRequired(field)]
  if (name === legacySigner)
    return [fieldInvalid(field, name, 'the legacy signerName is not allowed via this API version')]
  const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
  const [domain = '', path, ...more] = name.split('/')
  if (path === undefined || more.length > 0) return [fieldInvalid(field, name, form)]
  const errors: FieldError[] = []
  const judge = (whole: string, rule: (label: string) => readonly string[]): void => {
    const label = whole.split('.').find((l) => rule(l).length > 0)
    if (label === undefined) return
    for (const fault of rule(label)) errors.push(fieldInvalid(field, whole, `validating label "${label}": ${fault}`))
  }
  if (Buffer.byteLength(domain) > maxDomainBytes) errors.push(fieldTooLong(field, maxDomainBytes))
  judge(domain, isDns1123Label)
  if (!domain.includes('.')) {
    errors.push(fieldInvalid(field, domain, 'should be a domain with at least two segments separated by dots'))
  }
  judge(path, isDns1123Subdomain)
  if (Buffer.byteLength(name) > maxSignerBytes) errors.push(fieldTooLong(field, maxSignerBytes))
  return errors
}

const finalTypes = ['Approved', 'Denied', 'Failed']

function conditionErrors(next: SigningRequest): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  const conditions = conditionsOf(next)
  for (const [i, { type, status }] of conditions.entries()) {
    const at = `status.conditions[${i}]`
    if (type === '') errors.push(fieldRequired(`${at}.type`))
    if (finalTypes.includes(type)) {
      if (status === '') errors.push(fieldRequired(`${at}.status`))
      else if (status !== 'True') errors.push(fieldNotSupported(`${at}.status`, status, ['True']))
    } else if (status === '') errors.push(fieldRequired(`${at}.status`))
    else if (!['True', 'False', 'Unknown'].includes(status)) {
      errors.push(fieldNotSupported(`${at}.status`, status, ['False', 'True', 'Unknown']))
    }
    if (seen.has(type)) errors.push(fieldDuplicate(`${at}.type`, type))
    seen.add(type)
    if ((type === 'Approved' && seen.has('Denied')) || (type === 'Denied' && seen.has('Approved'))) {
      const detail = 'Approved and Denied conditions are mutually exclusive'
      errors.push(fieldInvalid(`${at}.type`, type, detail))
    }
  }
  return errors
}

function certificateErrors({ status }: SigningRequest): FieldError[] {
  const encoded = status?.certificate ?? ''
  if (encoded === '') return []
  const fault = pemFault(Buffer.from(encoded, 'base64').toString('latin1'))
  return fault === undefined ? [] : [fieldInvalid('status.certificate', '<certificate data>', fault)]
}

function pemFault(text: string): string | undefined {
  const blocks = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g)]
  if (blocks.length === 0) return 'must contain one or more CERTIFICATE PEM blocks'
  for (const [block, type] of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`
    try {
      // Reading it is the check.
      void new X509Certificate(block).serialNumber
    } catch (error) {
      return `x509: malformed certificate: ${error instanceof Error ? error.message : String(error)}`
    }
  }
  return undefined
}

/** Verdicts stay, and come from where they may; so does a certificate. */
function changeErrors(next: SigningRequest, old: SigningRequest, subresource: string): FieldError[] {
  const errors: FieldError[] = []
  const field = 'status.conditions'
  for (const type of finalTypes) {
    const before = conditionsOf(old).filter((c) => c.type === type)
    const after = conditionsOf(next).filter((c) => c.type === type)
    if (after.length < before.length) {
      errors.push(fieldForbidden(field, `updates may not remove a condition of type "${type}"`))
    } else if (after.length > before.length) {
      const mayAdd =
        type === 'Failed' ? subresource === 'status' || subresource === 'approval' : subresource === 'approval'
      if (!mayAdd) errors.push(fieldForbidden(field, `updates may not add a condition of type "${type}"`))
    } else if (!jsonEqual(before, after)) {
      errors.push(fieldForbidden(field, `updates may not modify a condition of type "${type}"`))
    }
  }
  const certificate = old.status?.certificate ?? ''
  if (certificate !== '' && certificate !== (next.status?.certificate ?? '')) {
    errors.push(fieldForbidden('status.certificate', 'updates may not modify existing certificate content'))
  }
  return errors
}
