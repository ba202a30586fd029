/** create of a kind that is answered and not kept: reviews, and sub-resources such as `serviceaccounts/token`. */

import type { Slice } from '../../base/turns.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { badRequest } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { assumeValid } from '../../kube/unvalidated.ts'
import type { UserInfo } from '../../kube/user.ts'
import type { Registry, WriteScope } from '../../registry/registry.ts'
import type { BodyDecoder } from '../decode-body.ts'
import { negotiate } from '../negotiate.ts'
import type { Renderer } from '../respond.ts'
import { checkWriteOptions } from './options.ts'
import { warn, writeScope } from './target.ts'
import type { VerbHandler } from './verb.ts'

const statusKind = { group: '', version: 'v1', kind: 'Status' }

export type Answer = (
  question: KubeObject,
  context: {
    readonly user: UserInfo
    readonly namespace: string
    readonly name: string
    readonly dryRun: boolean
    /** For answers that write: who asks, about which object. */
    readonly scope: WriteScope
    readonly slice: Slice | undefined
    warn(text: string): void
  },
) => Promise<KubeObject>

export interface AnswerDeps {
  readonly decoder: BodyDecoder
  readonly renderer: Renderer
  /** Asks admission; absent for reviews, which upstream lets no plugin refuse. */
  readonly admit?: Registry['admit']
  /** Of the body, where it is not the type in the URL. */
  readonly bodyType?: ResourceType
}

export function answerVerb({ decoder, renderer, bodyType, admit }: AnswerDeps, answer: Answer): VerbHandler {
  return async (request, context, target) => {
    const type = bodyType ?? target.type
    const { query } = context.info
    const n = negotiate(request.headers, query, () => renderer.offer(type, []))
    checkWriteOptions('CreateOptions', query)
    const sent = await decoder.decodeObject(request, context, type)
    const given = sent.metadata.namespace
    if (target.type.namespaced && given && given !== target.namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
    }
    if (target.type.namespaced) sent.metadata.namespace = target.namespace
    // A kind that is answered as a whole is named by its body, if at all.
    const name = target.name || (sent.metadata.name ?? '')
    const scope = { ...writeScope(request, context, target), name }
    // No strategy validates a question: what answers it does, and requires no field without looking.
    const question = assumeValid(admit ? await admit(scope, sent) : sent)
    const answered = await answer(question, {
      user: context.user,
      namespace: target.namespace,
      name: target.name,
      dryRun: query.getAll('dryRun').includes('All'),
      scope,
      slice: context.slice,
      warn: (text) => warn(context, text),
    })
    if (answered.kind === 'Status') return renderer.value(answered, statusKind, n, 201)
    // First as in any answer, and said by the path: the body may leave them empty.
    const is = { kind: type.kind, apiVersion: apiVersionOf(type) }
    return renderer.value({ ...is, ...answered, ...is }, type, n, 201)
  }
}
