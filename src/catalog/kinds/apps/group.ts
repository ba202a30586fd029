/** Deployments and their kin. */
import type { BuiltInKinds } from '../kind.ts'
import { controllerRevision } from './controller-revision.ts'
import { daemonSet } from './daemon-set.ts'
import { deployment } from './deployment.ts'
import { replicaSet } from './replica-set.ts'
import { statefulSet } from './stateful-set.ts'

export const appsKinds: BuiltInKinds = {
  'controllerrevisions.apps': controllerRevision,
  'daemonsets.apps': daemonSet,
  'deployments.apps': deployment,
  'replicasets.apps': replicaSet,
  'statefulsets.apps': statefulSet,
}
