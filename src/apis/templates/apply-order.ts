/** In which order objects are applied, and which may be applied at once. */
import type { GroupResource } from '../../kube/gvk.ts'

/** Kinds that no other kind's admission looks at, or that may come in any order among themselves. */
const unordered: ReadonlySet<string> = new Set(
  [
    ['', 'configmaps limitranges resourcequotas secrets serviceaccounts'],
    ['networking.k8s.io', 'networkpolicies'],
    ['rbac.authorization.k8s.io', 'rolebindings roles'],
  ].flatMap(([group = '', resources = '']) => resources.split(' ').map((resource) => `${group}/${resource}`)),
)

/** It may be applied at the same time as others of which this is true. */
export const isUnordered = ({ group, resource }: GroupResource): boolean => unordered.has(`${group}/${resource}`)

/** A quota is charged for what comes after it; what is there or on its way before it, it counts once. */
export const isCounter = ({ group, resource }: GroupResource): boolean => group === '' && resource === 'resourcequotas'

/** Quotas last. */
export const countersLast = <T extends { readonly kind: GroupResource }>(run: readonly T[]): readonly T[] => [
  ...run.filter(({ kind }) => !isCounter(kind)),
  ...run.filter(({ kind }) => isCounter(kind)),
]

/**
 * Runs of objects whose order among themselves does not matter are applied at once, quotas last; all others one by one.
 */
export function* batches<T extends { readonly kind: GroupResource }>(placed: readonly T[]): Iterable<readonly T[]> {
  let run: T[] = []
  for (const p of placed) {
    if (isUnordered(p.kind)) {
      run.push(p)
      continue
    }
    if (run.length > 0) yield countersLast(run)
    run = []
    yield [p]
  }
  if (run.length > 0) yield countersLast(run)
}
