/**
 * Rules for metadata that hold for every kind. Cleaning it (uid, timestamps, generation) is the registry's business;
 * here it is only judged.
 * @see k8s.io/apimachinery/pkg/api/validation/objectmeta.go, pkg/apis/meta/v1/validation/validation.go v0.36
 */
import { append } from '../base/append.ts'
import { type MaybeResumable, type Resumable, runAtOnce } from '../base/resumable.ts'
import { type FieldError, fieldForbidden, fieldInvalid, fieldRequired, fieldTooLong } from './field-error.ts'
import { isPrintable, quoteList } from './go-quote.ts'
import { parseApiVersion } from './gvk.ts'
import { isExactNumber } from './json-value.ts'
import {
  isDns1123Label,
  isLabelValue,
  isQualifiedName,
  type NameRule,
  notFullyQualified,
  standardFinalizers,
} from './names.ts'
import { numberOf } from './strict-json.ts'
import type { KubeObject, ManagedFieldsEntry, ObjectMeta, OwnerReference } from './types.ts'

export const annotationsMaxBytes: number = 256 * 1024
export const fieldManagerMaxBytes = 128
const subresourceMaxBytes = 256

export interface MetadataRules {
  readonly namespaced: boolean
  readonly validateName: NameRule
  /** Custom resources may use finalizers without a domain (with a warning); built-in kinds may not. */
  readonly custom: boolean
}

function complain(errors: FieldError[], field: string, value: string, complaints: readonly string[]): void {
  for (const complaint of complaints) errors.push(fieldInvalid(field, value, complaint))
}

/** Almost always: nothing is wrong. Never added to. */
const none: FieldError[] = []

/** Keys that are judged between two pauses. */
const keysAtOnce = 1000

/** A part of the metadata that is judged one by one: most are short, and some hold a hundred thousand. */
interface Judged {
  readonly length: number
  judge(at: number): void
}

/** At once where there are few. Answers `errors`, to which what is wrong is added. */
function judgeAll(parts: readonly Judged[], errors: FieldError[]): MaybeResumable<FieldError[]> {
  let length = 0
  for (const part of parts) length += part.length
  if (length >= keysAtOnce) return judgeInSteps(parts, errors)
  for (const part of parts) for (let at = 0; at < part.length; at++) part.judge(at)
  return errors
}

function* judgeInSteps(parts: readonly Judged[], errors: FieldError[]): Resumable<FieldError[]> {
  let judged = 0
  for (const part of parts) {
    for (let at = 0; at < part.length; at++) {
      part.judge(at)
      if (++judged % keysAtOnce === 0) yield
    }
  }
  return errors
}

export function validateLabels(labels: Readonly<Record<string, string>> | undefined, field: string): FieldError[] {
  const errors: FieldError[] = []
  return runAtOnce(judgeAll([labelsOf(labels ?? {}, field, errors)], errors))
}

function labelsOf(labels: Readonly<Record<string, string>>, field: string, errors: FieldError[]): Judged {
  const keys = Object.keys(labels).sort()
  return {
    length: keys.length,
    judge(at) {
      const key = keys[at] as string
      const value = labels[key] ?? ''
      complain(errors, field, key, isQualifiedName(key))
      complain(errors, field, value, isLabelValue(value))
    },
  }
}

/** Keys are judged without regard to case; keys and values together stay below 256 KiB. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  field: string,
): FieldError[] {
  const errors: FieldError[] = []
  return runAtOnce(judgeAll([annotationsOf(annotations ?? {}, field, errors)], errors))
}

function annotationsOf(annotations: Readonly<Record<string, string>>, field: string, errors: FieldError[]): Judged {
  const keys = Object.keys(annotations)
  let sizeBytes = 0
  return {
    length: keys.length,
    judge(at) {
      const key = keys[at] as string
      sizeBytes += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] ?? '')
      complain(errors, field, key, isQualifiedName(key.toLowerCase()))
      if (at === keys.length - 1 && sizeBytes > annotationsMaxBytes) {
        errors.push(fieldTooLong(field, annotationsMaxBytes))
      }
    },
  }
}

function validateOwnerReference(owner: OwnerReference, field: string): FieldError[] {
  const errors: FieldError[] = []
  const apiVersion = owner.apiVersion ?? ''
  const gv = parseApiVersion(apiVersion)
  if (!gv) errors.push(fieldInvalid(`${field}.apiVersion`, apiVersion, 'version must not be empty'))
  for (const key of ['kind', 'name', 'uid'] as const) {
    if (!owner[key]) errors.push(fieldInvalid(`${field}.${key}`, owner[key] ?? '', 'must not be empty'))
  }
  if (gv && gv.group === '' && gv.version === 'v1' && owner.kind === 'Event') {
    errors.push(fieldInvalid(field, owner, '/v1, Kind=Event is disallowed from being an owner'))
  }
  return errors
}

function ownersOf(owners: readonly OwnerReference[], field: string, errors: FieldError[]): Judged {
  let controller: string | undefined
  return {
    length: owners.length,
    judge(at) {
      const owner = owners[at] as OwnerReference
      append(errors, validateOwnerReference(owner, field))
      if (owner.controller !== true) return
      const name = `${owner.kind}/${owner.name}`
      if (controller === undefined) controller = name
      else {
        errors.push(
          fieldInvalid(
            field,
            owners,
            `Only one reference can have Controller set to true. Found "true" in references for ${controller} ` +
              `and ${name}`,
          ),
        )
      }
    },
  }
}

function finalizersOf(finalizers: readonly string[], field: string, errors: FieldError[]): Judged {
  return {
    length: finalizers.length,
    judge(at) {
      const finalizer = finalizers[at] as string
      complain(errors, field, finalizer, isQualifiedName(finalizer))
      if (at < finalizers.length - 1) return
      if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
        errors.push(fieldInvalid(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'))
      }
    },
  }
}

function qualifiedFinalizersOf(finalizers: readonly string[], field: string, errors: FieldError[]): Judged {
  return {
    length: finalizers.length,
    judge(at) {
      const finalizer = finalizers[at] as string
      if (finalizer.includes('/') || standardFinalizers.has(finalizer)) return
      errors.push(fieldInvalid(`${field}[${at}]`, finalizer, notFullyQualified))
    },
  }
}

const plainText = /^[\x20-\x7e]*$/

export function validateFieldManager(manager: string | undefined, field: string): FieldError[] {
  const text = manager ?? ''
  if (text.length <= fieldManagerMaxBytes && plainText.test(text)) return none
  const errors: FieldError[] = []
  if (Buffer.byteLength(text) > fieldManagerMaxBytes) errors.push(fieldTooLong(field, fieldManagerMaxBytes))
  let position = 0
  for (const c of text) {
    if (!isPrintable(c)) {
      const code = (c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      errors.push(fieldInvalid(field, text, `invalid character U+${code} (at position ${position})`))
    }
    position += Buffer.byteLength(c)
  }
  return errors
}

function managedFieldsOf(entries: readonly ManagedFieldsEntry[], field: string, errors: FieldError[]): Judged {
  return {
    length: entries.length,
    judge(i) {
      const entry = entries[i] as ManagedFieldsEntry
      const at = `${field}[${i}]`
      if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
        errors.push(fieldInvalid(`${at}.operation`, entry.operation ?? '', 'must be `Apply` or `Update`'))
      }
      if (entry.fieldsType && entry.fieldsType !== 'FieldsV1') {
        errors.push(fieldInvalid(`${at}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`'))
      }
      const { manager } = entry
      if (manager) append(errors, validateFieldManager(manager, `${at}.manager`))
      if (entry.subresource && Buffer.byteLength(entry.subresource) > subresourceMaxBytes) {
        errors.push(fieldTooLong(`${at}.subresource`, subresourceMaxBytes))
      }
    },
  }
}

/** Of an object that the server holds: it has a name. The type allows for one that a client has yet to send. */
export const nameOf = ({ name = '' }: Readonly<ObjectMeta>): string => name

/** Likewise: what is stored has a uid. */
export const uidOf = ({ uid = '' }: Readonly<ObjectMeta>): string => uid

/** As a double, to compare: what a client says of it may be beyond 2^53, and is then kept as its text. */
const generationOf = ({ generation = 0 }: Readonly<ObjectMeta>): number =>
  isExactNumber(generation) ? Number(generation.rawJSON) : generation

/** One more, as an int64 of Go counts. */
export function increment(generation: number): number {
  const exact = isExactNumber(generation) ? BigInt(generation.rawJSON) : BigInt(generation)
  return numberOf(String(BigInt.asIntN(64, exact + 1n))) as number
}

/** On create, after a name was generated. */
export const validateMetadata = (meta: Readonly<ObjectMeta>, rules: MetadataRules, field = 'metadata'): FieldError[] =>
  runAtOnce(judgeMetadata(meta, rules, field))

/** As `validateMetadata`, for metadata that may be large. */
export function judgeMetadata(
  meta: Readonly<ObjectMeta>,
  rules: MetadataRules,
  field: string = 'metadata',
): MaybeResumable<FieldError[]> {
  const errors: FieldError[] = []
  if (meta.generateName) {
    complain(errors, `${field}.generateName`, meta.generateName, rules.validateName(meta.generateName, true))
  }
  if (!meta.name) errors.push(fieldRequired(`${field}.name`, 'name or generateName is required'))
  else complain(errors, `${field}.name`, meta.name, rules.validateName(meta.name, false))
  if (rules.namespaced) {
    if (!meta.namespace) errors.push(fieldRequired(`${field}.namespace`))
    else complain(errors, `${field}.namespace`, meta.namespace, isDns1123Label(meta.namespace))
  } else if (meta.namespace) errors.push(fieldForbidden(`${field}.namespace`, 'not allowed on this type'))
  if (meta.generation !== undefined && generationOf(meta) < 0) {
    errors.push(fieldInvalid(`${field}.generation`, meta.generation, 'must be greater than or equal to 0'))
  }
  // Most objects have few of these: what is absent costs nothing.
  const { labels, annotations, ownerReferences, finalizers, managedFields } = meta
  const parts: Judged[] = []
  if (labels) parts.push(labelsOf(labels, `${field}.labels`, errors))
  if (annotations) parts.push(annotationsOf(annotations, `${field}.annotations`, errors))
  if (ownerReferences) parts.push(ownersOf(ownerReferences, `${field}.ownerReferences`, errors))
  if (finalizers) parts.push(finalizersOf(finalizers, `${field}.finalizers`, errors))
  if (managedFields) parts.push(managedFieldsOf(managedFields, `${field}.managedFields`, errors))
  if (finalizers && !rules.custom) parts.push(qualifiedFinalizersOf(finalizers, `${field}.finalizers`, errors))
  return judgeAll(parts, errors)
}

const immutableFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

export const fieldImmutable = 'field is immutable'

/** On update. Whether a resourceVersion had to be given is the registry's question. */
export function judgeMetadataUpdate(
  next: Readonly<ObjectMeta>,
  old: Readonly<ObjectMeta>,
  rules: Pick<MetadataRules, 'custom'>,
  field: string = 'metadata',
): MaybeResumable<FieldError[]> {
  const errors: FieldError[] = []
  if (old.deletionTimestamp) {
    const known = new Set(old.finalizers)
    const added = [...new Set(next.finalizers)].filter((f) => !known.has(f)).sort()
    if (added.length > 0) {
      errors.push(
        fieldForbidden(
          `${field}.finalizers`,
          `no new finalizers can be added if the object is being deleted, found new finalizers ${quoteList(added)}`,
        ),
      )
    }
  }
  if (generationOf(next) < generationOf(old)) {
    errors.push(fieldInvalid(`${field}.generation`, next.generation ?? 0, 'must not be decremented'))
  }
  for (const key of immutableFields) {
    // Absent, null and empty are one value on the wire.
    if ((next[key] ?? '') === (old[key] ?? '')) continue
    const absent = key === 'name' || key === 'namespace' || key === 'uid' ? '' : null
    errors.push(fieldInvalid(`${field}.${key}`, next[key] ?? absent, fieldImmutable))
  }
  const { labels, annotations, ownerReferences, finalizers, managedFields } = next
  const parts: Judged[] = []
  if (labels) parts.push(labelsOf(labels, `${field}.labels`, errors))
  if (annotations) parts.push(annotationsOf(annotations, `${field}.annotations`, errors))
  if (ownerReferences) parts.push(ownersOf(ownerReferences, `${field}.ownerReferences`, errors))
  if (managedFields) parts.push(managedFieldsOf(managedFields, `${field}.managedFields`, errors))
  if (finalizers && !rules.custom) parts.push(qualifiedFinalizersOf(finalizers, `${field}.finalizers`, errors))
  return judgeAll(parts, errors)
}

/** What upstream says about finalizers of custom resources that have no domain or no path. */
export function finalizerWarnings(meta: Readonly<ObjectMeta>, old?: Readonly<ObjectMeta>): string[] {
  const known = new Set([...standardFinalizers, ...(old?.finalizers ?? [])])
  return (meta.finalizers ?? [])
    .filter((f) => !f.includes('/') && !known.has(f))
    .map((f) =>
      f.includes('.')
        ? `metadata.finalizers: "${f}": prefer a domain-qualified finalizer name including a path (/) to avoid ` +
          'accidental conflicts with other finalizer writers'
        : `metadata.finalizers: "${f}": prefer a domain-qualified finalizer name to avoid accidental conflicts ` +
          'with other finalizer writers',
    )
}

/**
 * Drops what is repeated among its owners, in place. @param afterAdmission whether it was a patch or admission that
 * repeated
 */
export function keepDistinctOwners(
  { metadata }: Pick<KubeObject, 'metadata'>,
  warn: (text: string) => void,
  afterAdmission = false,
): void {
  const { owners, warning } = dedupOwnerReferences(metadata.ownerReferences ?? [], afterAdmission)
  if (warning === undefined) return
  metadata.ownerReferences = [...owners]
  warn(warning)
}

/**
 * Keeps the first of equal owner references (the same uid alone is not a duplicate).
 * The same list when nothing was dropped; else a shorter one and the warning for the client.
 */
export function dedupOwnerReferences(
  owners: readonly OwnerReference[],
  afterAdmission = false,
): { readonly owners: readonly OwnerReference[]; readonly warning?: string } {
  if (owners.length < 2) return { owners }
  const seen = new Set<string>()
  const kept: OwnerReference[] = []
  const duplicates: string[] = []
  for (const owner of owners) {
    const key = JSON.stringify([
      owner.apiVersion,
      owner.kind,
      owner.name,
      owner.uid,
      owner.controller ?? null,
      owner.blockOwnerDeletion ?? null,
    ])
    if (!seen.has(key)) {
      seen.add(key)
      kept.push(owner)
    } else duplicates.push(owner.uid)
  }
  if (duplicates.length === 0) return { owners }
  const when = afterAdmission ? ' after mutating admission happens' : ''
  return {
    owners: kept,
    warning:
      `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in ` +
      '1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) ' +
      `observed: ${duplicates.join(', ')}`,
  }
}
