/** Named formats: `format.dns1123Label().validate(name)`. @see k8s.io/apiserver/pkg/cel/library/format.go v0.36 */
import {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  nameIsDns1035,
  nameIsLabel,
  nameIsSubdomain,
} from '../../kube/names.ts'
import { hasFormat } from '../../kube/schema/formats.ts'
import type { Budget } from '../budget.ts'
import { fn, type Library, method } from '../functions.ts'
import { ArrayList, OpaqueValue, Optional } from '../values.ts'

class Format extends OpaqueValue {
  override readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  readonly faults: (text: string) => readonly string[]
  constructor(name: string, faults: (text: string) => readonly string[]) {
    super()
    this.name = name
    this.faults = faults
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Format && other.name === this.name
  }
}

const type = 'kubernetes.NamedFormat'
const maxText = 1_048_576

const schemaFormat =
  (format: string, fault: string) =>
  (text: string): readonly string[] =>
    hasFormat(format, text) ? [] : [fault]

const formats: ReadonlyMap<string, Format> = new Map(
  (
    [
      ['dns1123Label', isDns1123Label],
      ['dns1123Subdomain', isDns1123Subdomain],
      ['dns1035Label', isDns1035Label],
      ['qualifiedName', isQualifiedName],
      ['dns1123LabelPrefix', (t: string) => nameIsLabel(t, true)],
      ['dns1123SubdomainPrefix', (t: string) => nameIsSubdomain(t, true)],
      ['dns1035LabelPrefix', (t: string) => nameIsDns1035(t, true)],
      ['labelValue', isLabelValue],
      ['uri', schemaFormat('uri', 'invalid URI for request')],
      ['uuid', schemaFormat('uuid', 'does not match the UUID format')],
      ['byte', schemaFormat('byte', 'invalid base64')],
      ['date', schemaFormat('date', 'invalid date')],
      ['datetime', schemaFormat('date-time', 'invalid datetime')],
    ] as const
  ).map(([name, faults]) => [name, new Format(name, faults)]),
)

function validate(format: Format, text: string, budget: Budget): Optional {
  budget.work(text.length)
  const faults = text.length > maxText ? ['too long'] : format.faults(text)
  return faults.length === 0 ? Optional.none : new Optional(new ArrayList([...faults]))
}

export const formatLibrary: Library = [
  ...[...formats].map(([name, format]) => fn(`format.${name}`, `format.${name}`, ['', type], () => format)),
  fn('format-named', 'format.named', ['string', `optional_type(${type})`], (name: string) => {
    const format = formats.get(name)
    return format ? new Optional(format) : Optional.none
  }),
  method('format-validate', 'validate', [`${type}, string`, 'optional_type(list(string))'], validate),
]
