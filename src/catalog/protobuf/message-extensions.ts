/**
 * MessageFields and messages of ours that upstream does not have, in the notation of `message-facts.ts`. Upstream
 * clients skip them, and drop them when they write an object back.
 *
 * `NamespaceSpec.initializers` has the shape of the old metav1.Initializers: {pending: [{name}], result: Status}.
 */
export const messageExtensions: Readonly<Record<string, string>> = {
  'core.v1.NamespaceSpec': 'initializers*?=16:borough.Initializers',
  'borough.Initializers': 'pending=1:[]Initializer result*?=2:meta.v1.Status',
  'borough.Initializer': 'name=1',
}
