/**
 * What is the same for every object whatever its schema says: TypeMeta, ObjectMeta, and the fields without owners.
 * @see k8s.io/apimachinery/pkg/util/managedfields/internal/stripmeta.go v0.36
 */
import type { Schema } from '../schema/schema.ts'
import { fieldSchema } from './shape.ts'

const string: Schema = { type: 'string' }
const integer: Schema = { type: 'integer' }
const boolean: Schema = { type: 'boolean' }
const strings: Schema = { type: 'object', additionalProperties: string }

const ownerReference: Schema = {
  type: 'object',
  mapType: 'atomic',
  properties: new Map([
    ['apiVersion', string],
    ['kind', string],
    ['name', string],
    ['uid', string],
    ['controller', boolean],
    ['blockOwnerDeletion', boolean],
  ]),
}

const objectMeta: Schema = {
  type: 'object',
  byValue: true,
  properties: new Map<string, Schema>([
    ['annotations', strings],
    ['creationTimestamp', string],
    ['deletionGracePeriodSeconds', integer],
    ['deletionTimestamp', string],
    ['finalizers', { type: 'array', listType: 'set', items: string }],
    ['generateName', string],
    ['generation', integer],
    ['labels', strings],
    ['managedFields', { type: 'array', listType: 'atomic', items: { type: 'any' } }],
    ['name', string],
    ['namespace', string],
    ['ownerReferences', { type: 'array', listType: 'map', listMapKeys: ['uid'], items: ownerReference }],
    ['resourceVersion', string],
    ['selfLink', string],
    ['uid', string],
  ]),
}

const roots = new WeakMap<Schema, Schema>()

/** The schema of whole objects of a kind: its own, with TypeMeta and ObjectMeta as they always are. */
export function objectSchema(schema: Schema): Schema {
  let root = roots.get(schema)
  if (root === undefined) {
    const properties = new Map(schema.properties)
    properties.set('apiVersion', string).set('kind', string).set('metadata', objectMeta)
    const open = schema.properties === undefined && fieldSchema(schema, 'spec') !== undefined
    root = { ...schema, type: 'object', properties, ...(open ? { preserveUnknownFields: true } : {}) }
    roots.set(schema, root)
  }
  return root
}

/** Root fields without owners. */
export const untrackedFields: ReadonlySet<string> = new Set(['apiVersion', 'kind'])

/** Fields of metadata without owners: they identify the object or belong to the server. */
export const untrackedMetadata: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
])
