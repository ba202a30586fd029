/**
 * Fields that Go holds as structs, not as pointers: they are there even when nothing in them is set. So are the few
 * keyed lists without `omitempty`, as null.
 * @see k8s.io/api v0.36: struct fields that are not pointers; lists without omitempty
 */

/** In every type. */
export const alwaysByValue: ReadonlySet<string> = new Set(['metadata', 'spec', 'status'])

/** Besides those. */
export const byValueFields: Readonly<Record<string, string>> = {
  'io.k8s.api.admissionregistration.v1.MutatingWebhook': 'clientConfig',
  'io.k8s.api.admissionregistration.v1.ValidatingWebhook': 'clientConfig',
  'io.k8s.api.apps.v1.DaemonSetSpec': 'template updateStrategy',
  'io.k8s.api.apps.v1.DeploymentSpec': 'strategy template',
  'io.k8s.api.apps.v1.ReplicaSetSpec': 'template',
  'io.k8s.api.apps.v1.StatefulSetSpec': 'template updateStrategy',
  'io.k8s.api.authentication.v1.SelfSubjectReviewStatus': 'userInfo',
  'io.k8s.api.authentication.v1.TokenReviewStatus': 'user',
  'io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec': 'scaleTargetRef',
  'io.k8s.api.autoscaling.v2.ContainerResourceMetricSource': 'target',
  'io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus': 'current',
  'io.k8s.api.autoscaling.v2.ExternalMetricSource': 'metric target',
  'io.k8s.api.autoscaling.v2.ExternalMetricStatus': 'current metric',
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec': 'scaleTargetRef',
  'io.k8s.api.autoscaling.v2.ObjectMetricSource': 'describedObject metric target',
  'io.k8s.api.autoscaling.v2.ObjectMetricStatus': 'current describedObject metric',
  'io.k8s.api.autoscaling.v2.PodsMetricSource': 'metric target',
  'io.k8s.api.autoscaling.v2.PodsMetricStatus': 'current metric',
  'io.k8s.api.autoscaling.v2.ResourceMetricSource': 'target',
  'io.k8s.api.autoscaling.v2.ResourceMetricStatus': 'current',
  'io.k8s.api.batch.v1.CronJobSpec': 'jobTemplate',
  'io.k8s.api.batch.v1.JobSpec': 'template',
  'io.k8s.api.core.v1.Binding': 'target',
  'io.k8s.api.core.v1.Container': 'resources',
  'io.k8s.api.core.v1.ContainerStatus': 'lastState state',
  'io.k8s.api.core.v1.EphemeralContainer': 'resources',
  'io.k8s.api.core.v1.Event': 'involvedObject source',
  'io.k8s.api.core.v1.NodeDaemonEndpoints': 'kubeletEndpoint',
  'io.k8s.api.core.v1.NodeStatus': 'daemonEndpoints nodeInfo',
  'io.k8s.api.core.v1.PersistentVolumeClaimSpec': 'resources',
  'io.k8s.api.core.v1.PodSpec': 'containers',
  'io.k8s.api.core.v1.PodTemplate': 'template',
  'io.k8s.api.core.v1.PreferredSchedulingTerm': 'preference',
  'io.k8s.api.core.v1.ServiceStatus': 'loadBalancer',
  'io.k8s.api.core.v1.WeightedPodAffinityTerm': 'podAffinityTerm',
  'io.k8s.api.discovery.v1.Endpoint': 'conditions',
  'io.k8s.api.events.v1.Event': 'deprecatedSource regarding',
  'io.k8s.api.flowcontrol.v1.FlowSchemaSpec': 'priorityLevelConfiguration',
  'io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration': 'limitResponse',
  'io.k8s.api.networking.v1.HTTPIngressPath': 'backend',
  'io.k8s.api.networking.v1.IngressServiceBackend': 'port',
  'io.k8s.api.networking.v1.IngressStatus': 'loadBalancer',
  'io.k8s.api.networking.v1.NetworkPolicySpec': 'podSelector',
  'io.k8s.api.rbac.v1.ClusterRoleBinding': 'roleRef',
  'io.k8s.api.rbac.v1.RoleBinding': 'roleRef',
  'io.k8s.api.resource.v1.AllocationResult': 'devices',
  'io.k8s.api.resource.v1.ResourceClaimSpec': 'devices',
  'io.k8s.api.resource.v1.ResourceSliceSpec': 'pool',
  'io.k8s.api.storage.v1.CSINodeSpec': 'drivers',
  'io.k8s.api.storage.v1.VolumeAttachmentSpec': 'source',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec': 'names',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus': 'acceptedNames',
  'io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup': 'preferredVersion',
}

/**
 * Numbers that Go prints even when they are 0, though OpenAPI does not call them required.
 * @see k8s.io/api v0.36: numbers that are neither pointers nor `omitempty`
 */
export const printedZeros: Readonly<Record<string, string>> = {
  'io.k8s.api.apps.v1.StatefulSetOrdinals': 'start',
  'io.k8s.api.apps.v1.StatefulSetStatus': 'availableReplicas',
  'io.k8s.api.flowcontrol.v1.FlowSchemaSpec': 'matchingPrecedence',
  'io.k8s.api.flowcontrol.v1.QueuingConfiguration': 'queues handSize queueLengthLimit',
  'io.k8s.api.policy.v1.PodDisruptionBudgetStatus': 'disruptionsAllowed currentHealthy desiredHealthy expectedPods',
  'io.k8s.api.scheduling.v1.PriorityClass': 'value',
}

/**
 * Text that Go prints even when it is empty, as far as a client may leave it empty. Clients with types insist on it:
 * the Python client reads no Node without an architecture.
 * @see k8s.io/api v0.36: strings that are neither pointers nor `omitempty`
 */
export const printedEmpty: Readonly<Record<string, string>> = {
  'io.k8s.api.core.v1.AttachedVolume': 'devicePath',
  'io.k8s.api.core.v1.ContainerStatus': 'image imageID',
  'io.k8s.api.core.v1.HTTPHeader': 'value',
  'io.k8s.api.core.v1.NodeSystemInfo':
    'architecture bootID containerRuntimeVersion kernelVersion kubeProxyVersion kubeletVersion machineID ' +
    'operatingSystem osImage systemUUID',
  'io.k8s.api.core.v1.Sysctl': 'value',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Condition': 'message reason',
}
