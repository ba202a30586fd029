/**
 * What the objects say of themselves, read as `docs/templates.md` has it: both models of enforcement judge by these
 * facts. Nothing here follows from them, and no code of the product is behind them.
 */
import type { KubeObject } from '../../../src/kube/types.ts'

/** Every template of the models selects by values of label `tier`. */
export interface SelectingTemplate extends KubeObject {
  readonly spec?: {
    readonly namespaces?: {
      readonly labelSelector?: { readonly matchExpressions?: readonly { readonly values?: readonly string[] }[] }
    }
  }
}

export const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ''
export const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined
export const isOff = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['policy/namespace-template-apply'] === 'disable'
export const isOut = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['policy/namespace-template-opt-out'] === 'true'

export function selects({ spec }: SelectingTemplate, { metadata }: KubeObject): boolean {
  const tiers = spec?.namespaces?.labelSelector?.matchExpressions?.[0]?.values ?? []
  return tiers.includes(metadata.labels?.['tier'] ?? '')
}
export const isInForce = (template: SelectingTemplate, namespace: KubeObject): boolean =>
  !isGoing(template) && !isOff(template) && !isOut(namespace) && selects(template, namespace)
