/**
 * The population controller: two loops over one picture of the cluster.
 *
 *   namespaces   key = a namespace: apply and prune there, then open its gate       `population-reconciler.ts`
 *   templates    key = a template: sum up what the first loop found into its
 *                status, keep its revisions; let a deleted one go                   `template-reconciler.ts`
 *
 * A change of a template enqueues the namespaces it selects or has populated; a change of a namespace, or of an object
 * populated in it, enqueues that namespace (`population-state.ts`). Whose turn it is during a rollout says
 * `rollout.ts`.
 */
import type { ControllerSpec } from '../../controller/controller.ts'
import type { PopulationDeps } from './population-deps.ts'
import { PopulationReconciler } from './population-reconciler.ts'
import { PopulationState } from './population-state.ts'
import { TemplateReconciler } from './template-reconciler.ts'
import { templateControllerName } from './types.ts'

const namespaceWorkers = 16
const templateWorkers = 2

export function populationControllers(deps: PopulationDeps): ControllerSpec[] {
  const state = new PopulationState(deps)
  deps.showTemplates?.(() => state.matchers())
  return [
    {
      name: templateControllerName,
      workers: namespaceWorkers,
      sources: [state.watches],
      givesWay: true,
      reconciler: new PopulationReconciler(deps, state),
    },
    {
      name: `${templateControllerName}-status`,
      account: templateControllerName,
      workers: templateWorkers,
      sources: [state.statuses],
      reconciler: new TemplateReconciler(deps, state),
    },
  ]
}
