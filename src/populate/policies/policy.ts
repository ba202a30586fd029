/** An admission policy and the binding that puts it in force, under one name. */
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import { installName } from '../names.ts'

const registration = 'admissionregistration.k8s.io/v1'

export type PolicyKind = 'MutatingAdmissionPolicy' | 'ValidatingAdmissionPolicy'

/** Policies are asked in the order of their names. */
export const policyNames: Readonly<Record<'creator' | 'gate' | 'hold' | 'namespace' | 'protection' | 'use', string>> = {
  creator: `${installName}-creator`,
  gate: `${installName}-gate`,
  hold: `${installName}-hold`,
  namespace: `${installName}-namespace`,
  protection: installName,
  use: `${installName}-use`,
}

/** Of a policy or a webhook. */
export const ruleOf = (
  group: string,
  version: string,
  operations: readonly string[],
  ...resources: readonly string[]
): JsonObject => ({
  apiGroups: [group],
  apiVersions: [version],
  operations: [...operations],
  resources: [...resources],
  scope: '*',
})

export function policyWithBinding(
  kind: PolicyKind,
  name: string,
  spec: object,
  paramRef?: JsonObject,
): [KubeObject, KubeObject] {
  const isMutating = kind === 'MutatingAdmissionPolicy'
  return [
    {
      apiVersion: registration,
      kind,
      metadata: { name },
      spec: { failurePolicy: 'Fail', ...(isMutating ? { reinvocationPolicy: 'IfNeeded' } : {}), ...spec },
    },
    {
      apiVersion: registration,
      kind: `${kind}Binding`,
      metadata: { name },
      spec: {
        policyName: name,
        ...(isMutating ? {} : { validationActions: ['Deny'] }),
        ...(paramRef === undefined ? {} : { paramRef }),
      },
    },
  ]
}
