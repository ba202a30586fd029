/** What expressions of a template see of its parameters. */
import type { Namespace } from '../namespaces/types.ts'
import type { NamespaceTemplate } from './types.ts'

/** By name, as they are in this namespace. Templates declare none so far. */
export const paramsIn = (
  _template: NamespaceTemplate,
  _namespace: Pick<Namespace, 'metadata'>,
): Readonly<Record<string, string>> => ({})
