/**
 * Fields and types that Borough adds to built-in ones, in the notation of `generated-catalog.ts`; `@` is followed by a
 * full type name here.
 */

/** Type → additional fields. */
export const extensionFields: Readonly<Record<string, string>> = {
  'io.k8s.api.core.v1.NamespaceSpec': 'initializers:@dev.borough.api.core.v1.Initializers',
}

/** Upstream's own shape from before 1.14 (metav1.Initializers), moved from metadata to the namespace's spec. */
export const extensionTypes: Readonly<Record<string, string>> = {
  'dev.borough.api.core.v1.Initializers':
    'pending:[@dev.borough.api.core.v1.Initializer result:@io.k8s.apimachinery.pkg.apis.meta.v1.Status',
  'dev.borough.api.core.v1.Initializer': 'name:s',
}

export const extensionDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'io.k8s.api.core.v1.NamespaceSpec': {
    initializers:
      'Controllers that must act on this namespace before it may be used. Set by the server when the ' +
      'namespace is created.',
  },
  'dev.borough.api.core.v1.Initializers': {
    '': 'Tracks how far a new namespace has been initialized.',
    pending: 'Initializers that have not finished, in order. Only the first one may act; it removes itself when done.',
    result: 'Set when an initializer failed: the namespace is removed and its creation answered with this status.',
  },
  'dev.borough.api.core.v1.Initializer': {
    '': 'One initializer that has not finished.',
    name: 'The fully qualified name of the initializer.',
  },
}
