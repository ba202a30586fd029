/** The text of an operator's configuration file, before its kind is known. */
import { loadLater } from '../base/load-later.ts'
import type { JsonValue } from './types.ts'
import { parseYaml } from './yaml-body.ts'

const yaml = loadLater<typeof import('yaml')>('yaml')

/** Upstream takes the first, and the operator does not notice that the others have no effect. */
export const severalDocuments = 'it holds several YAML documents, and only one is read'

/** One YAML or JSON document. The error is of the given class. */
export function parseConfiguration(
  text: string,
  errorClass: new (message: string, options?: ErrorOptions) => Error,
): JsonValue {
  if (text.trim() === '') throw new errorClass('it is empty')
  let value: JsonValue
  try {
    const parsed = parseYaml(text)
    if (parsed.duplicates.length > 0) throw new Error(`${parsed.duplicates[0]} is there twice`)
    ;({ value } = parsed)
  } catch (cause) {
    const [message = ''] = (cause as Error).message.split('\n')
    throw new errorClass(`it is not YAML: ${message}`, { cause })
  }
  if (hasSeveralDocuments(text)) throw new errorClass(severalDocuments)
  return value
}

/** Marks with nothing behind them are no documents. */
export function hasSeveralDocuments(text: string): boolean {
  let documents = 0
  for (const token of new (yaml().Parser)().parse(text)) {
    if (token.type === 'document' && token.value !== undefined && ++documents > 1) return true
  }
  return false
}
