/**
 * Admission for templates on any cluster, as webhooks:
 *
 *   admit   mutating, namespaces and templates: records the creator, asks for `use` and `optout`, shuts the gate of a
 *           new namespace that templates match; gives a template its finalizer
 *   check   validating, the same once more on what is going to be stored: another webhook may have changed it, and a
 *           name made by the server is known only now; and whether a template makes sense, its author may give what it
 *           holds, and the cluster takes its objects (`dry-run-objects.ts`). Asked about `namespaces/status` and
 *           `/finalize` as well, by way of which labels can be changed too
 *   hold    validating, content of namespaces whose gate is shut: refuses all but who may initialize it
 *   protect validating, objects with the label of a protected one, where the cluster has no policies for it
 *
 * The decisions are those of `admission.ts`. What they ask is asked of the cluster as it is at that moment: a template
 * written a moment ago counts, whichever replica answers.
 */
import type { AdmissionPlugin, Attributes, MutationRound } from '../../admission/admission.ts'
import type { RuleSet } from '../../authz/authz.ts'
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import { nameOf } from '../../kube/metadata.ts'
import { jsonDiff } from '../../kube/patch/json-diff.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { badRequest, forbidden, invalid, tooManyRequests } from '../../kube/status-error.ts'
import type { JsonValue, KubeObject } from '../../kube/types.ts'
import { assumeValid, unvalidated } from '../../kube/unvalidated.ts'
import type { UserInfo } from '../../kube/user.ts'
import { mayInitialize } from '../initializers/admission.ts'
import { isTemplateType, namespaceTemplates } from './admission.ts'
import { type AdmissionRequest, type AdmissionVerdict, refusalIn } from './admission-review.ts'
import { isCaretaker } from './caretakers.ts'
import { dryRunObjects } from './dry-run-objects.ts'
import { selectTemplates } from './match.ts'
import { mayDo } from './may-do.ts'
import { namespaceEnds } from './namespace-ends.ts'
import { isLastStep, isStatusAlone, protectionRefusal } from './protection.ts'
import { remoteAuthorizer } from './remote-authorizer.ts'
import { RemoteLookups } from './remote-lookups.ts'
import { objectsOf } from './template-objects.ts'
import {
  creatorKey,
  metadataHoldersAnnotation,
  type NamespaceTemplate,
  ownerKey,
  pendingLabel,
  protectedByLabel,
} from './types.ts'
import { type World, worldOf } from './webhook-world.ts'

export interface TemplateWebhookDeps {
  readonly client: Client
  readonly clock: Clock
  readonly namespaceType: ResourceType
  readonly templateType: ResourceType
  /** What a user holds in all namespaces. */
  rulesOf(user: UserInfo): Promise<RuleSet>
}

export interface TemplateWebhook {
  admit(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionVerdict>
  check(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionVerdict>
  hold(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionVerdict>
  protect(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionVerdict>
}

/** As the plugin has it that runs in Borough itself; what is sent back is the difference of two trees. */
async function mutate(plugin: AdmissionPlugin, attributes: Attributes): Promise<KubeObject | undefined> {
  const { object } = attributes
  const next = await plugin.mutate?.({ ...attributes, object: object && unvalidated(object) }, onlyRound)
  return next && assumeValid(next)
}

/** API servers ask again by themselves what other webhooks changed. */
const onlyRound: MutationRound = { isSecond: false, askForSecond() {}, memory: (_plugin, make) => make() }

export function templateWebhook(deps: TemplateWebhookDeps): TemplateWebhook {
  return {
    async admit(request, signal) {
      const { object, oldObject } = request
      if (object === undefined) return {}
      return decide(deps, request, signal, async (world, attributes) => {
        const plugin = namespaceTemplates(world.deps)
        const mutated = (await mutate(plugin, attributes)) ?? object
        const admitted = isNamespace(request)
          ? namespaceEnds(world.deps, deps.clock).settle(mutated, oldObject)
          : mutated
        const next = isNamespace(request) ? gate(world, attributes, admitted) : admitted
        // Without a name it is not known what is for it: `check` knows.
        if (isNamespace(request) && attributes.name !== '') await plugin.validate?.({ ...attributes, object: next })
        return jsonDiff(object as unknown as JsonValue, next as unknown as JsonValue)
      })
    },
    async check(request, signal) {
      const { object } = request
      if (object === undefined) return {}
      const verdict = await decide(deps, request, signal, async (world, attributes) => {
        const plugin = namespaceTemplates(world.deps)
        await plugin.validate?.(attributes)
        if (isNamespace(request)) {
          checkCreator(attributes, await mutate(plugin, attributes))
          checkGate(world, attributes)
          await namespaceEnds(world.deps, deps.clock).check(attributes)
        } else warnOfOwnRights(world, attributes)
        return []
      })
      return isTemplateType(request.resource) && verdict.refusal === undefined
        ? tryCreate(deps, request, verdict, signal)
        : verdict
    },
    async protect({
      resource,
      subResource: subresource = '',
      oldObject,
      object,
      operation,
      namespace,
      userInfo: user,
    }) {
      const label = (of: KubeObject | undefined): string | undefined => of?.metadata.labels?.[protectedByLabel]
      const template = label(oldObject) ?? label(object)
      if (template === undefined || isCaretaker(user)) return {}
      if (isLastStep({ operation, object, oldObject }) || isStatusAlone({ subresource, object, oldObject })) return {}
      const lookups = new RemoteLookups()
      const authorizer = remoteAuthorizer(deps, lookups)
      if (await lookups.settle(async () => mayDo(authorizer, user, 'bypass', template))) return {}
      // The request of a deletion of a collection has no name.
      const { kind = '', metadata } = object ?? oldObject ?? { metadata: {} }
      const name = nameOf(metadata)
      const message = protectionRefusal({ user, operation, namespace }, `${kind} ${name}`, template)
      return { refusal: forbidden(resource, name, message).toStatus() }
    },
    async hold({ resource, namespace, userInfo, operation }) {
      // Reviews are asked by way of a create and store nothing.
      if (operation === 'DELETE' || resource.group === 'authorization.k8s.io' || isCaretaker(userInfo)) return {}
      const lookups = new RemoteLookups()
      const authorizer = remoteAuthorizer(deps, lookups)
      if (await lookups.settle(async () => mayInitialize(authorizer, userInfo, namespace))) return {}
      return {
        refusal: tooManyRequests(
          `namespace ${JSON.stringify(namespace)} waits for its templates to be applied; try again in a moment`,
          1,
        ).toStatus(),
      }
    },
  }
}

const isNamespace = ({ resource }: AdmissionRequest): boolean =>
  resource.group === '' && resource.resource === 'namespaces'

async function decide(
  deps: TemplateWebhookDeps,
  request: AdmissionRequest,
  signal: AbortSignal,
  decision: (world: World, attributes: Attributes) => Promise<AdmissionVerdict['patch'] & object>,
): Promise<AdmissionVerdict> {
  if (!isNamespace(request) && !isTemplateType(request.resource))
    throw badRequest(`${request.resource.resource} is none of our business`)
  const world = worldOf(deps)
  let warnings: string[] = []
  try {
    const patch = await world.lookups.settle(() => {
      // A decision on guesses may have warned of what is not so.
      warnings = []
      return decision(
        world,
        attributesOf(deps, request, (text) => warnings.push(text), signal),
      )
    })
    return { patch, warnings }
  } catch (error) {
    return { refusal: refusalIn(error), warnings }
  }
}

/** Last, and only what nothing else is wrong with: our rights are not lent to an author who lacks them. */
async function tryCreate(
  deps: TemplateWebhookDeps,
  { object, oldObject, name }: AdmissionRequest,
  verdict: AdmissionVerdict,
  signal: AbortSignal,
): Promise<AdmissionVerdict> {
  const { errors, warnings } = await dryRunObjects(deps, object as NamespaceTemplate, oldObject, signal)
  const told = { ...verdict, warnings: [...(verdict.warnings ?? []), ...warnings] }
  if (errors.length === 0) return told
  return { ...told, refusal: invalid(deps.templateType, name, errors).toStatus() }
}

function attributesOf(
  { namespaceType, templateType }: TemplateWebhookDeps,
  request: AdmissionRequest,
  warn: (text: string) => void,
  signal: AbortSignal,
): Attributes {
  const { operation, subResource = '', object, oldObject, userInfo: user, dryRun } = request
  const name = request.name || (object?.metadata.name ?? '')
  const type = isNamespace(request) ? namespaceType : templateType
  return {
    operation,
    type,
    subresource: subResource,
    namespace: isNamespace(request) ? name : '',
    name,
    object,
    oldObject,
    user,
    dryRun,
    options: {},
    warn,
    annotate: () => {},
    caller: { signal },
  }
}

/**
 * The namespace with the label of a shut gate where it must wait. Whether it must is not known of one whose name the
 * server is still to make: it waits, and the controller lets it go at once if it need not have.
 */
function gate(world: World, { operation, user, name, oldObject }: Attributes, object: KubeObject): KubeObject {
  const given = object.metadata.labels?.[pendingLabel]
  if (operation === 'CREATE') {
    const waits = name === '' || selectTemplates(world.deps.matchers(), object).length > 0
    return waits ? addLabel(object, 'true') : addLabel(object, undefined)
  }
  const before = oldObject?.metadata.labels?.[pendingLabel]
  if (given === before || world.mayInitialize(user, name)) return object
  return addLabel(object, before)
}

function addLabel(object: KubeObject, pending: string | undefined): KubeObject {
  if (object.metadata.labels?.[pendingLabel] === pending) return object
  const { [pendingLabel]: _, ...labels } = object.metadata.labels ?? {}
  return {
    ...object,
    metadata: { ...object.metadata, labels: pending === undefined ? labels : { ...labels, [pendingLabel]: pending } },
  }
}

const neededVerbs = ['list', 'watch', 'create', 'patch', 'delete'] as const

/** Its author may do it, and we may not: the template is right, and our rights are an administrator's to widen. */
function warnOfOwnRights({ findServed, mayOurselves }: World, { object, warn }: Attributes): void {
  const told = new Set<string>()
  for (const { field, source } of objectsOf(object as NamespaceTemplate)) {
    const served = findServed(String(source['apiVersion']), String(source['kind']))
    const type = `${served?.group}/${served?.resource}`
    if (served === undefined || told.has(type)) continue
    const missing = neededVerbs.filter((verb) => !mayOurselves(verb, served))
    if (missing.length === 0) continue
    told.add(type)
    warn(
      `${field}: the population controller may not ${missing.join(', ')} ${served.resource}, so ` +
        'namespaces wait' +
        ' until it is given the rights that borough populate --print-manifests makes from this template',
    )
  }
}

/**
 * Another mutating webhook after ours may have put in a creator of its own choice, or taken the owner out, and so may
 * a client by way of `/status`, which ours does not change. @throws StatusError Forbidden
 */
function checkCreator({ type, name, object }: Attributes, ours: KubeObject | undefined): void {
  if (ours === undefined) return
  const recorded = ours.metadata.annotations?.[metadataHoldersAnnotation]
  if (object?.metadata.annotations?.[metadataHoldersAnnotation] !== recorded) {
    const what = recorded === undefined ? 'nothing' : recorded
    const message = `annotation ${metadataHoldersAnnotation} says what templates set, and that is ${what}`
    throw forbidden(type, name, message)
  }
  for (const [part, key, what] of settled) {
    const value = ours.metadata[part]?.[key]
    if (object?.metadata[part]?.[key] === value) continue
    // The label leaves out a name that is no legal one.
    const known = ours.metadata.annotations?.[key]
    const message = `${part.slice(0, -1)} ${key} says who ${what} a namespace, and that is ${known ?? 'not known'}`
    throw forbidden(type, name, message)
  }
}

/** What our mutation has the last word on. */
const settled = [
  ['annotations', creatorKey, 'created'],
  ['labels', creatorKey, 'created'],
  ['annotations', ownerKey, 'owns'],
] as const

/**
 * The same of the label that shuts the gate. Of one without a name `admit` may not have been asked: which namespaces
 * are left out is told by a label, which such a client writes as it likes. @throws StatusError Forbidden
 */
function checkGate(world: World, attributes: Attributes): void {
  const { operation, object, type, name } = attributes
  if (object === undefined) return
  const due = gate(world, attributes, object).metadata.labels?.[pendingLabel]
  const is = object.metadata.labels?.[pendingLabel]
  if (due === is) return
  if (operation === 'CREATE') {
    if (due === undefined) return
    const message =
      `label ${pendingLabel} is not as it must be: templates select this namespace, and it waits for them. ` +
      'A namespace with a template is created by metadata.name, and webhooks leave it as it is'
    throw forbidden(type, name, message)
  }
  throw forbidden(
    type,
    name,
    `label ${pendingLabel} is changed by holders of the verb "initialize" on the namespace alone`,
  )
}
