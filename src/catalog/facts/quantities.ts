/**
 * Fields that OpenAPI calls plain strings (or maps or lists of them) and that hold quantities.
 * @see k8s.io/api v0.36: fields of type resource.Quantity and ResourceList
 */
export const quantityFields: Readonly<Record<string, string>> = {
  'io.k8s.api.autoscaling.v2.HPAScalingRules': 'tolerance',
  'io.k8s.api.autoscaling.v2.MetricTarget': 'value averageValue',
  'io.k8s.api.autoscaling.v2.MetricValueStatus': 'value averageValue',
  'io.k8s.api.core.v1.ContainerStatus': 'allocatedResources',
  'io.k8s.api.core.v1.EmptyDirVolumeSource': 'sizeLimit',
  'io.k8s.api.core.v1.LimitRangeItem': 'max min default defaultRequest maxLimitRequestRatio',
  'io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus': 'resources',
  'io.k8s.api.core.v1.NodeStatus': 'capacity allocatable',
  'io.k8s.api.core.v1.PersistentVolumeClaimStatus': 'capacity allocatedResources',
  'io.k8s.api.core.v1.PersistentVolumeSpec': 'capacity',
  'io.k8s.api.core.v1.PodSpec': 'overhead',
  'io.k8s.api.core.v1.PodStatus': 'allocatedResources',
  'io.k8s.api.core.v1.ResourceFieldSelector': 'divisor',
  'io.k8s.api.core.v1.ResourceQuotaSpec': 'hard',
  'io.k8s.api.core.v1.ResourceQuotaStatus': 'hard used',
  'io.k8s.api.core.v1.ResourceRequirements': 'limits requests',
  'io.k8s.api.core.v1.VolumeResourceRequirements': 'limits requests',
  'io.k8s.api.node.v1.Overhead': 'podFixed',
  'io.k8s.api.resource.v1.CapacityRequestPolicy': 'default validValues',
  'io.k8s.api.resource.v1.CapacityRequestPolicyRange': 'min max step',
  'io.k8s.api.resource.v1.CapacityRequirements': 'requests',
  'io.k8s.api.resource.v1.Counter': 'value',
  'io.k8s.api.resource.v1.DeviceCapacity': 'value',
  'io.k8s.api.resource.v1.DeviceRequestAllocationResult': 'consumedCapacity',
  'io.k8s.api.resource.v1.NodeAllocatableResourceMapping': 'allocationMultiplier',
  'io.k8s.api.storage.v1.CSIStorageCapacity': 'capacity maximumVolumeSize',
}
