/** What the webhooks make of the ends of namespaces: what Borough does itself (`../expiry/`), for other clusters. */
import type { Attributes } from '../../admission/admission.ts'
import type { Authorizer } from '../../authz/authz.ts'
import type { Clock } from '../../base/clock.ts'
import { fieldRequired } from '../../kube/field-error.ts'
import { invalid } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { assumeValid, unvalidated } from '../../kube/unvalidated.ts'
import { type ExpiryDeps, namespaceExpiry, settledExpiry } from '../expiry/admission.ts'
import { expiresAtAnnotation, expirySourceAnnotation } from '../expiry/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type Matcher, selectTemplates } from './match.ts'

export interface NamespaceEnds {
  /** The namespace with the end that its annotations and its templates come to. */
  settle(namespace: KubeObject, old: KubeObject | undefined): KubeObject
  /** @throws StatusError Invalid, Forbidden */
  check(attributes: Attributes): Promise<void>
}

export function namespaceEnds(
  { authorizer, matchers }: { readonly authorizer: Authorizer; matchers(): Iterable<Matcher> },
  clock: Clock,
): NamespaceEnds {
  const ends: ExpiryDeps = {
    clock,
    anyTemplateExpires: () => true,
    templatesOf: (namespace) =>
      selectTemplates(matchers(), namespace).filter(
        // A name that the server is still to make is known to `check` alone.
        ({ spec }) => namespace.metadata.name || spec?.namespaces?.nameSelector === undefined,
      ),
  }
  const settler = settledExpiry(ends)
  const settle: NamespaceEnds['settle'] = (namespace, old) =>
    assumeValid(settler(unvalidated<Namespace>(namespace), old))
  const plugin = namespaceExpiry({ ...ends, authorizer })
  return {
    settle,
    async check(attributes) {
      const { object, oldObject, subresource, type, name } = attributes
      await plugin.validate?.(attributes)
      if (object === undefined) return
      if (oldObject !== undefined) {
        // Nothing is made of a `ttl` here: the next write does it, which may be that of a client who may more.
        if (subresource !== '') await plugin.validate?.({ ...attributes, object: settle(object, oldObject) })
        return
      }
      const ours = settle(object, undefined).metadata.annotations
      if (ours?.[expiresAtAnnotation] === object.metadata.annotations?.[expiresAtAnnotation]) return
      const why =
        `NamespaceTemplate ${JSON.stringify(ours?.[expirySourceAnnotation])} gives namespaces an end, and selects ` +
        'this one by a name that was not known in time: name an end, or the namespace'
      throw invalid(type, name, [fieldRequired(`metadata.annotations[${expiresAtAnnotation}]`, why)])
    },
  }
}
