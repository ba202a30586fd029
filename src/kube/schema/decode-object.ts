/**
 * An object as its type takes it: built-in kinds as Go decodes them, custom ones by what their schema leaves of them.
 */
import type { ResourceType } from '../resource-type.ts'
import type { JsonObject } from '../types.ts'
import { type Decoded, type Dialect, decode } from './decode.ts'
import { prune } from './prune.ts'

/** @param dialect 'typed': fits the schema already, nulls included @throws DecodeError */
export function decodeObject(
  value: JsonObject,
  type: Pick<ResourceType, 'schema' | 'custom'>,
  dialect: Dialect = 'json',
): Decoded {
  const objectMeta = type.schema.properties?.get('metadata')
  if (type.custom && objectMeta !== undefined) return prune(value, type.schema, objectMeta, dialect === 'typed')
  return decode(value, type.schema, dialect)
}
