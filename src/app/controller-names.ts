/**
 * Controllers, by the service account each acts as, for the command line, which must not load the features to know
 * them. A test compares them with what the features bring.
 */
export const controllerNames = [
  'namespace-controller',
  'customresourcedefinition-controller',
  'namespace-template-controller',
  'service-account-controller',
  'root-ca-cert-publisher',
  'generic-garbage-collector',
  'clusterrole-aggregation-controller',
  'namespace-initializer-controller',
  'namespace-expiry-controller',
  'pod-garbage-collector',
  'certificate-controller',
  'apiservice-registration-controller',
  'event-ttl-controller',
  'resourcequota-controller',
  'cluster-resource-quota-controller',
  'service-claim-controller',
  'validatingadmissionpolicy-status-controller',
  'mirror-pod-controller',
  'priority-and-fairness-controller',
] as const
