/** Small kinds made by hand, for tests of field ownership. */
import type { Schema } from '../../src/kube/schema/schema.ts'
import type { KubeObject } from '../../src/kube/types.ts'

const string: Schema = { type: 'string' }
const integer: Schema = { type: 'integer' }
const strings: Schema = { type: 'object', additionalProperties: string }

const struct = (fields: Record<string, Schema>, rest: Partial<Schema> = {}): Schema => ({
  type: 'object',
  properties: new Map(Object.entries(fields)),
  ...rest,
})

const mapList = (keys: string[], items: Schema): Schema => ({
  type: 'array',
  listType: 'map',
  listMapKeys: keys,
  items,
})

export const configMapSchema: Schema = struct({ data: strings, immutable: { type: 'boolean' } })

const containerPort = struct({
  containerPort: integer,
  protocol: { ...string, default: 'TCP' },
  name: string,
})

const container = struct({
  name: string,
  image: string,
  command: { type: 'array', items: string },
  env: mapList(['name'], struct({ name: string, value: string })),
  ports: mapList(['containerPort', 'protocol'], containerPort),
  resources: struct({ limits: { type: 'object', additionalProperties: { type: 'quantity' } } }, { byValue: true }),
})

/** A workload in the manner of built-in kinds: structs by value, keyed lists, sets, atomic parts. */
export const workloadSchema: Schema = struct({
  spec: struct(
    {
      replicas: integer,
      selector: struct({ matchLabels: strings }, { mapType: 'atomic' }),
      template: struct({ labels: strings, containers: mapList(['name'], container) }, { byValue: true }),
      zones: { type: 'array', listType: 'set', items: string },
      priorities: { type: 'array', listType: 'set', items: integer },
      hosts: { type: 'array', items: string },
      paused: { type: 'boolean' },
      maxSurge: { type: 'intOrString' },
    },
    { byValue: true },
  ),
  status: struct(
    {
      phase: string,
      conditions: mapList(['type'], struct({ type: string, status: string })),
    },
    { byValue: true },
  ),
})

/** A custom resource: nothing by value, some of it unknown. */
export const widgetSchema: Schema = struct({
  spec: struct({
    size: integer,
    free: { type: 'object', preserveUnknownFields: true },
    extra: { type: 'any' },
    tags: strings,
  }),
})

export const configMap = (fields: { metadata?: object; [field: string]: unknown } = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  ...fields,
  metadata: { name: 'cm', namespace: 'ns', ...fields.metadata },
})

export const workload = (fields: { metadata?: object; [field: string]: unknown } = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Workload',
  ...fields,
  metadata: { name: 'w', namespace: 'ns', ...fields.metadata },
})
