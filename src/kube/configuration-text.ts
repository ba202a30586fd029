/** The text of an operator's configuration file, before its kind is known. */
import type { JsonValue } from './types.ts'
import { parseYaml } from './yaml-body.ts'

/** One YAML or JSON document. The error is of the given class. */
export function parseConfiguration(
  text: string,
  errorClass: new (message: string, options?: ErrorOptions) => Error,
): JsonValue {
  if (text.trim() === '') throw new errorClass('it is empty')
  try {
    const { value, duplicates } = parseYaml(text)
    if (duplicates.length > 0) throw new Error(`${duplicates[0]} is there twice`)
    return value
  } catch (cause) {
    const [message = ''] = (cause as Error).message.split('\n')
    throw new errorClass(`it is not YAML: ${message}`, { cause })
  }
}
