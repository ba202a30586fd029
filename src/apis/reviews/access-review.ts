/**
 * May a user do something? SubjectAccessReview, LocalSubjectAccessReview, SelfSubjectAccessReview and
 * SelfSubjectRulesReview. Whether what is asked about exists plays no part.
 * @see k8s.io/kubernetes/pkg/{registry,apis}/authorization v1.36
 */

import type { AskElsewhere, Authorizer, AuthzAttributes } from '../../authz/authz.ts'
import { runInSlices } from '../../base/resumable.ts'
import type { Slice } from '../../base/turns.ts'
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { badRequest, invalid } from '../../kube/status-error.ts'
import type { KubeObject, ObjectMeta } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import { readSelectors, selectorErrors } from './selector-attributes.ts'
import { type AccessReviewSpec, authorizationGroup, type ReviewHandler } from './types.ts'

export interface AccessReviews {
  readonly subject: ReviewHandler
  readonly local: ReviewHandler
  readonly self: ReviewHandler
  readonly selfRules: ReviewHandler
}

/** `askElsewhere`: of what `authorizer` does not allow. */
export function accessReviews(authorizer: Authorizer, askElsewhere?: AskElsewhere): AccessReviews {
  const answered = async (question: KubeObject, user: UserInfo, slice: Slice | undefined): Promise<KubeObject> => {
    const spec = specOf(question)
    const { faults, ...selectors } = await runInSlices(readSelectors(spec.resourceAttributes ?? {}), slice)
    const asked = attributesOf(spec, user)
    const attributes = asked.path === undefined ? { ...asked, ...selectors } : asked
    const own = authorizer.authorize(attributes)
    const elsewhere = own.allowed || askElsewhere === undefined ? own : await askElsewhere(attributes)
    const { allowed, reason } = elsewhere.allowed || own.reason === '' ? elsewhere : own
    const evaluationError = faults.join('; ')
    return {
      ...question,
      status: {
        allowed,
        ...(reason === '' ? {} : { reason }),
        ...(evaluationError === '' ? {} : { evaluationError }),
      },
    }
  }
  return {
    async subject(question, { slice }) {
      const spec = specOf(question)
      refuse([
        ...specErrors(spec),
        ...subjectErrors(spec),
        ...(await runInSlices(selectorErrors(spec.resourceAttributes ?? {}), slice)),
        ...metadataErrors(question.metadata, 'must be empty'),
      ])
      return answered(question, subjectOf(spec), slice)
    },

    async local(given, { namespace, slice }) {
      // As for any namespaced object, an empty namespace is the one of the URL.
      const question = given.metadata.namespace ? given : { ...given, metadata: { ...given.metadata, namespace } }
      const spec = specOf(question)
      const { namespace: home, ...metadata } = question.metadata
      refuse([
        ...specErrors(spec),
        ...subjectErrors(spec),
        ...(await runInSlices(selectorErrors(spec.resourceAttributes ?? {}), slice)),
        ...metadataErrors(metadata, 'must be empty except for namespace'),
        ...localErrors(spec, home ?? ''),
      ])
      if (home !== namespace) throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`)
      return answered(question, subjectOf(spec), slice)
    },

    async self(question, { user, slice }) {
      const spec = specOf(question)
      refuse([
        ...specErrors(spec),
        ...(await runInSlices(selectorErrors(spec.resourceAttributes ?? {}), slice)),
        ...metadataErrors(question.metadata, 'must be empty'),
      ])
      return answered(question, user, slice)
    },

    async selfRules(question, { user }) {
      const { namespace = '' } = (question['spec'] ?? {}) as { namespace?: string }
      if (namespace === '') throw badRequest('no namespace on request')
      // Upstream answers without the question.
      return { ...question, metadata: {}, spec: {}, status: { ...authorizer.rulesFor(user, namespace) } }
    },
  }
}

const specOf = (question: KubeObject): AccessReviewSpec => question['spec'] ?? {}

function subjectOf({ user = '', groups = [], uid, extra }: AccessReviewSpec): UserInfo {
  return { username: user, groups, ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) }
}

function attributesOf(
  { resourceAttributes, nonResourceAttributes }: AccessReviewSpec,
  user: UserInfo,
): AuthzAttributes {
  if (resourceAttributes === undefined) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {}
    return { user, verb, path }
  }
  const {
    verb = '',
    group = '',
    version = '',
    resource = '',
    subresource = '',
    namespace = '',
    name = '',
  } = resourceAttributes
  return { user, verb, group, version, resource, subresource, namespace, name }
}

function refuse(errors: readonly FieldError[]): void {
  // Upstream leaves kind and name empty here.
  if (errors.length > 0) throw invalid({ group: authorizationGroup, kind: '' }, '', errors)
}

function specErrors({ resourceAttributes, nonResourceAttributes }: AccessReviewSpec): FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const why = 'cannot be specified in combination with resourceAttributes'
    return [fieldInvalid('spec.nonResourceAttributes', nonResourceAttributes, why)]
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
    return [fieldInvalid('spec.resourceAttributes', 'null', why)]
  }
  return []
}

const subjectErrors = ({ user = '', groups = [] }: AccessReviewSpec): FieldError[] =>
  user === '' && groups.length === 0
    ? [fieldInvalid('spec.user', user, 'at least one of user or group must be specified')]
    : []

function localErrors({ resourceAttributes, nonResourceAttributes }: AccessReviewSpec, namespace: string): FieldError[] {
  const errors: FieldError[] = []
  if (resourceAttributes !== undefined && (resourceAttributes.namespace ?? '') !== namespace) {
    const given = resourceAttributes.namespace ?? ''
    errors.push(fieldInvalid('spec.resourceAttributes.namespace', given, 'must match metadata.namespace'))
  }
  if (nonResourceAttributes !== undefined) {
    const why = 'disallowed on this kind of request'
    errors.push(fieldInvalid('spec.nonResourceAttributes', nonResourceAttributes, why))
  }
  return errors
}

/** What the server itself may have put there does not count. */
function metadataErrors(metadata: Readonly<ObjectMeta>, why: string): FieldError[] {
  const { managedFields, creationTimestamp, ...given } = metadata
  const empty = Object.values(given).every((value) => value === undefined || value === '' || value === null)
  return empty ? [] : [fieldInvalid('metadata', given, why)]
}
