/**
 * What names, label keys and label values may look like, in upstream's words. Each check answers every complaint it
 * has, in upstream's order; an empty list means valid.
 * All patterns are anchored and match in time linear in the input.
 * @see k8s.io/apimachinery/pkg/util/validation/validation.go, pkg/api/validate/content v0.36
 */

/** `prefix` = the text is a generateName: something will be appended to it. */
export type NameRule = (name: string, prefix: boolean) => readonly string[]

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomain = `${label}(\\.${label})*`
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const labelKeyName = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const labelValue = `(${labelKeyName})?`
const configKey = '[-._a-zA-Z0-9]+'

const labelPattern = new RegExp(`^${label}$`)
const subdomainPattern = new RegExp(`^${subdomain}$`)
const label1035Pattern = new RegExp(`^${label1035}$`)
const labelKeyNamePattern = new RegExp(`^${labelKeyName}$`)
const labelValuePattern = new RegExp(`^${labelValue}$`)
const configKeyPattern = new RegExp(`^${configKey}$`)

export const labelMaxLength = 63
export const subdomainMaxLength = 253
export const labelValueMaxLength = 63

const none: readonly string[] = Object.freeze([])
const sizeBytes = (text: string): number => Buffer.byteLength(text)
const tooManyCharacters = (max: number): string => `must be no more than ${max} characters`
const tooManyBytes = (max: number): string => `must be no more than ${max} bytes`

export function mustMatch(complaint: string, pattern: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${complaint} (regex used for validation is '${pattern}')`
  return `${complaint} (e.g. ${examples.map((e) => `'${e}', `).join(' or ')}regex used for validation is '${pattern}')`
}

export function isDns1123Label(value: string): readonly string[] {
  if (value.length <= labelMaxLength && labelPattern.test(value)) return none
  const errors: string[] = []
  if (sizeBytes(value) > labelMaxLength) errors.push(tooManyCharacters(labelMaxLength))
  if (labelPattern.test(value)) return errors
  errors.push(
    subdomainPattern.test(value)
      ? 'must not contain dots'
      : mustMatch(
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must " +
            'start and end with an alphanumeric character',
          label,
          'my-name',
          '123-abc',
        ),
  )
  return errors
}

export function isDns1123Subdomain(value: string): readonly string[] {
  if (value.length <= subdomainMaxLength && subdomainPattern.test(value)) return none
  const errors: string[] = []
  if (sizeBytes(value) > subdomainMaxLength) errors.push(tooManyCharacters(subdomainMaxLength))
  if (!subdomainPattern.test(value)) {
    errors.push(
      mustMatch(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and " +
          'must start and end with an alphanumeric character',
        subdomain,
        'example.com',
      ),
    )
  }
  return errors
}

export function isDns1035Label(value: string): readonly string[] {
  if (value.length <= labelMaxLength && label1035Pattern.test(value)) return none
  const errors: string[] = []
  if (sizeBytes(value) > labelMaxLength) errors.push(tooManyCharacters(labelMaxLength))
  if (!label1035Pattern.test(value)) {
    errors.push(
      mustMatch(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " +
          'alphabetic character, and end with an alphanumeric character',
        label1035,
        'my-name',
        'abc-123',
      ),
    )
  }
  return errors
}

const labelKeyComplaint = (prefix: string): string =>
  `${prefix}${mustMatch(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    labelKeyName,
    'MyName',
    'my.name',
    '123-abc',
  )}`

/** Label keys, annotation keys, finalizers, resource names: an optional subdomain, a slash, a name. */
export function isQualifiedName(value: string): readonly string[] {
  const slash = value.indexOf('/')
  const name = value.slice(slash + 1)
  if (name.includes('/')) {
    return [
      `${labelKeyComplaint('a valid label key ')} with an optional DNS subdomain prefix and '/' (e.g. ` +
        `'example.com/MyName')`,
    ]
  }
  const errors: string[] = []
  if (slash === 0) errors.push('prefix part must be non-empty')
  else if (slash > 0) {
    const prefix = value.slice(0, slash)
    for (const e of isDns1123Subdomain(prefix)) {
      errors.push(`prefix part ${e.replace(/^(must be no more than \d+) characters$/, '$1 bytes')}`)
    }
  }
  if (name === '') errors.push('name part must be non-empty')
  else if (sizeBytes(name) > labelMaxLength) errors.push(`name part ${tooManyBytes(labelMaxLength)}`)
  if (!labelKeyNamePattern.test(name)) errors.push(labelKeyComplaint('name part '))
  return errors.length === 0 ? none : errors
}

export function isLabelValue(value: string): readonly string[] {
  if (value.length <= labelValueMaxLength && labelValuePattern.test(value)) return none
  const errors: string[] = []
  if (sizeBytes(value) > labelValueMaxLength) errors.push(tooManyBytes(labelValueMaxLength))
  if (!labelValuePattern.test(value)) {
    errors.push(
      mustMatch(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and " +
          'must start and end with an alphanumeric character',
        labelValue,
        'MyValue',
        'my_value',
        '12345',
      ),
    )
  }
  return errors
}

/** Keys of ConfigMaps and Secrets. */
export function isConfigMapKey(value: string): readonly string[] {
  const errors: string[] = []
  if (sizeBytes(value) > subdomainMaxLength) errors.push(tooManyCharacters(subdomainMaxLength))
  if (!configKeyPattern.test(value)) {
    errors.push(
      mustMatch(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        configKey,
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    )
  }
  if (value === '.') errors.push("must not be '.'")
  else if (value === '..') errors.push("must not be '..'")
  else if (value.startsWith('..')) errors.push("must not start with '..'")
  return errors.length === 0 ? none : errors
}

/** What can stand in a URL path: Roles, RoleBindings and other names without a DNS rule. */
export function isPathSegment(value: string, prefix = false): readonly string[] {
  if (!prefix && (value === '.' || value === '..')) return [`may not be '${value}'`]
  const errors = ['/', '%'].filter((c) => value.includes(c)).map((c) => `may not contain '${c}'`)
  return errors.length === 0 ? none : errors
}

/** A generateName may end in a dash: what is appended makes it valid. Upstream drops the character before it too. */
const maskTrailingDash = (name: string): string =>
  name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name

export const nameIsLabel: NameRule = (name, prefix) => isDns1123Label(prefix ? maskTrailingDash(name) : name)
export const nameIsSubdomain: NameRule = (name, prefix) => isDns1123Subdomain(prefix ? maskTrailingDash(name) : name)
export const nameIsDns1035: NameRule = (name, prefix) => isDns1035Label(prefix ? maskTrailingDash(name) : name)
export const nameIsPathSegment: NameRule = (name, prefix) => isPathSegment(name, prefix)

/** Finalizers that need no domain. */
export const standardFinalizers: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

export const notFullyQualified = 'name is neither a standard finalizer name nor is it fully qualified'
