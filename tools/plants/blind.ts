/**
 * Faults chosen from the sources alone, before the tests were read. One that the suites miss shows where tests are
 * missing, not only whether those that were written can fail.
 */
import type { Edit, Plant } from './plants.ts'

const plant = (
  why: string,
  suites: readonly string[],
  file: string,
  find: string,
  replace: string,
  ...also: readonly Edit[]
): Plant => ({ why, suites, file, find, replace, isBlind: true, ...(also.length > 0 ? { also } : {}) })

const rights = [
  'src/authz',
  'src/apis/namespaces',
  'test/namespaces/creators.test.ts',
  'test/namespaces/own-namespaces.test.ts',
  'test/attacks/former-owner.test.ts',
]
const identities = ['src/authn', 'src/apis/reviews', 'test/access/reviews.test.ts', 'test/access/front-proxy.test.ts']
const templates = [
  'src/apis/templates',
  'test/population/templates.test.ts',
  'test/population/rights.test.ts',
  'test/attacks/templates.test.ts',
]

export const blindPlants: readonly Plant[] = [
  plant(
    'an update may exceed a quota',
    ['test/admission/quotas.test.ts'],
    'src/apis/quotas/accountant.ts',
    'if (mustFit(change)) {',
    'if (change.before === undefined) {',
  ),
  plant(
    'an author takes from a template what they may not delete',
    templates,
    'src/apis/templates/author-rights.ts',
    'return [...given, ...taken, ',
    'return [...given, ',
  ),
  plant(
    'a tenant changes the label that names the creator',
    templates,
    'src/apis/templates/creator.ts',
    'const isLabelKept = labels?.[creatorKey] === label',
    'const isLabelKept = true',
  ),
  plant(
    'a namespace stays listed for users whose role no longer reaches it',
    rights,
    'src/authz/namespace-grants.ts',
    'if (keep) this.#keep(binding.namespace, given)\n      else append(losses, given)',
    'this.#keep(binding.namespace, given)',
  ),
  plant(
    'a member of a deleted namespace keeps its rights in the next one of that name',
    rights,
    'src/authz/deleted-namespace-rights.ts',
    'forget(namespace: string): void {\n    this.#terminating.delete(namespace)\n    this.#gone.delete(namespace)',
    'forget(namespace: string): void {\n    this.#terminating.delete(namespace)',
  ),
  plant(
    'a watch goes on into the next namespace of that name',
    rights,
    'src/registry/watch-permits.ts',
    'if (!permit.holds()) watch.abort()',
    'void watch',
  ),
  plant(
    'anonymous callers share the rights of a creator',
    rights,
    'src/apis/namespaces/creator-rights.ts',
    "if ((!isRead && verb !== 'delete') || !user.groups.includes(authenticatedGroup)) return noOpinion",
    "if (!isRead && verb !== 'delete') return noOpinion",
  ),
  plant(
    'a token is bound to a pod of another service account',
    identities,
    'src/apis/reviews/token-request.ts',
    'if (pod && pod.account !== account) {',
    "if (pod && pod.account === '') {",
  ),
  plant(
    'only the first value of each extra is asked about when it is impersonated',
    identities,
    'src/authn/impersonation.ts',
    'for (const name of values) yield',
    'for (const name of values.slice(0, 1)) yield',
  ),
  plant(
    'a front proxy whose certificate has expired is believed',
    identities,
    'src/authn/front-proxy.ts',
    'if (now < proxy.notBeforeMs || now > proxy.notAfterMs) throw unauthorized()',
    'if (now < proxy.notBeforeMs) throw unauthorized()',
  ),
  plant(
    'a match condition that fails spares the object, whatever the failure policy is',
    ['src/apis/webhooks', 'test/admission/webhooks.test.ts'],
    'src/apis/webhooks/call-hook.ts',
    "if (webhook.failurePolicy === 'Ignore') return false\n",
    'return false\n',
  ),
  plant(
    'an update that takes off the label evades the policy that selects by it',
    ['src/apis/admissionpolicies', 'test/admission/admission-policies.test.ts'],
    'src/apis/admissionpolicies/match.ts',
    'return selector.length === 0 || has(object) || has(oldObject)',
    'return selector.length === 0 || has(object)',
  ),
  plant(
    'a conversion webhook gives an object another uid',
    ['src/apis/crds', 'test/kinds/conversion-webhooks.test.ts'],
    'src/apis/crds/conversion-review.ts',
    "    ['uid', 'UID'],\n",
    '',
  ),
  plant(
    'a finalizer is added to an object that is being deleted',
    ['src/kube', 'src/registry'],
    'src/kube/metadata.ts',
    'const added = [...new Set(next.finalizers)].filter((f) => !known.has(f)).sort()',
    'const added = [...new Set(next.finalizers)].filter((f) => !known.has(f) && known.size === 0).sort()',
  ),
  plant(
    'a watch that catches up from the window shows other namespaces',
    ['src/watch', 'src/registry'],
    'src/watch/open-watch.ts',
    "  if (scope.namespace !== '' && version.namespace !== scope.namespace) return false\n",
    '',
  ),
  plant(
    'guards of a worker’s transaction get lost on the way to the process that holds the store',
    ['src/storage/relay', 'test/contract/storage.relay.test.ts', 'test/replicas/workers.test.ts'],
    'src/storage/relay/relay-holder.ts',
    'guards: guards.map(({ key, expect }) => ({ key, expect: this.#expect(expect) })),',
    'guards: guards.slice(0, 0),',
  ),
  plant(
    'deletes that share a commit of etcd have one revision',
    ['src/storage/etcd', 'test/contract/etcd-engine.etcd.test.ts'],
    'src/storage/etcd/prepared-transaction.ts',
    'value === undefined ? [{ rawKey, position: firstPosition + i }] : [],',
    'value === undefined ? [{ rawKey, position: firstPosition }] : [],',
  ),
  plant(
    'a holder of `initialize` takes another initializer from the list than the first',
    ['src/apis/initializers', 'test/population/initializer-rules.test.ts', 'test/population/initializers.test.ts'],
    'src/apis/initializers/admission.ts',
    'const firstRemoved = before.slice(1).join() === after.join()',
    'const firstRemoved = before.length - 1 === after.length',
  ),
  plant(
    'the deletion of a collection disregards preconditions',
    ['src/registry', 'src/http/verbs', 'test/contract/wire.test.ts'],
    'src/registry/delete.ts',
    'if (scope.dryRun || options.preconditions || strategy.removedAlone) return undefined',
    'if (scope.dryRun || strategy.removedAlone) return undefined',
  ),
  plant(
    'an owner is recognized by its name, whatever its uid',
    ['src/apis/garbage-collection', 'test/controllers/garbage-collection.test.ts'],
    'src/apis/garbage-collection/reconcile.ts',
    'return found?.metadata.uid === uid ? found : undefined',
    'return found',
  ),
]
