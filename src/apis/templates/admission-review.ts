/** AdmissionReview v1 as a webhook reads and answers it. Pure. @see k8s.io/api/admission/v1/types.go v0.36 */
import { parseJsonText } from '../../base/parse-json-text.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import { type JsonDiffOperation } from '../../kube/patch/json-diff.ts'
import { badRequest, StatusError } from '../../kube/status-error.ts'
import type { KubeObject, Status } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import { KindUnanswered } from './unanswered-kinds.ts'

export interface AdmissionRequest {
  readonly uid: string
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string }
  readonly subResource?: string
  /** '' for a create by generateName. */
  readonly name: string
  readonly namespace: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly userInfo: UserInfo
  readonly object?: KubeObject
  readonly oldObject?: KubeObject
  readonly dryRun: boolean
}

export interface AdmissionVerdict {
  /** Absent = allowed. */
  readonly refusal?: Status
  readonly patch?: readonly JsonDiffOperation[]
  readonly warnings?: readonly string[]
}

const apiVersion = 'admission.k8s.io/v1'
const kind = 'AdmissionReview'

/** @throws StatusError BadRequest */
export function readAdmissionRequest(text: string): AdmissionRequest {
  let review: unknown
  try {
    review = parseJsonText(text)
  } catch (cause) {
    throw badRequest(`the body is not JSON: ${(cause as SyntaxError).message}`)
  }
  if (!isJsonObject(review) || review['kind'] !== kind || review['apiVersion'] !== apiVersion)
    throw badRequest(`the body is not ${kind} of ${apiVersion}`)
  const request = review['request']
  if (!isJsonObject(request) || typeof request['uid'] !== 'string') throw badRequest('the review has no request')
  const { resource, userInfo, operation } = request
  if (!isJsonObject(resource) || !isJsonObject(userInfo) || typeof operation !== 'string')
    throw badRequest('the request lacks its resource, its operation or its user')
  const { group = '', version = '', resource: plural = '' } = resource as Record<string, string | undefined>
  const { username = '', uid, groups, extra } = userInfo as unknown as Partial<UserInfo>
  const { subResource, name, namespace, object, oldObject } = request as unknown as Partial<AdmissionRequest>
  return {
    uid: request['uid'],
    resource: { group, version, resource: plural },
    ...(subResource ? { subResource } : {}),
    name: name ?? '',
    namespace: namespace ?? '',
    operation: operation as AdmissionRequest['operation'],
    userInfo: { username, groups: groups ?? [], ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) },
    // `null` where there is none.
    ...(object ? { object } : {}),
    ...(oldObject ? { oldObject } : {}),
    dryRun: request['dryRun'] === true,
  }
}

export function answerText(uid: string, { refusal, patch = [], warnings = [] }: AdmissionVerdict): string {
  const response = {
    uid,
    allowed: refusal === undefined,
    ...(refusal === undefined ? {} : { status: refusal }),
    ...(patch.length > 0 && refusal === undefined
      ? { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
      : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  }
  return JSON.stringify({ apiVersion, kind, response })
}

/** What was thrown as a refusal. @throws what was thrown, if it is none but a failure */
export function refusalIn(error: unknown): Status {
  if (error instanceof KindUnanswered) return error.toStatus()
  if (!(error instanceof StatusError) || error.code >= 500) throw error
  return error.toStatus()
}
