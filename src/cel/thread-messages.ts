/** What the evaluator and its threads say to each other. */
import type { MessagePort } from 'node:worker_threads'
import type { UserInfo } from '../kube/user.ts'
import type { EvaluationName } from './evaluations.ts'
import type { Permission } from './library/authorizer.ts'

export interface ThreadData {
  /** Where decisions about permissions come from. */
  readonly decisions: MessagePort
  /** One number: 1 when a decision has come. */
  readonly signal: SharedArrayBuffer
}

export interface EvaluationRequest {
  readonly name: EvaluationName
  /** Of the source, which is sent along the first time. */
  readonly sourceId: number
  readonly source?: object
  /** Of the input, each as JSON text. */
  readonly members: readonly (readonly [name: string, text: string])[]
  /** Sources of before are forgotten. */
  readonly forgets: boolean
}

export type ThreadMessage =
  /** JSON text. */
  | { readonly result: string }
  | { readonly failure: string }
  | { readonly asks: { readonly user: UserInfo; readonly verb: string; readonly what: Permission } }
