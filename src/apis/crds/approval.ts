/**
 * Groups of Kubernetes itself (`*.k8s.io`, `*.kubernetes.io`) need an annotation that says where their API was
 * reviewed, or that it was not.
 * @see k8s.io/apiextensions-apiserver/pkg/apihelpers/helpers.go (GetAPIApprovalState) v0.36
 */
import { type FieldError, fieldInvalid, fieldRequired } from '../../kube/field-error.ts'
import { approvalAnnotation, type CustomResourceDefinition, type DefinitionCondition } from './types.ts'

type ApprovalState = 'approved' | 'bypassed' | 'missing' | 'invalid'

interface Approval {
  readonly state: ApprovalState
  readonly reason: string
}

const advice = 'see https://github.com/kubernetes/enhancements/pull/1111'

const isProtected = (group: string): boolean =>
  group === 'k8s.io' || group.endsWith('.k8s.io') || group === 'kubernetes.io' || group.endsWith('.kubernetes.io')

function approvalOf({ metadata }: Pick<CustomResourceDefinition, 'metadata'>): Approval {
  const text = metadata.annotations?.[approvalAnnotation]
  const annotation = JSON.stringify(approvalAnnotation)
  if (!text) {
    return { state: 'missing', reason: `protected groups must have approval annotation ${annotation}, ${advice}` }
  }
  if (text.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${JSON.stringify(text)}` }
  if (URL.canParse(text) && new URL(text).host !== '') return { state: 'approved', reason: `approved in ${text}` }
  return {
    state: 'invalid',
    reason:
      `protected groups must have approval annotation ${annotation} with either a URL or a reason starting ` +
      `with "unapproved", ${advice}`,
  }
}

const isBad = ({ state }: Approval): boolean => state === 'missing' || state === 'invalid'

/** What was accepted once is not refused by an update. */
export function approvalErrors(
  next: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): FieldError[] {
  if (!isProtected(next.spec.group ?? '')) return []
  const approval = approvalOf(next)
  if (!isBad(approval) || (old !== undefined && isBad(approvalOf(old)))) return []
  const field = `metadata.annotations[${approvalAnnotation}]`
  return approval.state === 'missing'
    ? [fieldRequired(field, approval.reason)]
    : [fieldInvalid(field, next.metadata.annotations?.[approvalAnnotation], approval.reason)]
}

const conditions: Readonly<Record<ApprovalState, Pick<DefinitionCondition, 'status' | 'reason'>>> = {
  approved: { status: 'True', reason: 'ApprovedAnnotation' },
  bypassed: { status: 'False', reason: 'UnapprovedAnnotation' },
  missing: { status: 'False', reason: 'MissingAnnotation' },
  invalid: { status: 'False', reason: 'InvalidAnnotation' },
}

/** undefined for groups that are not protected. */
export function approvalCondition(definition: CustomResourceDefinition): DefinitionCondition | undefined {
  if (!isProtected(definition.spec.group)) return undefined
  const { state, reason } = approvalOf(definition)
  return { type: 'KubernetesAPIApprovalPolicyConformant', ...conditions[state], message: reason }
}
