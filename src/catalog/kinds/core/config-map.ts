/** ConfigMaps and Secrets. @see ValidateConfigMap, ValidateSecret in pkg/apis/core/validation of Kubernetes 1.36 */
import { isConfigMapKey } from '../../../kube/names.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { partIn, type Report, sameValue, textIn } from '../report.ts'

const maxSizeBytes = 1024 * 1024
const frozen = 'field is immutable when `immutable` is set'

const base64Bytes = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)

function checkFrozen(report: Report, next: KubeObject, old: KubeObject | undefined, fields: readonly string[]): void {
  if (old?.immutable !== true) return
  if (next.immutable !== true) report.forbidden('immutable', frozen)
  for (const field of fields) if (!sameValue(next[field], old[field])) report.forbidden(field, frozen)
}

export function checkConfigMap(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  checkFrozen(report, next, old, ['data', 'binaryData'])
  const data = partIn(next, 'data')
  const binary = partIn(next, 'binaryData')
  let sizeBytes = 0
  for (const [key, value] of Object.entries(data)) {
    report.each(`data[${key}]`, key, isConfigMapKey(key))
    if (Object.hasOwn(binary, key)) report.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')
    sizeBytes += Buffer.byteLength(String(value))
  }
  for (const [key, value] of Object.entries(binary)) {
    report.each(`binaryData[${key}]`, key, isConfigMapKey(key))
    sizeBytes += base64Bytes(String(value))
  }
  if (sizeBytes > maxSizeBytes) report.tooLong('[]', maxSizeBytes)
}

const redacted = '<secret contents redacted>'

/** Type → keys it can't do without. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
}
/** Type → the key that holds JSON. */
const jsonKeys: Readonly<Record<string, string>> = {
  'kubernetes.io/dockercfg': '.dockercfg',
  'kubernetes.io/dockerconfigjson': '.dockerconfigjson',
}
const accountAnnotation = 'kubernetes.io/service-account.name'

export function checkSecret(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  if (old) report.immutable('type', next.type, old.type)
  checkFrozen(report, next, old, ['data'])
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
  for (const key of requiredKeys[type] ?? []) if (data[key] === undefined) report.required(`data[${key}]`)
  const jsonKey = jsonKeys[type]
  if (jsonKey !== undefined) checkJson(report, `data[${jsonKey}]`, data[jsonKey])
}

function checkJson(report: Report, field: string, value: unknown): void {
  if (typeof value !== 'string') return report.required(field)
  try {
    JSON.parse(Buffer.from(value, 'base64').toString('utf8'))
  } catch (e) {
    if (!(e instanceof SyntaxError)) throw e
    // The parser's own words could repeat the secret.
    report.invalid(field, redacted, 'must be valid JSON')
  }
}
