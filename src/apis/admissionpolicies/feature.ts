/** ValidatingAdmissionPolicy and MutatingAdmissionPolicy. */
import { changesOf } from '../../controller/source.ts'
import type { Feature } from '../../feature/feature.ts'
import { typeFeed } from '../../feature/type-feed.ts'
import { convertObject } from '../../kube/convert-object.ts'
import { namespaceLookup } from '../namespaces/lookup.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import { permissionAsker } from '../reviews/ask-permission.ts'
import { policyAuthors } from './author-rights.ts'
import { policyChecked, policyMetrics, policyMutated } from './metrics.ts'
import { compileMutating, mutatingPolicies } from './mutating.ts'
import { PolicyIndex } from './policy-index.ts'
import { isChecked, policyControllerName, policyReconciler } from './reconcile.ts'
import { bindingResource, mutatingBindingResource, mutatingPolicyResource, policyResource } from './types.ts'
import { compileValidating, validatingPolicies } from './validating.ts'

export const admissionPolicies: Feature = {
  name: 'admissionpolicies',
  controllerRules: {
    // Says in the status of a policy which of its expressions do not fit the types they are about.
    [policyControllerName]: [
      may(read, 'admissionregistration.k8s.io', 'validatingadmissionpolicies'),
      may('patch update', 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'),
      events,
    ],
  },
  open(context) {
    const { authorizer, catalog, clock, diagnostics, evaluator, lister, log, turns, typeOf } = context
    const { types } = catalog
    const indexed = {
      lister,
      types,
      onFault: (name: string, error: unknown) =>
        log.error({ name, error }, 'an admission policy or its binding makes no sense'),
    }
    const mutating = new PolicyIndex({
      ...indexed,
      policyType: typeOf(mutatingPolicyResource),
      bindingType: typeOf(mutatingBindingResource),
      compile: compileMutating,
    })
    const validating = new PolicyIndex({
      ...indexed,
      policyType: typeOf(policyResource),
      bindingType: typeOf(bindingResource),
      compile: compileValidating,
    })
    const deps = {
      clock,
      lister,
      types,
      namespaces: namespaceLookup(context),
      ask: permissionAsker(authorizer),
      evaluator,
      turns,
      convert: async (...conversion: Parameters<typeof convertObject>) => convertObject(...conversion),
    }
    return {
      admission: [
        mutatingPolicies({
          ...deps,
          index: mutating,
          schemaOf: (kind) => catalog.schemaOfKind(kind),
          applyDefaults: (type, object) => catalog.applyDefaults(type, object),
          observe: (mutation) => diagnostics.publish(policyMutated, mutation),
        }),
        validatingPolicies({
          ...deps,
          index: validating,
          observe: (check) => diagnostics.publish(policyChecked, check),
        }),
        policyAuthors({ authorizer, lister, types }),
      ],
      controllers: ({ client }) => [
        {
          name: policyControllerName,
          workers: 1,
          sources: [
            changesOf(typeFeed(lister, typeOf(policyResource))).map((next) =>
              next && !isChecked(next.object) ? { namespace: '', name: next.name } : undefined,
            ),
          ],
          reconciler: policyReconciler(client(policyControllerName), types),
        },
      ],
      metrics: (instruments) => policyMetrics(instruments, diagnostics),
      start() {
        mutating.start()
        validating.start()
      },
    }
  },
}
