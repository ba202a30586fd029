/**
 * Mutating webhooks: one after the other, each sees what those before it made. A change may ask for a second round:
 * then the plugins before run again, and webhooks that want to (`reinvocationPolicy: IfNeeded`) are asked again if the
 * object was changed after their turn.
 * @see k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go v0.36
 */
import type { AdmissionPlugin, Attributes, MutationRound } from '../../admission/admission.ts'
import type { Eventual } from '../../base/eventual.ts'
import { runInSlices } from '../../base/resumable.ts'
import type { Slice } from '../../base/turns.ts'
import { quote } from '../../kube/go-quote.ts'
import { isJsonObject, jsonEqual } from '../../kube/json-value.ts'
import { applyingJsonPatch, listIsNoObject, parseJsonPatch } from '../../kube/patch/json-patch.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { findStatusError, internalError, StatusError } from '../../kube/status-error.ts'
import type { JsonObject, JsonValue, KubeObject, Unvalidated } from '../../kube/types.ts'
import { assumeValid, unvalidated } from '../../kube/unvalidated.ts'
import { ask, type CallDeps, isSelected } from './call-hook.ts'
import type { HookIndex, HookInvocation } from './hook-index.ts'
import { refusalOf, type Verdict } from './review.ts'
import { asTree, shownTo, takenFrom } from './shown-object.ts'

export interface MutatingDeps extends CallDeps {
  readonly index: HookIndex
  /** Types checked, unknown fields dropped, defaults filled in: what a webhook made, as if a client had sent it. */
  settle(type: ResourceType, object: JsonObject, slice: Slice | undefined): Eventual<Unvalidated>
}

const pluginName = 'MutatingAdmissionWebhook'

/** What the second round must know of the first. */
interface Rounds {
  /** As the webhooks left it. */
  output: KubeObject | undefined
  /** Asked, and willing to be asked again if something changes after them. */
  readonly willing: Set<HookInvocation['hook']>
  /** To be asked in the second round. */
  readonly again: Set<HookInvocation['hook']>
}

export function mutatingWebhooks(deps: MutatingDeps): AdmissionPlugin {
  return {
    name: pluginName,
    mayAskForSecond: true,
    handles: (operation, type, subresource) => deps.index.matching(operation, type, subresource).length > 0,
    onHandlesChange: (listener) => deps.index.onChange(listener),
    async mutate(given, round) {
      const a = asTree(given)
      const rounds = round.memory(
        pluginName,
        (): Rounds => ({ output: undefined, willing: new Set(), again: new Set() }),
      )
      if (round.isSecond && !jsonEqual(rounds.output, a.object)) callAgain(rounds)
      const object = await runHooks(deps, a, round, rounds)
      rounds.output = object
      return object && unvalidated(object)
    },
  }
}

function callAgain({ willing, again }: Rounds): void {
  for (const hook of willing) again.add(hook)
  willing.clear()
}

async function runHooks(
  deps: MutatingDeps,
  a: Attributes,
  round: MutationRound,
  rounds: Rounds,
): Promise<KubeObject | undefined> {
  let { object } = a
  for (const invocation of deps.index.matching(a.operation, a.type, a.subresource)) {
    const { hook, position } = invocation
    if (round.isSecond && !rounds.again.has(hook)) continue
    const present: Attributes = { ...a, object }
    if (!(await isSelected(deps, invocation, present))) continue
    const next = await changedBy(deps, present, invocation, `round_${round.isSecond ? 1 : 0}_index_${position}`)
    if (next !== object) {
      object = next
      callAgain(rounds)
      round.askForSecond()
    }
    if (hook.webhook.reinvocationPolicy === 'IfNeeded') rounds.willing.add(hook)
  }
  return object
}

/** The same object if the webhook leaves it as it is. @throws StatusError */
async function changedBy(
  deps: MutatingDeps,
  a: Attributes,
  invocation: HookInvocation,
  place: string,
): Promise<KubeObject | undefined> {
  const { hook } = invocation
  const shown = await shownTo(invocation, a, deps.convert)
  const { verdict, failedOpen, slice } = await ask(deps, 'mutating', invocation, a, shown)
  if (failedOpen) a.annotate(`failed-open.mutation.webhook.admission.k8s.io/${place}`, hook.webhook.name)
  if (verdict === undefined) return a.object
  recordVerdict(a, hook.webhook.name, verdict)
  if (!verdict.allowed) throw refusalOf(hook.webhook.name, verdict.result)
  const changed = await applyPatch(deps, invocation, shown.object, verdict, slice)
  await slice?.pause()
  const isChanged = changed !== undefined && !jsonEqual(changed, shown.object)
  const said = { configuration: hook.configuration, webhook: hook.webhook.name }
  a.annotate(
    `mutation.webhook.admission.k8s.io/${place}`,
    JSON.stringify({ configuration: said.configuration, webhook: said.webhook, mutated: isChanged }),
  )
  if (!isChanged) return a.object
  await slice?.pause()
  const annotation = { ...said, patch: verdict.patch, patchType: 'JSONPatch' }
  a.annotate(`patch.webhook.admission.k8s.io/${place}`, JSON.stringify(annotation))
  await slice?.pause()
  return takenFrom(invocation, a, changed, deps.convert)
}

export function recordVerdict(a: Attributes, webhook: string, { warnings, auditAnnotations }: Verdict): void {
  for (const [key, value] of Object.entries(auditAnnotations)) a.annotate(`${webhook}/${key}`, value)
  for (const text of warnings) a.warn(text)
}

/**
 * Undefined = no patch. A patch that does not apply is an error whatever the failure policy says. @throws StatusError
 */
async function applyPatch(
  deps: MutatingDeps,
  { type, kind, hook }: HookInvocation,
  object: KubeObject | undefined,
  { patch: sent }: Verdict,
  slice: Slice | undefined,
): Promise<KubeObject | undefined> {
  if (sent === undefined || (Array.isArray(sent) && sent.length === 0)) return undefined
  if (object === undefined) {
    const tried = `admission webhook ${quote(hook.webhook.name)} attempted to modify the object`
    throw internalError(`${tried}, which is not supported for this operation`)
  }
  let value: JsonValue
  try {
    value = await runInSlices(applyingJsonPatch(object as unknown as JsonValue, parseJsonPatch(sent)), slice)
  } catch (error) {
    throw internalError(patchFault(error), error)
  }
  if (!isJsonObject(value)) throw internalError(listIsNoObject)
  // The options of a connection have no metadata to begin with.
  if (object.metadata !== undefined) value['metadata'] ??= {}
  // A sub-resource's own kind has a schema of its own, which is not at hand: it is taken as it is.
  if (kind.kind !== type.kind) return value as unknown as KubeObject
  await slice?.pause()
  try {
    return assumeValid(await deps.settle(type, value, slice))
  } catch (error) {
    const fault = findStatusError(error)
    throw internalError(fault?.message ?? (error instanceof Error ? error.message : String(error)), error)
  }
}

/** The patch's own words: what clients see of their own patches hides them. */
function patchFault(error: unknown): string {
  if (error instanceof StatusError && error.cause instanceof Error) return error.cause.message
  return error instanceof Error ? error.message : String(error)
}
