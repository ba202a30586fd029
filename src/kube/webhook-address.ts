/**
 * `clientConfig` of webhooks of every sort, as validation sees it.
 * @see k8s.io/apiserver/pkg/util/webhook/validation.go v0.36
 */
import { append } from '../base/append.ts'
import { type FieldError, fieldInvalid, fieldRequired } from './field-error.ts'
import { parseGoUrl } from './go-url.ts'
import { isDns1123Subdomain } from './names.ts'

type Part = Readonly<Record<string, unknown>>

const urlForm = '; desired format: https://host[/path]'

export function webhookUrlErrors(field: string, text: string): FieldError[] {
  const parsed = parseGoUrl(text)
  if (parsed.problem !== undefined) {
    return [fieldRequired(field, `url must be a valid URL: ${parsed.problem}${urlForm}`)]
  }
  const { scheme, host, user, fragment, query } = parsed.url
  const errors: FieldError[] = []
  if (scheme !== 'https') errors.push(fieldInvalid(field, scheme, `'https' is the only allowed URL scheme${urlForm}`))
  if (host === '') errors.push(fieldInvalid(field, host, `host must be specified${urlForm}`))
  if (user !== undefined) errors.push(fieldInvalid(field, user, 'user information is not permitted in the URL'))
  if (fragment !== '') errors.push(fieldInvalid(field, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(fieldInvalid(field, query, 'query parameters are not permitted in the URL'))
  return errors
}

const maxPort = 65_535

export function webhookServiceErrors(field: string, { name, namespace, port, path }: Part): FieldError[] {
  const errors: FieldError[] = []
  if (!name) errors.push(fieldRequired(`${field}.name`))
  if (!namespace) errors.push(fieldRequired(`${field}.namespace`))
  if (typeof port === 'number' && (port < 1 || port > maxPort)) {
    const detail = 'port is not valid: must be between 1 and 65535, inclusive'
    errors.push(fieldInvalid(`${field}.port`, port, detail))
  }
  if (typeof path === 'string') append(errors, pathErrors(`${field}.path`, path))
  return errors
}

function pathErrors(field: string, path: string): FieldError[] {
  if (path === '' || path === '/') return []
  if (path === '//') return [fieldInvalid(field, path, 'segment[0] may not be empty')]
  const errors: FieldError[] = []
  if (!path.startsWith('/')) errors.push(fieldInvalid(field, path, "must start with a '/'"))
  const steps = path.slice(1).replace(/\/$/, '').split('/')
  for (const [i, step] of steps.entries()) {
    if (step === '') errors.push(fieldInvalid(field, path, `segment[${i}] may not be empty`))
    else for (const fault of isDns1123Subdomain(step)) errors.push(fieldInvalid(field, path, `segment[${i}]: ${fault}`))
  }
  return errors
}

/** Either a URL or a Service. `field` is that of the whole. */
export function webhookAddressErrors(field: string, config: Part): FieldError[] {
  const { url, service } = config
  const hasUrl = typeof url === 'string'
  const hasService = typeof service === 'object' && service !== null
  if (hasUrl === hasService) return [fieldRequired(field, 'exactly one of url or service is required')]
  return hasUrl ? webhookUrlErrors(`${field}.url`, url) : webhookServiceErrors(`${field}.service`, service as Part)
}
