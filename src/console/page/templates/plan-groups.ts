/** A plan with the namespaces together to which it would do the same. */
import type { PlannedObject, TemplatePlan } from '../../../apis/templates/plan.ts'

export interface PlanGroup {
  readonly namespaces: readonly string[]
  readonly objects: readonly PlannedObject[]
}

/** The largest first. */
export function groupPlan({ namespaces }: Pick<TemplatePlan, 'namespaces'>): readonly PlanGroup[] {
  const groups = new Map<string, { readonly namespaces: string[]; readonly objects: readonly PlannedObject[] }>()
  for (const { namespace, objects } of namespaces) {
    const key = JSON.stringify(objects)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { namespaces: [namespace], objects })
    else group.namespaces.push(namespace)
  }
  return [...groups.values()].sort((a, b) => b.namespaces.length - a.namespaces.length)
}
