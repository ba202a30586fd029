/**
 * The Namespace as this folder and its neighbours see it: its two lists (finalizers, initializers), its phase, and the
 * names and annotations that mean something here. Vocabulary only. What a namespace may become is `strategy.ts`, what
 * it lets others do is `admission.ts`, how it goes is `reconcile.ts`.
 */
import type { Resource } from '../../kube/resource.ts'
import type { KubeObject, Status } from '../../kube/types.ts'

export type NamespacePhase = 'Active' | 'Initializing' | 'Terminating'

export interface NamespaceCondition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  lastTransitionTime?: string | null
  reason?: string
  message?: string
}

export interface Initializers {
  pending?: { name: string }[]
  result?: Status
}

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[]; initializers?: Initializers }
  status?: { phase?: NamespacePhase; conditions?: NamespaceCondition[] }
}

export const namespaceResource: Resource<Namespace> = { group: '', version: 'v1', resource: 'namespaces' }

/** Its value is always the name. */
export const nameLabel = 'kubernetes.io/metadata.name'

/** Removed by the namespace controller, alone, when the namespace is empty. */
export const kubernetesFinalizer = 'kubernetes'

/** These can't be deleted. */
export const immortalNamespaces: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])

/** Made at the first start. */
export const initialNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'] as const

/** Ours: DELETE answers 403 while it is "true". */
export const deletionProtectionAnnotation = 'borough.dev/deletion-protection'

const activePhase: NamespacePhase = 'Active'

export function phaseOf(namespace: Namespace): NamespacePhase {
  return namespace.status?.phase ?? activePhase
}

/** For selection: see `SelectableField`. */
export const selectablePhase = (): { (namespace: Namespace): string; readonly absent: string } =>
  Object.assign((namespace: Namespace) => phaseOf(namespace), { absent: activePhase })

/** Initializers are still to act. */
export function isInitializing(namespace: Namespace): boolean {
  return namespace.spec?.initializers !== undefined
}
