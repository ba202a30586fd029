/**
 * A thread that evaluates what is too costly for the one that serves clients: one evaluation at a time, each within the
 * budgets of `budget.ts`. A question about a permission is put to the other thread, and waited for.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { parseJson } from '../kube/strict-json.ts'
import { prepareEvaluation } from './evaluations.ts'
import type { AskPermission, CheckDecision } from './library/authorizer.ts'
import type { EvaluationRequest, ThreadData, ThreadMessage } from './thread-messages.ts'

type Evaluation = (input: never, ask: AskPermission) => unknown

class Evaluations {
  readonly #sources = new Map<number, object>()
  /** By source, and by name: one source may be there for several evaluations. */
  readonly #ready = new Map<string, Evaluation>()

  of({ name, sourceId, source, forgets }: EvaluationRequest): Evaluation {
    if (forgets) {
      this.#sources.clear()
      this.#ready.clear()
    }
    if (source !== undefined) this.#sources.set(sourceId, source)
    const key = `${sourceId} ${name}`
    let ready = this.#ready.get(key)
    if (ready === undefined) {
      ready = prepareEvaluation[name](this.#sources.get(sourceId) as never) as Evaluation
      this.#ready.set(key, ready)
    }
    return ready
  }
}

function serve(port: MessagePort, { decisions, signal }: ThreadData): void {
  const flag = new Int32Array(signal)
  const evaluations = new Evaluations()
  const say = (message: ThreadMessage): void => port.postMessage(message)
  const ask: AskPermission = (user, verb, what) => {
    Atomics.store(flag, 0, 0)
    say({ asks: { user, verb, what } })
    Atomics.wait(flag, 0, 0)
    return (receiveMessageOnPort(decisions) as { readonly message: CheckDecision }).message
  }
  port.on('message', (request: EvaluationRequest) => {
    try {
      const input = Object.fromEntries(request.members.map(([name, text]) => [name, parseJson(text).value]))
      say({ result: JSON.stringify(evaluations.of(request)(input as never, ask)) })
    } catch (error) {
      say({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
}

if (parentPort !== null) serve(parentPort, workerData as ThreadData)
