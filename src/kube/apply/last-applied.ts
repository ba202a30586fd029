/**
 * Living with client-side `kubectl apply`, which keeps its configuration in an annotation. Only the manager named
 * `kubectl` gets this treatment; a client that wants none of it chooses another name.
 * @see k8s.io/apimachinery/pkg/util/managedfields/internal/lastappliedmanager.go v0.36
 */
import { parseJsonText } from '../../base/parse-json-text.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import { configurationProblem } from './check-configuration.ts'
import { compareObjects, takenFields } from './compare.ts'
import { configuredFields } from './configured-fields.ts'
import { difference, emptySet, type FieldSet, union } from './field-set.ts'
import { goJson } from './path-element.ts'
import { isMap } from './shape.ts'

export const kubectlManager = 'kubectl'
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

const maxAnnotationsBytes = 256 * 1024

/** Fields that client-side apply set and no manager has changed since: `kubectl` may take them over. */
export function fieldsOfLastApplied(schema: Schema, live: KubeObject, apiVersion: string): FieldSet {
  const text = live.metadata.annotations?.[lastAppliedAnnotation]
  const config = text ? parse(text) : undefined
  if (config === undefined || config.apiVersion !== apiVersion) return emptySet
  if (configurationProblem(schema, config) !== undefined) return emptySet
  const fields = configuredFields(schema, config)
  const changes = compareObjects(schema, config, live)
  return changes === undefined ? fields : difference(fields, union(takenFields(changes), changes.removed))
}

/** The annotation belongs to the writer of the object: what is no configuration is as good as none. */
function parse(text: string): KubeObject | undefined {
  try {
    const value: unknown = parseJsonText(text)
    if (!isMap(value)) return undefined
    return { ...value, metadata: isMap(value['metadata']) ? value['metadata'] : {} }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Keeps an annotation that is there in step with what was just applied. */
export function withLastApplied(object: KubeObject, config: KubeObject): KubeObject {
  const annotations = object.metadata.annotations
  if (!annotations?.[lastAppliedAnnotation]) return object
  const value = `${goJson(sortKeys(withoutAnnotation(config) as unknown as JsonValue))}\n`
  if (annotations[lastAppliedAnnotation] === value) return object
  const next: Record<string, string> = { ...annotations, [lastAppliedAnnotation]: value }
  if (sizeBytes(next) > maxAnnotationsBytes) delete next[lastAppliedAnnotation]
  return { ...object, metadata: { ...object.metadata, annotations: next } }
}

function withoutAnnotation(config: KubeObject): KubeObject {
  if (!config.metadata.annotations) return config
  const { [lastAppliedAnnotation]: _, ...annotations } = config.metadata.annotations
  return { ...config, metadata: { ...config.metadata, annotations } }
}

/** With all keys in order, as Go prints maps. */
function sortKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isMap(value)) return value
  const result: JsonObject = Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sortKeys(value[name] ?? null)]),
  )
  return result
}

const sizeBytes = (annotations: Record<string, string>): number =>
  Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
