/** What the bodies for the loop are made of: a body and its place, and values of a given size. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export interface Body {
  readonly what: string
  /** Of the collection. */
  readonly path: string
  /** Says the whole object again, changed by `value`; its name is `large`. */
  readonly object: (value: string) => Record<string, Json>
  /** Upstream's validation has no place for it: it is read, decoded and judged all the same. */
  readonly refused?: true
}

export const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
export const keyed = (count: number, value: (i: number) => Json, prefix = 'key'): Record<string, Json> =>
  Object.fromEntries(many(count, (i) => [`${prefix}${i}`, value(i)]))

export const core = '/api/v1/namespaces/loop'
export const metadata = { name: 'large' }

/** A definition whose only version has this schema for `spec`. */
export const definition = (plural: string, spec: Json): Record<string, Json> => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.loop.example` },
  spec: {
    group: 'loop.example',
    names: { kind: plural, plural },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
})

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export const rules = (count: number, value: string): Json[] =>
  many(count, (i) => ({ apiGroups: [''], resources: [`r${i}-${value}`], verbs: ['get'] }))
