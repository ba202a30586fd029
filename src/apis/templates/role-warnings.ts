/** RoleBindings of a template that give nothing, for want of the ClusterRole that they name. Pure. */
import { parseApiVersion } from '../../kube/gvk.ts'
import { type Binding, rbacGroup } from '../../kube/rbac.ts'
import { objectsOf } from './template-objects.ts'
import { hasToken } from './tokens.ts'
import type { NamespaceTemplate } from './types.ts'

/** Whether there is a ClusterRole of that name. */
export type HasClusterRole = (name: string) => boolean

/** Who may bind what is not there yet may do so; a mistyped name shows nowhere else. */
export function roleWarnings(hasClusterRole: HasClusterRole, template: NamespaceTemplate): string[] {
  return objectsOf(template).flatMap(({ field, source, cloneFrom }) => {
    if (cloneFrom !== undefined || source['kind'] !== 'RoleBinding') return []
    if (parseApiVersion(String(source['apiVersion']))?.group !== rbacGroup) return []
    const { kind, name } = (source as Partial<Binding>).roleRef ?? {}
    if (kind !== 'ClusterRole' || typeof name !== 'string' || hasToken(name) || hasClusterRole(name)) return []
    return [
      `${field}.roleRef: there is no ClusterRole ${JSON.stringify(name)}: the binding gives nothing until there is`,
    ]
  })
}
