/**
 * Secrets.
 * @see ValidateSecret in pkg/apis/core/validation, pkg/apis/core/v1/{defaults,conversion}.go of Kubernetes 1.36
 */
import { checkJsonText } from '../../../base/parse-json-text.ts'
import { isConfigMapKey } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, entriesAt, nameColumn, nameOf } from '../cell-text.ts'
import { type DefaultRule, fillUnset, findStruct, structIn } from '../default-rules.ts'
import { textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { partIn, type Report, textIn } from '../report.ts'
import { selectableFields } from '../selectable-fields.ts'
import { base64Bytes, checkFrozen, maxSizeBytes } from './config-map.ts'

const redacted = '<secret contents redacted>'

/** Type → keys it can't do without. */
const requiredKeys: ReadonlyMap<string, readonly string[]> = new Map([['kubernetes.io/tls', ['tls.crt', 'tls.key']]])

/** Type → the key that holds JSON. */
const jsonKeys: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/dockercfg', '.dockercfg'],
  ['kubernetes.io/dockerconfigjson', '.dockerconfigjson'],
])

const accountAnnotation = 'kubernetes.io/service-account.name'

function checkSecret(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  if (old) {
    report.immutable('type', next.type, old.type)
    checkFrozen(report, next, old, ['data'])
  }
  const data = partIn(next, 'data')
  let sizeBytes = 0
  for (const [key, value] of Object.entries(data)) {
    report.each(`data[${key}]`, key, isConfigMapKey(key))
    sizeBytes += base64Bytes(String(value))
  }
  if (sizeBytes > maxSizeBytes) report.tooLong('data', maxSizeBytes)
  const type = textIn(next, 'type')
  if (type === 'kubernetes.io/service-account-token' && !next.metadata.annotations?.[accountAnnotation]) {
    report.required(`metadata.annotations[${accountAnnotation}]`)
  }
  if (type === 'kubernetes.io/basic-auth' && data.username === undefined && data.password === undefined) {
    // Upstream's paths hold what was to be replaced.
    report.required('data[%s][username]')
    report.required('data[%s][password]')
  }
  if (type === 'kubernetes.io/ssh-auth' && textIn(data, 'ssh-privatekey') === '') {
    report.required('data[%s][ssh-privatekey]')
  }
  for (const key of requiredKeys.get(type) ?? []) if (data[key] === undefined) report.required(`data[${key}]`)
  const jsonKey = jsonKeys.get(type)
  if (jsonKey !== undefined) checkJson(report, `data[${jsonKey}]`, data[jsonKey])
}

function checkJson(report: Report, field: string, value: unknown): void {
  if (typeof value !== 'string') return report.required(field)
  try {
    checkJsonText(Buffer.from(value, 'base64').toString('utf8'))
  } catch (e) {
    if (!(e instanceof SyntaxError)) throw e
    // The parser's own words could repeat the secret.
    report.invalid(field, redacted, 'must be valid JSON')
  }
}

/** stringData is never stored: it goes over into data. */
const stringData: DefaultRule = (secret) => {
  const text = findStruct(secret, 'stringData')
  delete secret.stringData
  for (const [key, value] of Object.entries(text ?? {})) {
    structIn(secret, 'data')[key] = Buffer.from(String(value ?? '')).toString('base64')
  }
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Type', 'string', 'What it is for.'),
    column('Data', 'string', 'How many entries it has.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), textAt(o, 'type'), entriesAt(o, 'data'), ageOf(o, now)],
}

export const secret: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkSecret), selectableFields: selectableFields('type') },
  defaults: { 'io.k8s.api.core.v1.Secret': [stringData, fillUnset({ type: 'Opaque' })] },
  columns,
}
