/**
 * The protobuf shape of every built-in GA kind and of all messages reachable from them. Data only; `message-plans.ts`
 * reads it, one message at a time and only when first used.
 *
 * Condensed from the Go struct tags of k8s.io/api v0.36, k8s.io/apimachinery v0.36, k8s.io/apiextensions-apiserver
 * v0.36 and k8s.io/kube-aggregator v0.36 (Apache-2.0). They say more than the .proto files do: which field is a pointer
 * decides whether Go writes it when empty.
 *
 * One entry per message: `@` marks a kind (it has kind and apiVersion, which travel in the envelope), then its fields
 * in Go order, each `name` `flags` `=number` `:type`:
 *
 *   name    the JSON name; `~` for an inlined struct, whose fields lie in the parent in JSON and in its own message
 *           here
 *   flags   `*` pointer: absent when nil, otherwise always written;  `?` omitempty and `!` omitzero: JSON drops it when
 *           empty
 *   type    nothing = string; `[]T` list; `{}T` map from strings; `strings` = a message {1: repeated string};
 *           a message of the same package by its bare name, of another one as `meta.v1.Condition`
 */
export const messageFacts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'admission.v1': {
    AdmissionRequest:
      'uid=1 kind=2:meta.v1.GroupVersionKind resource=3:meta.v1.GroupVersionResource subResource?=4 ' +
      'requestKind*?=13:meta.v1.GroupVersionKind requestResource*?=14:meta.v1.GroupVersionResource ' +
      'requestSubResource?=15 name?=5 namespace?=6 operation=7 userInfo=8:authentication.v1.UserInfo ' +
      'object?=9:RawJson oldObject?=10:RawJson dryRun*?=11:bool options?=12:RawJson',
    AdmissionResponse:
      'uid=1 allowed=2:bool status*?=3:meta.v1.Status patch?=4:bytes patchType*?=5 ' +
      'auditAnnotations?=6:{}string warnings?=7:[]string',
    AdmissionReview: '@ request*?=1:AdmissionRequest response*?=2:AdmissionResponse',
  },
  'admissionregistration.v1': {
    ApplyConfiguration: 'expression?=1',
    AuditAnnotation: 'key=1 valueExpression=2',
    ExpressionWarning: 'fieldRef=2 warning=3',
    JSONPatch: 'expression?=1',
    MatchCondition: 'name=1 expression=2',
    MatchResources:
      'namespaceSelector*?=1:meta.v1.LabelSelector objectSelector*?=2:meta.v1.LabelSelector ' +
      'resourceRules?=3:[]NamedRuleWithOperations excludeResourceRules?=4:[]NamedRuleWithOperations ' +
      'matchPolicy*?=7',
    MutatingAdmissionPolicy: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:MutatingAdmissionPolicySpec',
    MutatingAdmissionPolicyBinding: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:MutatingAdmissionPolicyBindingSpec',
    MutatingAdmissionPolicyBindingList: '@ metadata?=1:meta.v1.ListMeta items=2:[]MutatingAdmissionPolicyBinding',
    MutatingAdmissionPolicyBindingSpec: 'policyName?=1 paramRef*?=2:ParamRef matchResources*?=3:MatchResources',
    MutatingAdmissionPolicyList: '@ metadata?=1:meta.v1.ListMeta items=2:[]MutatingAdmissionPolicy',
    MutatingAdmissionPolicySpec:
      'paramKind*?=1:ParamKind matchConstraints*?=2:MatchResources variables?=3:[]Variable ' +
      'mutations?=4:[]Mutation failurePolicy*?=5 matchConditions?=6:[]MatchCondition reinvocationPolicy?=7',
    MutatingWebhook:
      'name=1 clientConfig=2:WebhookClientConfig rules?=3:[]RuleWithOperations failurePolicy*?=4 ' +
      'matchPolicy*?=9 namespaceSelector*?=5:meta.v1.LabelSelector objectSelector*?=11:meta.v1.LabelSelector ' +
      'sideEffects*=6 timeoutSeconds*?=7:int32 admissionReviewVersions=8:[]string reinvocationPolicy*?=10 ' +
      'matchConditions?=12:[]MatchCondition',
    MutatingWebhookConfiguration: '@ metadata?=1:meta.v1.ObjectMeta webhooks?=2:[]MutatingWebhook',
    MutatingWebhookConfigurationList: '@ metadata?=1:meta.v1.ListMeta items=2:[]MutatingWebhookConfiguration',
    Mutation: 'patchType=2 applyConfiguration*?=3:ApplyConfiguration jsonPatch*?=4:JSONPatch',
    NamedRuleWithOperations: 'resourceNames?=1:[]string ~=2:RuleWithOperations',
    ParamKind: 'apiVersion?=1 kind?=2',
    ParamRef: 'name?=1 namespace?=2 selector*?=3:meta.v1.LabelSelector parameterNotFoundAction*?=4',
    Rule: 'apiGroups?=1:[]string apiVersions?=2:[]string resources?=3:[]string scope*?=4',
    RuleWithOperations: 'operations?=1:[]string ~=2:Rule',
    ServiceReference: 'namespace=1 name=2 path*?=3 port*?=4:int32',
    TypeChecking: 'expressionWarnings?=1:[]ExpressionWarning',
    ValidatingAdmissionPolicy:
      '@ metadata?=1:meta.v1.ObjectMeta spec?=2:ValidatingAdmissionPolicySpec ' +
      'status?=3:ValidatingAdmissionPolicyStatus',
    ValidatingAdmissionPolicyBinding: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:ValidatingAdmissionPolicyBindingSpec',
    ValidatingAdmissionPolicyBindingList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ValidatingAdmissionPolicyBinding',
    ValidatingAdmissionPolicyBindingSpec:
      'policyName?=1 paramRef*?=2:ParamRef matchResources*?=3:MatchResources validationActions?=4:[]string',
    ValidatingAdmissionPolicyList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ValidatingAdmissionPolicy',
    ValidatingAdmissionPolicySpec:
      'paramKind*?=1:ParamKind matchConstraints*?=2:MatchResources validations?=3:[]Validation ' +
      'failurePolicy*?=4 auditAnnotations?=5:[]AuditAnnotation matchConditions?=6:[]MatchCondition ' +
      'variables?=7:[]Variable',
    ValidatingAdmissionPolicyStatus:
      'observedGeneration?=1:int64 typeChecking*?=2:TypeChecking conditions?=3:[]meta.v1.Condition',
    ValidatingWebhook:
      'name=1 clientConfig=2:WebhookClientConfig rules?=3:[]RuleWithOperations failurePolicy*?=4 ' +
      'matchPolicy*?=9 namespaceSelector*?=5:meta.v1.LabelSelector objectSelector*?=10:meta.v1.LabelSelector ' +
      'sideEffects*=6 timeoutSeconds*?=7:int32 admissionReviewVersions=8:[]string ' +
      'matchConditions?=11:[]MatchCondition',
    ValidatingWebhookConfiguration: '@ metadata?=1:meta.v1.ObjectMeta webhooks?=2:[]ValidatingWebhook',
    ValidatingWebhookConfigurationList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ValidatingWebhookConfiguration',
    Validation: 'expression=1 message?=2 reason*?=3 messageExpression?=4',
    Variable: 'name=1 expression=2',
    WebhookClientConfig: 'url*?=3 service*?=1:ServiceReference caBundle?=2:bytes',
  },
  'apidiscovery.v2': {
    APIGroupDiscovery: '@ metadata?=1:meta.v1.ObjectMeta versions?=2:[]APIVersionDiscovery',
    APIGroupDiscoveryList: '@ metadata?=1:meta.v1.ListMeta items=2:[]APIGroupDiscovery',
    APIResourceDiscovery:
      'resource=1 responseKind*?=2:meta.v1.GroupVersionKind scope=3 singularResource=4 verbs=5:[]string ' +
      'shortNames?=6:[]string categories?=7:[]string subresources?=8:[]APISubresourceDiscovery',
    APISubresourceDiscovery:
      'subresource=1 responseKind*?=2:meta.v1.GroupVersionKind acceptedTypes?=3:[]meta.v1.GroupVersionKind ' +
      'verbs=4:[]string',
    APIVersionDiscovery: 'version=1 resources?=2:[]APIResourceDiscovery freshness?=3',
  },
  'apiextensions.v1': {
    CustomResourceColumnDefinition: 'name=1 type=2 format?=3 description?=4 priority?=5:int32 jsonPath=6',
    CustomResourceConversion: 'strategy=1 webhook*?=2:WebhookConversion',
    CustomResourceDefinition:
      '@ metadata?=1:meta.v1.ObjectMeta spec=2:CustomResourceDefinitionSpec status?=3:CustomResourceDefinitionStatus',
    CustomResourceDefinitionCondition:
      'type=1 status=2 lastTransitionTime?=3:Time reason?=4 message?=5 observedGeneration?=6:int64',
    CustomResourceDefinitionList: '@ metadata?=1:meta.v1.ListMeta items=2:[]CustomResourceDefinition',
    CustomResourceDefinitionNames:
      'plural=1 singular?=2 shortNames?=3:[]string kind=4 listKind?=5 categories?=6:[]string',
    CustomResourceDefinitionSpec:
      'group=1 names=3:CustomResourceDefinitionNames scope=4 versions=7:[]CustomResourceDefinitionVersion ' +
      'conversion*?=9:CustomResourceConversion preserveUnknownFields?=10:bool',
    CustomResourceDefinitionStatus:
      'conditions=1:[]CustomResourceDefinitionCondition acceptedNames=2:CustomResourceDefinitionNames ' +
      'storedVersions=3:[]string observedGeneration?=4:int64',
    CustomResourceDefinitionVersion:
      'name=1 served=2:bool storage=3:bool deprecated?=7:bool deprecationWarning*?=8 ' +
      'schema*?=4:CustomResourceValidation subresources*?=5:CustomResourceSubresources ' +
      'additionalPrinterColumns?=6:[]CustomResourceColumnDefinition selectableFields?=9:[]SelectableField',
    CustomResourceSubresourceScale: 'specReplicasPath=1 statusReplicasPath=2 labelSelectorPath*?=3',
    CustomResourceSubresourceStatus: '',
    CustomResourceSubresources: 'status*?=1:CustomResourceSubresourceStatus scale*?=2:CustomResourceSubresourceScale',
    CustomResourceValidation: 'openAPIV3Schema*?=1:JSONSchemaProps',
    ExternalDocumentation: 'description?=1 url?=2',
    JSONSchemaProps:
      'id?=1 $schema?=2 $ref*?=3 description?=4 type?=5 format?=6 title?=7 default*?=8:RawJson ' +
      'maximum*?=9:double exclusiveMaximum?=10:bool minimum*?=11:double exclusiveMinimum?=12:bool ' +
      'maxLength*?=13:int64 minLength*?=14:int64 pattern?=15 maxItems*?=16:int64 minItems*?=17:int64 ' +
      'uniqueItems?=18:bool multipleOf*?=19:double enum?=20:[]RawJson maxProperties*?=21:int64 ' +
      'minProperties*?=22:int64 required?=23:[]string items*?=24:SchemaOrArray allOf?=25:[]JSONSchemaProps ' +
      'oneOf?=26:[]JSONSchemaProps anyOf?=27:[]JSONSchemaProps not*?=28:JSONSchemaProps ' +
      'properties?=29:{}JSONSchemaProps additionalProperties*?=30:SchemaOrBool ' +
      'patternProperties?=31:{}JSONSchemaProps dependencies?=32:{}SchemaOrStrings ' +
      'additionalItems*?=33:SchemaOrBool definitions?=34:{}JSONSchemaProps ' +
      'externalDocs*?=35:ExternalDocumentation example*?=36:RawJson nullable?=37:bool ' +
      'x-kubernetes-preserve-unknown-fields*?=38:bool x-kubernetes-embedded-resource?=39:bool ' +
      'x-kubernetes-int-or-string?=40:bool x-kubernetes-list-map-keys?=41:[]string ' +
      'x-kubernetes-list-type*?=42 x-kubernetes-map-type*?=43 x-kubernetes-validations?=44:[]ValidationRule',
    SelectableField: 'jsonPath=1',
    ServiceReference: 'namespace=1 name=2 path*?=3 port*?=4:int32',
    ValidationRule: 'rule=1 message?=2 messageExpression?=3 reason*?=4 fieldPath?=5 optionalOldSelf*?=6:bool',
    WebhookClientConfig: 'url*?=3 service*?=1:ServiceReference caBundle?=2:bytes',
    WebhookConversion: 'clientConfig*?=2:WebhookClientConfig conversionReviewVersions=3:[]string',
  },
  'apiregistration.v1': {
    APIService: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:APIServiceSpec status?=3:APIServiceStatus',
    APIServiceCondition: 'type=1 status=2 lastTransitionTime?=3:Time reason?=4 message?=5',
    APIServiceList: '@ metadata?=1:meta.v1.ListMeta items=2:[]APIService',
    APIServiceSpec:
      'service*?=1:ServiceReference group?=2 version?=3 insecureSkipTLSVerify?=4:bool caBundle?=5:bytes ' +
      'groupPriorityMinimum=7:int32 versionPriority=8:int32',
    APIServiceStatus: 'conditions?=1:[]APIServiceCondition',
    ServiceReference: 'namespace?=1 name?=2 port*?=3:int32',
  },
  'apps.v1': {
    ControllerRevision: '@ metadata?=1:meta.v1.ObjectMeta data?=2:RawJson revision=3:int64',
    ControllerRevisionList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ControllerRevision',
    DaemonSet: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:DaemonSetSpec status?=3:DaemonSetStatus',
    DaemonSetCondition: 'type=1 status=2 lastTransitionTime?=3:Time reason?=4 message?=5',
    DaemonSetList: '@ metadata?=1:meta.v1.ListMeta items=2:[]DaemonSet',
    DaemonSetSpec:
      'selector*=1:meta.v1.LabelSelector template=2:core.v1.PodTemplateSpec ' +
      'updateStrategy?=3:DaemonSetUpdateStrategy minReadySeconds?=4:int32 revisionHistoryLimit*?=6:int32',
    DaemonSetStatus:
      'currentNumberScheduled=1:int32 numberMisscheduled=2:int32 desiredNumberScheduled=3:int32 ' +
      'numberReady=4:int32 observedGeneration?=5:int64 updatedNumberScheduled?=6:int32 ' +
      'numberAvailable?=7:int32 numberUnavailable?=8:int32 collisionCount*?=9:int32 ' +
      'conditions?=10:[]DaemonSetCondition',
    DaemonSetUpdateStrategy: 'type?=1 rollingUpdate*?=2:RollingUpdateDaemonSet',
    Deployment: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:DeploymentSpec status?=3:DeploymentStatus',
    DeploymentCondition: 'type=1 status=2 lastUpdateTime?=6:Time lastTransitionTime?=7:Time reason?=4 message?=5',
    DeploymentList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Deployment',
    DeploymentSpec:
      'replicas*?=1:int32 selector*=2:meta.v1.LabelSelector template=3:core.v1.PodTemplateSpec ' +
      'strategy?=4:DeploymentStrategy minReadySeconds?=5:int32 revisionHistoryLimit*?=6:int32 paused?=7:bool ' +
      'progressDeadlineSeconds*?=9:int32',
    DeploymentStatus:
      'observedGeneration?=1:int64 replicas?=2:int32 updatedReplicas?=3:int32 readyReplicas?=7:int32 ' +
      'availableReplicas?=4:int32 unavailableReplicas?=5:int32 terminatingReplicas*?=9:int32 ' +
      'conditions?=6:[]DeploymentCondition collisionCount*?=8:int32',
    DeploymentStrategy: 'type?=1 rollingUpdate*?=2:RollingUpdateDeployment',
    ReplicaSet: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:ReplicaSetSpec status?=3:ReplicaSetStatus',
    ReplicaSetCondition: 'type=1 status=2 lastTransitionTime?=3:Time reason?=4 message?=5',
    ReplicaSetList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ReplicaSet',
    ReplicaSetSpec:
      'replicas*?=1:int32 minReadySeconds?=4:int32 selector*=2:meta.v1.LabelSelector ' +
      'template?=3:core.v1.PodTemplateSpec',
    ReplicaSetStatus:
      'replicas=1:int32 fullyLabeledReplicas?=2:int32 readyReplicas?=4:int32 availableReplicas?=5:int32 ' +
      'terminatingReplicas*?=7:int32 observedGeneration?=3:int64 conditions?=6:[]ReplicaSetCondition',
    RollingUpdateDaemonSet: 'maxUnavailable*?=1:IntOrString maxSurge*?=2:IntOrString',
    RollingUpdateDeployment: 'maxUnavailable*?=1:IntOrString maxSurge*?=2:IntOrString',
    RollingUpdateStatefulSetStrategy: 'partition*?=1:int32 maxUnavailable*?=2:IntOrString',
    StatefulSet: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:StatefulSetSpec status?=3:StatefulSetStatus',
    StatefulSetCondition: 'type=1 status=2 lastTransitionTime?=3:Time reason?=4 message?=5',
    StatefulSetList: '@ metadata?=1:meta.v1.ListMeta items=2:[]StatefulSet',
    StatefulSetOrdinals: 'start=1:int32',
    StatefulSetPersistentVolumeClaimRetentionPolicy: 'whenDeleted?=1 whenScaled?=2',
    StatefulSetSpec:
      'replicas*?=1:int32 selector*=2:meta.v1.LabelSelector template=3:core.v1.PodTemplateSpec ' +
      'volumeClaimTemplates?=4:[]core.v1.PersistentVolumeClaim serviceName=5 podManagementPolicy?=6 ' +
      'updateStrategy?=7:StatefulSetUpdateStrategy revisionHistoryLimit*?=8:int32 minReadySeconds?=9:int32 ' +
      'persistentVolumeClaimRetentionPolicy*?=10:StatefulSetPersistentVolumeClaimRetentionPolicy ' +
      'ordinals*?=11:StatefulSetOrdinals',
    StatefulSetStatus:
      'observedGeneration?=1:int64 replicas=2:int32 readyReplicas?=3:int32 currentReplicas?=4:int32 ' +
      'updatedReplicas?=5:int32 currentRevision?=6 updateRevision?=7 collisionCount*?=9:int32 ' +
      'conditions?=10:[]StatefulSetCondition availableReplicas=11:int32',
    StatefulSetUpdateStrategy: 'type?=1 rollingUpdate*?=2:RollingUpdateStatefulSetStrategy',
  },
  'authentication.v1': {
    BoundObjectReference: 'kind?=1 apiVersion?=2 name?=3 uid?=4',
    SelfSubjectReview: '@ metadata?=1:meta.v1.ObjectMeta status?=2:SelfSubjectReviewStatus',
    SelfSubjectReviewStatus: 'userInfo?=1:UserInfo',
    TokenRequest: '@ metadata?=1:meta.v1.ObjectMeta spec=2:TokenRequestSpec status?=3:TokenRequestStatus',
    TokenRequestSpec: 'audiences=1:[]string expirationSeconds*=4:int64 boundObjectRef*=3:BoundObjectReference',
    TokenRequestStatus: 'token=1 expirationTimestamp=2:Time',
    TokenReview: '@ metadata?=1:meta.v1.ObjectMeta spec=2:TokenReviewSpec status?=3:TokenReviewStatus',
    TokenReviewSpec: 'token?=1 audiences?=2:[]string',
    TokenReviewStatus: 'authenticated?=1:bool user?=2:UserInfo audiences?=4:[]string error?=3',
    UserInfo: 'username?=1 uid?=2 groups?=3:[]string extra?=4:{}strings',
  },
  'authorization.v1': {
    FieldSelectorAttributes: 'rawSelector?=1 requirements?=2:[]meta.v1.FieldSelectorRequirement',
    LabelSelectorAttributes: 'rawSelector?=1 requirements?=2:[]meta.v1.LabelSelectorRequirement',
    LocalSubjectAccessReview:
      '@ metadata?=1:meta.v1.ObjectMeta spec=2:SubjectAccessReviewSpec status?=3:SubjectAccessReviewStatus',
    NonResourceAttributes: 'path?=1 verb?=2',
    NonResourceRule: 'verbs=1:[]string nonResourceURLs?=2:[]string',
    ResourceAttributes:
      'namespace?=1 verb?=2 group?=3 version?=4 resource?=5 subresource?=6 name?=7 ' +
      'fieldSelector*?=8:FieldSelectorAttributes labelSelector*?=9:LabelSelectorAttributes',
    ResourceRule: 'verbs=1:[]string apiGroups?=2:[]string resources?=3:[]string resourceNames?=4:[]string',
    SelfSubjectAccessReview:
      '@ metadata?=1:meta.v1.ObjectMeta spec=2:SelfSubjectAccessReviewSpec status?=3:SubjectAccessReviewStatus',
    SelfSubjectAccessReviewSpec:
      'resourceAttributes*?=1:ResourceAttributes nonResourceAttributes*?=2:NonResourceAttributes',
    SelfSubjectRulesReview:
      '@ metadata?=1:meta.v1.ObjectMeta spec=2:SelfSubjectRulesReviewSpec status?=3:SubjectRulesReviewStatus',
    SelfSubjectRulesReviewSpec: 'namespace?=1',
    SubjectAccessReview:
      '@ metadata?=1:meta.v1.ObjectMeta spec=2:SubjectAccessReviewSpec status?=3:SubjectAccessReviewStatus',
    SubjectAccessReviewSpec:
      'resourceAttributes*?=1:ResourceAttributes nonResourceAttributes*?=2:NonResourceAttributes user?=3 ' +
      'groups?=4:[]string extra?=5:{}strings uid?=6',
    SubjectAccessReviewStatus: 'allowed=1:bool denied?=4:bool reason?=2 evaluationError?=3',
    SubjectRulesReviewStatus:
      'resourceRules=1:[]ResourceRule nonResourceRules=2:[]NonResourceRule incomplete=3:bool evaluationError?=4',
  },
  'autoscaling.v1': {
    CrossVersionObjectReference: 'kind=1 name=2 apiVersion?=3',
    HorizontalPodAutoscaler:
      '@ metadata?=1:meta.v1.ObjectMeta spec?=2:HorizontalPodAutoscalerSpec status?=3:HorizontalPodAutoscalerStatus',
    HorizontalPodAutoscalerList: '@ metadata?=1:meta.v1.ListMeta items=2:[]HorizontalPodAutoscaler',
    HorizontalPodAutoscalerSpec:
      'scaleTargetRef=1:CrossVersionObjectReference minReplicas*?=2:int32 maxReplicas=3:int32 ' +
      'targetCPUUtilizationPercentage*?=4:int32',
    HorizontalPodAutoscalerStatus:
      'observedGeneration*?=1:int64 lastScaleTime*?=2:Time currentReplicas=3:int32 desiredReplicas=4:int32 ' +
      'currentCPUUtilizationPercentage*?=5:int32',
    Scale: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:ScaleSpec status?=3:ScaleStatus',
    ScaleSpec: 'replicas?=1:int32',
    ScaleStatus: 'replicas=1:int32 selector?=2',
  },
  'autoscaling.v2': {
    ContainerResourceMetricSource: 'name=1 target=2:MetricTarget container=3',
    ContainerResourceMetricStatus: 'name=1 current=2:MetricValueStatus container=3',
    CrossVersionObjectReference: 'kind=1 name=2 apiVersion?=3',
    ExternalMetricSource: 'metric=1:MetricIdentifier target=2:MetricTarget',
    ExternalMetricStatus: 'metric=1:MetricIdentifier current=2:MetricValueStatus',
    HPAScalingPolicy: 'type=1 value=2:int32 periodSeconds=3:int32',
    HPAScalingRules:
      'stabilizationWindowSeconds*?=3:int32 selectPolicy*?=1 policies?=2:[]HPAScalingPolicy tolerance*?=4:Quantity',
    HorizontalPodAutoscaler:
      '@ metadata?=1:meta.v1.ObjectMeta spec?=2:HorizontalPodAutoscalerSpec status?=3:HorizontalPodAutoscalerStatus',
    HorizontalPodAutoscalerBehavior: 'scaleUp*?=1:HPAScalingRules scaleDown*?=2:HPAScalingRules',
    HorizontalPodAutoscalerCondition: 'type=1 status=2 lastTransitionTime?=3:Time reason?=4 message?=5',
    HorizontalPodAutoscalerList: '@ metadata?=1:meta.v1.ListMeta items=2:[]HorizontalPodAutoscaler',
    HorizontalPodAutoscalerSpec:
      'scaleTargetRef=1:CrossVersionObjectReference minReplicas*?=2:int32 maxReplicas=3:int32 ' +
      'metrics?=4:[]MetricSpec behavior*?=5:HorizontalPodAutoscalerBehavior',
    HorizontalPodAutoscalerStatus:
      'observedGeneration*?=1:int64 lastScaleTime*?=2:Time currentReplicas?=3:int32 desiredReplicas=4:int32 ' +
      'currentMetrics=5:[]MetricStatus conditions?=6:[]HorizontalPodAutoscalerCondition',
    MetricIdentifier: 'name=1 selector*?=2:meta.v1.LabelSelector',
    MetricSpec:
      'type=1 object*?=2:ObjectMetricSource pods*?=3:PodsMetricSource resource*?=4:ResourceMetricSource ' +
      'containerResource*?=7:ContainerResourceMetricSource external*?=5:ExternalMetricSource',
    MetricStatus:
      'type=1 object*?=2:ObjectMetricStatus pods*?=3:PodsMetricStatus resource*?=4:ResourceMetricStatus ' +
      'containerResource*?=7:ContainerResourceMetricStatus external*?=5:ExternalMetricStatus',
    MetricTarget: 'type=1 value*?=2:Quantity averageValue*?=3:Quantity averageUtilization*?=4:int32',
    MetricValueStatus: 'value*?=1:Quantity averageValue*?=2:Quantity averageUtilization*?=3:int32',
    ObjectMetricSource: 'describedObject=1:CrossVersionObjectReference target=2:MetricTarget metric=3:MetricIdentifier',
    ObjectMetricStatus:
      'metric=1:MetricIdentifier current=2:MetricValueStatus describedObject=3:CrossVersionObjectReference',
    PodsMetricSource: 'metric=1:MetricIdentifier target=2:MetricTarget',
    PodsMetricStatus: 'metric=1:MetricIdentifier current=2:MetricValueStatus',
    ResourceMetricSource: 'name=1 target=2:MetricTarget',
    ResourceMetricStatus: 'name=1 current=2:MetricValueStatus',
  },
  'batch.v1': {
    CronJob: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:CronJobSpec status?=3:CronJobStatus',
    CronJobList: '@ metadata?=1:meta.v1.ListMeta items=2:[]CronJob',
    CronJobSpec:
      'schedule=1 timeZone*?=8 startingDeadlineSeconds*?=2:int64 concurrencyPolicy?=3 suspend*?=4:bool ' +
      'jobTemplate=5:JobTemplateSpec successfulJobsHistoryLimit*?=6:int32 failedJobsHistoryLimit*?=7:int32',
    CronJobStatus: 'active?=1:[]core.v1.ObjectReference lastScheduleTime*?=4:Time lastSuccessfulTime*?=5:Time',
    Job: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:JobSpec status?=3:JobStatus',
    JobCondition: 'type=1 status=2 lastProbeTime?=3:Time lastTransitionTime?=4:Time reason?=5 message?=6',
    JobList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Job',
    JobSpec:
      'parallelism*?=1:int32 completions*?=2:int32 activeDeadlineSeconds*?=3:int64 ' +
      'podFailurePolicy*?=11:PodFailurePolicy successPolicy*?=16:SuccessPolicy backoffLimit*?=7:int32 ' +
      'backoffLimitPerIndex*?=12:int32 maxFailedIndexes*?=13:int32 selector*?=4:meta.v1.LabelSelector ' +
      'manualSelector*?=5:bool template=6:core.v1.PodTemplateSpec ttlSecondsAfterFinished*?=8:int32 ' +
      'completionMode*?=9 suspend*?=10:bool podReplacementPolicy*?=14 managedBy*?=15',
    JobStatus:
      'conditions?=1:[]JobCondition startTime*?=2:Time completionTime*?=3:Time active?=4:int32 ' +
      'succeeded?=5:int32 failed?=6:int32 terminating*?=11:int32 completedIndexes?=7 failedIndexes*?=10 ' +
      'uncountedTerminatedPods*?=8:UncountedTerminatedPods ready*?=9:int32',
    JobTemplateSpec: 'metadata?=1:meta.v1.ObjectMeta spec?=2:JobSpec',
    PodFailurePolicy: 'rules=1:[]PodFailurePolicyRule',
    PodFailurePolicyOnExitCodesRequirement: 'containerName*?=1 operator=2 values=3:[]int32',
    PodFailurePolicyOnPodConditionsPattern: 'type=1 status=2',
    PodFailurePolicyRule:
      'action=1 onExitCodes*?=2:PodFailurePolicyOnExitCodesRequirement ' +
      'onPodConditions?=3:[]PodFailurePolicyOnPodConditionsPattern',
    SuccessPolicy: 'rules=1:[]SuccessPolicyRule',
    SuccessPolicyRule: 'succeededIndexes*?=1 succeededCount*?=2:int32',
    UncountedTerminatedPods: 'succeeded?=1:[]string failed?=2:[]string',
  },
  'certificates.v1': {
    CertificateSigningRequest:
      '@ metadata?=1:meta.v1.ObjectMeta spec=2:CertificateSigningRequestSpec status?=3:CertificateSigningRequestStatus',
    CertificateSigningRequestCondition:
      'type=1 status=6 reason?=2 message?=3 lastUpdateTime?=4:Time lastTransitionTime?=5:Time',
    CertificateSigningRequestList: '@ metadata?=1:meta.v1.ListMeta items=2:[]CertificateSigningRequest',
    CertificateSigningRequestSpec:
      'request=1:bytes signerName=7 expirationSeconds*?=8:int32 usages?=5:[]string username?=2 uid?=3 ' +
      'groups?=4:[]string extra?=6:{}strings',
    CertificateSigningRequestStatus: 'conditions?=1:[]CertificateSigningRequestCondition certificate?=2:bytes',
  },
  'coordination.v1': {
    Lease: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:LeaseSpec',
    LeaseList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Lease',
    LeaseSpec:
      'holderIdentity*?=1 leaseDurationSeconds*?=2:int32 acquireTime*?=3:MicroTime renewTime*?=4:MicroTime ' +
      'leaseTransitions*?=5:int32 strategy*?=6 preferredHolder*?=7',
  },
  'core.v1': {
    AWSElasticBlockStoreVolumeSource: 'volumeID=1 fsType?=2 partition?=3:int32 readOnly?=4:bool',
    Affinity: 'nodeAffinity*?=1:NodeAffinity podAffinity*?=2:PodAffinity podAntiAffinity*?=3:PodAntiAffinity',
    AppArmorProfile: 'type=1 localhostProfile*?=2',
    AttachedVolume: 'name=1 devicePath=2',
    AzureDiskVolumeSource: 'diskName=1 diskURI=2 cachingMode*?=3 fsType*?=4 readOnly*?=5:bool kind*?=6',
    AzureFilePersistentVolumeSource: 'secretName=1 shareName=2 readOnly?=3:bool secretNamespace*=4',
    AzureFileVolumeSource: 'secretName=1 shareName=2 readOnly?=3:bool',
    Binding: '@ metadata?=1:meta.v1.ObjectMeta target=2:ObjectReference',
    CSIPersistentVolumeSource:
      'driver=1 volumeHandle=2 readOnly?=3:bool fsType?=4 volumeAttributes?=5:{}string ' +
      'controllerPublishSecretRef*?=6:SecretReference nodeStageSecretRef*?=7:SecretReference ' +
      'nodePublishSecretRef*?=8:SecretReference controllerExpandSecretRef*?=9:SecretReference ' +
      'nodeExpandSecretRef*?=10:SecretReference',
    CSIVolumeSource:
      'driver=1 readOnly*?=2:bool fsType*?=3 volumeAttributes?=4:{}string ' +
      'nodePublishSecretRef*?=5:LocalObjectReference',
    Capabilities: 'add?=1:[]string drop?=2:[]string',
    CephFSPersistentVolumeSource:
      'monitors=1:[]string path?=2 user?=3 secretFile?=4 secretRef*?=5:SecretReference readOnly?=6:bool',
    CephFSVolumeSource:
      'monitors=1:[]string path?=2 user?=3 secretFile?=4 secretRef*?=5:LocalObjectReference readOnly?=6:bool',
    CinderPersistentVolumeSource: 'volumeID=1 fsType?=2 readOnly?=3:bool secretRef*?=4:SecretReference',
    CinderVolumeSource: 'volumeID=1 fsType?=2 readOnly?=3:bool secretRef*?=4:LocalObjectReference',
    ClientIPConfig: 'timeoutSeconds*?=1:int32',
    ClusterTrustBundleProjection:
      'name*?=1 signerName*?=2 labelSelector*?=3:meta.v1.LabelSelector optional*?=5:bool path=4',
    ComponentCondition: 'type=1 status=2 message?=3 error?=4',
    ComponentStatus: '@ metadata?=1:meta.v1.ObjectMeta conditions?=2:[]ComponentCondition',
    ComponentStatusList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ComponentStatus',
    ConfigMap: '@ metadata?=1:meta.v1.ObjectMeta immutable*?=4:bool data?=2:{}string binaryData?=3:{}bytes',
    ConfigMapEnvSource: '~=1:LocalObjectReference optional*?=2:bool',
    ConfigMapKeySelector: '~=1:LocalObjectReference key=2 optional*?=3:bool',
    ConfigMapList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ConfigMap',
    ConfigMapNodeConfigSource: 'namespace=1 name=2 uid?=3 resourceVersion?=4 kubeletConfigKey=5',
    ConfigMapProjection: '~=1:LocalObjectReference items?=2:[]KeyToPath optional*?=4:bool',
    ConfigMapVolumeSource: '~=1:LocalObjectReference items?=2:[]KeyToPath defaultMode*?=3:int32 optional*?=4:bool',
    Container:
      'name=1 image?=2 command?=3:[]string args?=4:[]string workingDir?=5 ports?=6:[]ContainerPort ' +
      'envFrom?=19:[]EnvFromSource env?=7:[]EnvVar resources?=8:ResourceRequirements ' +
      'resizePolicy?=23:[]ContainerResizePolicy restartPolicy*?=24 ' +
      'restartPolicyRules?=25:[]ContainerRestartRule volumeMounts?=9:[]VolumeMount ' +
      'volumeDevices?=21:[]VolumeDevice livenessProbe*?=10:Probe readinessProbe*?=11:Probe ' +
      'startupProbe*?=22:Probe lifecycle*?=12:Lifecycle terminationMessagePath?=13 ' +
      'terminationMessagePolicy?=20 imagePullPolicy?=14 securityContext*?=15:SecurityContext stdin?=16:bool ' +
      'stdinOnce?=17:bool tty?=18:bool',
    ContainerExtendedResourceRequest: 'containerName=1 resourceName=2 requestName=3',
    ContainerImage: 'names=1:[]string sizeBytes?=2:int64',
    ContainerPort: 'name?=1 hostPort?=2:int32 containerPort=3:int32 protocol?=4 hostIP?=5',
    ContainerResizePolicy: 'resourceName=1 restartPolicy=2',
    ContainerRestartRule: 'action?=1 exitCodes*?=2:ContainerRestartRuleOnExitCodes',
    ContainerRestartRuleOnExitCodes: 'operator?=1 values?=2:[]int32',
    ContainerState:
      'waiting*?=1:ContainerStateWaiting running*?=2:ContainerStateRunning terminated*?=3:ContainerStateTerminated',
    ContainerStateRunning: 'startedAt?=1:Time',
    ContainerStateTerminated:
      'exitCode=1:int32 signal?=2:int32 reason?=3 message?=4 startedAt?=5:Time finishedAt?=6:Time containerID?=7',
    ContainerStateWaiting: 'reason?=1 message?=2',
    ContainerStatus:
      'name=1 state?=2:ContainerState lastState?=3:ContainerState ready=4:bool restartCount=5:int32 image=6 ' +
      'imageID=7 containerID?=8 started*?=9:bool allocatedResources?=10:{}Quantity ' +
      'resources*?=11:ResourceRequirements volumeMounts?=12:[]VolumeMountStatus user*?=13:ContainerUser ' +
      'allocatedResourcesStatus?=14:[]ResourceStatus stopSignal*?=15',
    ContainerUser: 'linux*?=1:LinuxContainerUser',
    DaemonEndpoint: 'Port=1:int32',
    DownwardAPIProjection: 'items?=1:[]DownwardAPIVolumeFile',
    DownwardAPIVolumeFile:
      'path=1 fieldRef*?=2:ObjectFieldSelector resourceFieldRef*?=3:ResourceFieldSelector mode*?=4:int32',
    DownwardAPIVolumeSource: 'items?=1:[]DownwardAPIVolumeFile defaultMode*?=2:int32',
    EmptyDirVolumeSource: 'medium?=1 sizeLimit*?=2:Quantity',
    EndpointAddress: 'ip=1 hostname?=3 nodeName*?=4 targetRef*?=2:ObjectReference',
    EndpointPort: 'name?=1 port=2:int32 protocol?=3 appProtocol*?=4',
    EndpointSubset: 'addresses?=1:[]EndpointAddress notReadyAddresses?=2:[]EndpointAddress ports?=3:[]EndpointPort',
    Endpoints: '@ metadata?=1:meta.v1.ObjectMeta subsets?=2:[]EndpointSubset',
    EndpointsList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Endpoints',
    EnvFromSource: 'prefix?=1 configMapRef*?=2:ConfigMapEnvSource secretRef*?=3:SecretEnvSource',
    EnvVar: 'name=1 value?=2 valueFrom*?=3:EnvVarSource',
    EnvVarSource:
      'fieldRef*?=1:ObjectFieldSelector resourceFieldRef*?=2:ResourceFieldSelector ' +
      'configMapKeyRef*?=3:ConfigMapKeySelector secretKeyRef*?=4:SecretKeySelector ' +
      'fileKeyRef*?=5:FileKeySelector',
    EphemeralContainer: '~=1:EphemeralContainerCommon targetContainerName?=2',
    EphemeralContainerCommon:
      'name=1 image?=2 command?=3:[]string args?=4:[]string workingDir?=5 ports?=6:[]ContainerPort ' +
      'envFrom?=19:[]EnvFromSource env?=7:[]EnvVar resources?=8:ResourceRequirements ' +
      'resizePolicy?=23:[]ContainerResizePolicy restartPolicy*?=24 ' +
      'restartPolicyRules?=25:[]ContainerRestartRule volumeMounts?=9:[]VolumeMount ' +
      'volumeDevices?=21:[]VolumeDevice livenessProbe*?=10:Probe readinessProbe*?=11:Probe ' +
      'startupProbe*?=22:Probe lifecycle*?=12:Lifecycle terminationMessagePath?=13 ' +
      'terminationMessagePolicy?=20 imagePullPolicy?=14 securityContext*?=15:SecurityContext stdin?=16:bool ' +
      'stdinOnce?=17:bool tty?=18:bool',
    EphemeralVolumeSource: 'volumeClaimTemplate*?=1:PersistentVolumeClaimTemplate',
    Event:
      '@ metadata=1:meta.v1.ObjectMeta involvedObject=2:ObjectReference reason?=3 message?=4 ' +
      'source?=5:EventSource firstTimestamp?=6:Time lastTimestamp?=7:Time count?=8:int32 type?=9 ' +
      'eventTime?=10:MicroTime series*?=11:EventSeries action?=12 related*?=13:ObjectReference ' +
      'reportingComponent=14 reportingInstance=15',
    EventList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Event',
    EventSeries: 'count?=1:int32 lastObservedTime?=2:MicroTime',
    EventSource: 'component?=1 host?=2',
    ExecAction: 'command?=1:[]string',
    FCVolumeSource: 'targetWWNs?=1:[]string lun*?=2:int32 fsType?=3 readOnly?=4:bool wwids?=5:[]string',
    FileKeySelector: 'volumeName=1 path=2 key=3 optional*?=4:bool',
    FlexPersistentVolumeSource: 'driver=1 fsType?=2 secretRef*?=3:SecretReference readOnly?=4:bool options?=5:{}string',
    FlexVolumeSource: 'driver=1 fsType?=2 secretRef*?=3:LocalObjectReference readOnly?=4:bool options?=5:{}string',
    FlockerVolumeSource: 'datasetName?=1 datasetUUID?=2',
    GCEPersistentDiskVolumeSource: 'pdName=1 fsType?=2 partition?=3:int32 readOnly?=4:bool',
    GRPCAction: 'port=1:int32 service*=2',
    GitRepoVolumeSource: 'repository=1 revision?=2 directory?=3',
    GlusterfsPersistentVolumeSource: 'endpoints=1 path=2 readOnly?=3:bool endpointsNamespace*?=4',
    GlusterfsVolumeSource: 'endpoints=1 path=2 readOnly?=3:bool',
    HTTPGetAction: 'path?=1 port=2:IntOrString host?=3 scheme?=4 httpHeaders?=5:[]HTTPHeader',
    HTTPHeader: 'name=1 value=2',
    HostAlias: 'ip=1 hostnames?=2:[]string',
    HostIP: 'ip=1',
    HostPathVolumeSource: 'path=1 type*?=2',
    ISCSIPersistentVolumeSource:
      'targetPortal=1 iqn=2 lun=3:int32 iscsiInterface?=4 fsType?=5 readOnly?=6:bool portals?=7:[]string ' +
      'chapAuthDiscovery?=8:bool chapAuthSession?=11:bool secretRef*?=10:SecretReference initiatorName*?=12',
    ISCSIVolumeSource:
      'targetPortal=1 iqn=2 lun=3:int32 iscsiInterface?=4 fsType?=5 readOnly?=6:bool portals?=7:[]string ' +
      'chapAuthDiscovery?=8:bool chapAuthSession?=11:bool secretRef*?=10:LocalObjectReference ' +
      'initiatorName*?=12',
    ImageVolumeSource: 'reference?=1 pullPolicy?=2',
    ImageVolumeStatus: 'imageRef?=1',
    KeyToPath: 'key=1 path=2 mode*?=3:int32',
    Lifecycle: 'postStart*?=1:LifecycleHandler preStop*?=2:LifecycleHandler stopSignal*?=3',
    LifecycleHandler:
      'exec*?=1:ExecAction httpGet*?=2:HTTPGetAction tcpSocket*?=3:TCPSocketAction sleep*?=4:SleepAction',
    LimitRange: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:LimitRangeSpec',
    LimitRangeItem:
      'type=1 max?=2:{}Quantity min?=3:{}Quantity default?=4:{}Quantity defaultRequest?=5:{}Quantity ' +
      'maxLimitRequestRatio?=6:{}Quantity',
    LimitRangeList: '@ metadata?=1:meta.v1.ListMeta items=2:[]LimitRange',
    LimitRangeSpec: 'limits=1:[]LimitRangeItem',
    LinuxContainerUser: 'uid=1:int64 gid=2:int64 supplementalGroups?=3:[]int64',
    LoadBalancerIngress: 'ip?=1 hostname?=2 ipMode*?=3 ports?=4:[]PortStatus',
    LoadBalancerStatus: 'ingress?=1:[]LoadBalancerIngress',
    LocalObjectReference: 'name?=1',
    LocalVolumeSource: 'path=1 fsType*?=2',
    ModifyVolumeStatus: 'targetVolumeAttributesClassName?=1 status=2',
    NFSVolumeSource: 'server=1 path=2 readOnly?=3:bool',
    Namespace: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:NamespaceSpec status?=3:NamespaceStatus',
    NamespaceCondition: 'type=1 status=2 lastTransitionTime?=4:Time reason?=5 message?=6',
    NamespaceList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Namespace',
    NamespaceSpec: 'finalizers?=1:[]string',
    NamespaceStatus: 'phase?=1 conditions?=2:[]NamespaceCondition',
    Node: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:NodeSpec status?=3:NodeStatus',
    NodeAddress: 'type=1 address=2',
    NodeAffinity:
      'requiredDuringSchedulingIgnoredDuringExecution*?=1:NodeSelector ' +
      'preferredDuringSchedulingIgnoredDuringExecution?=2:[]PreferredSchedulingTerm',
    NodeAllocatableResourceClaimStatus: 'resourceClaimName=1 containers?=2:[]string resources=3:{}Quantity',
    NodeCondition: 'type=1 status=2 lastHeartbeatTime?=3:Time lastTransitionTime?=4:Time reason?=5 message?=6',
    NodeConfigSource: 'configMap*?=2:ConfigMapNodeConfigSource',
    NodeConfigStatus:
      'assigned*?=1:NodeConfigSource active*?=2:NodeConfigSource lastKnownGood*?=3:NodeConfigSource error?=4',
    NodeDaemonEndpoints: 'kubeletEndpoint?=1:DaemonEndpoint',
    NodeFeatures: 'supplementalGroupsPolicy*?=1:bool',
    NodeList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Node',
    NodeProxyOptions: '@ path?=1',
    NodeRuntimeHandler: 'name=1 features*?=2:NodeRuntimeHandlerFeatures',
    NodeRuntimeHandlerFeatures: 'recursiveReadOnlyMounts*?=1:bool userNamespaces*?=2:bool',
    NodeSelector: 'nodeSelectorTerms=1:[]NodeSelectorTerm',
    NodeSelectorRequirement: 'key=1 operator=2 values?=3:[]string',
    NodeSelectorTerm: 'matchExpressions?=1:[]NodeSelectorRequirement matchFields?=2:[]NodeSelectorRequirement',
    NodeSpec:
      'podCIDR?=1 podCIDRs?=7:[]string providerID?=3 unschedulable?=4:bool taints?=5:[]Taint ' +
      'configSource*?=6:NodeConfigSource externalID?=2',
    NodeStatus:
      'capacity?=1:{}Quantity allocatable?=2:{}Quantity phase?=3 conditions?=4:[]NodeCondition ' +
      'addresses?=5:[]NodeAddress daemonEndpoints?=6:NodeDaemonEndpoints nodeInfo?=7:NodeSystemInfo ' +
      'images?=8:[]ContainerImage volumesInUse?=9:[]string volumesAttached?=10:[]AttachedVolume ' +
      'config*?=11:NodeConfigStatus runtimeHandlers?=12:[]NodeRuntimeHandler features*?=13:NodeFeatures ' +
      'declaredFeatures?=14:[]string',
    NodeSwapStatus: 'capacity*?=1:int64',
    NodeSystemInfo:
      'machineID=1 systemUUID=2 bootID=3 kernelVersion=4 osImage=5 containerRuntimeVersion=6 ' +
      'kubeletVersion=7 kubeProxyVersion=8 operatingSystem=9 architecture=10 swap*?=11:NodeSwapStatus',
    ObjectFieldSelector: 'apiVersion?=1 fieldPath=2',
    ObjectReference: 'kind?=1 namespace?=2 name?=3 uid?=4 apiVersion?=5 resourceVersion?=6 fieldPath?=7',
    PersistentVolume: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:PersistentVolumeSpec status?=3:PersistentVolumeStatus',
    PersistentVolumeClaim:
      '@ metadata?=1:meta.v1.ObjectMeta spec?=2:PersistentVolumeClaimSpec status?=3:PersistentVolumeClaimStatus',
    PersistentVolumeClaimCondition:
      'type=1 status=2 lastProbeTime?=3:Time lastTransitionTime?=4:Time reason?=5 message?=6',
    PersistentVolumeClaimList: '@ metadata?=1:meta.v1.ListMeta items=2:[]PersistentVolumeClaim',
    PersistentVolumeClaimSpec:
      'accessModes?=1:[]string selector*?=4:meta.v1.LabelSelector resources?=2:VolumeResourceRequirements ' +
      'volumeName?=3 storageClassName*?=5 volumeMode*?=6 dataSource*?=7:TypedLocalObjectReference ' +
      'dataSourceRef*?=8:TypedObjectReference volumeAttributesClassName*?=9',
    PersistentVolumeClaimStatus:
      'phase?=1 accessModes?=2:[]string capacity?=3:{}Quantity ' +
      'conditions?=4:[]PersistentVolumeClaimCondition allocatedResources?=5:{}Quantity ' +
      'allocatedResourceStatuses?=7:{}string currentVolumeAttributesClassName*?=8 ' +
      'modifyVolumeStatus*?=9:ModifyVolumeStatus',
    PersistentVolumeClaimTemplate: 'metadata?=1:meta.v1.ObjectMeta spec=2:PersistentVolumeClaimSpec',
    PersistentVolumeClaimVolumeSource: 'claimName=1 readOnly?=2:bool',
    PersistentVolumeList: '@ metadata?=1:meta.v1.ListMeta items=2:[]PersistentVolume',
    PersistentVolumeSource:
      'gcePersistentDisk*?=1:GCEPersistentDiskVolumeSource ' +
      'awsElasticBlockStore*?=2:AWSElasticBlockStoreVolumeSource hostPath*?=3:HostPathVolumeSource ' +
      'glusterfs*?=4:GlusterfsPersistentVolumeSource nfs*?=5:NFSVolumeSource ' +
      'rbd*?=6:RBDPersistentVolumeSource iscsi*?=7:ISCSIPersistentVolumeSource ' +
      'cinder*?=8:CinderPersistentVolumeSource cephfs*?=9:CephFSPersistentVolumeSource ' +
      'fc*?=10:FCVolumeSource flocker*?=11:FlockerVolumeSource flexVolume*?=12:FlexPersistentVolumeSource ' +
      'azureFile*?=13:AzureFilePersistentVolumeSource vsphereVolume*?=14:VsphereVirtualDiskVolumeSource ' +
      'quobyte*?=15:QuobyteVolumeSource azureDisk*?=16:AzureDiskVolumeSource ' +
      'photonPersistentDisk*?=17:PhotonPersistentDiskVolumeSource portworxVolume*?=18:PortworxVolumeSource ' +
      'scaleIO*?=19:ScaleIOPersistentVolumeSource local*?=20:LocalVolumeSource ' +
      'storageos*?=21:StorageOSPersistentVolumeSource csi*?=22:CSIPersistentVolumeSource',
    PersistentVolumeSpec:
      'capacity?=1:{}Quantity ~=2:PersistentVolumeSource accessModes?=3:[]string ' +
      'claimRef*?=4:ObjectReference persistentVolumeReclaimPolicy?=5 storageClassName?=6 ' +
      'mountOptions?=7:[]string volumeMode*?=8 nodeAffinity*?=9:VolumeNodeAffinity ' +
      'volumeAttributesClassName*?=10',
    PersistentVolumeStatus: 'phase?=1 message?=2 reason?=3 lastPhaseTransitionTime*?=4:Time',
    PhotonPersistentDiskVolumeSource: 'pdID=1 fsType?=2',
    Pod: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:PodSpec status?=3:PodStatus',
    PodAffinity:
      'requiredDuringSchedulingIgnoredDuringExecution?=1:[]PodAffinityTerm ' +
      'preferredDuringSchedulingIgnoredDuringExecution?=2:[]WeightedPodAffinityTerm',
    PodAffinityTerm:
      'labelSelector*?=1:meta.v1.LabelSelector namespaces?=2:[]string topologyKey=3 ' +
      'namespaceSelector*?=4:meta.v1.LabelSelector matchLabelKeys?=5:[]string mismatchLabelKeys?=6:[]string',
    PodAntiAffinity:
      'requiredDuringSchedulingIgnoredDuringExecution?=1:[]PodAffinityTerm ' +
      'preferredDuringSchedulingIgnoredDuringExecution?=2:[]WeightedPodAffinityTerm',
    PodAttachOptions: '@ stdin?=1:bool stdout?=2:bool stderr?=3:bool tty?=4:bool container?=5',
    PodCertificateProjection:
      'signerName?=1 keyType?=2 maxExpirationSeconds*?=3:int32 credentialBundlePath?=4 keyPath?=5 ' +
      'certificateChainPath?=6 userAnnotations?=7:{}string',
    PodCondition:
      'type=1 observedGeneration?=7:int64 status=2 lastProbeTime?=3:Time lastTransitionTime?=4:Time ' +
      'reason?=5 message?=6',
    PodDNSConfig: 'nameservers?=1:[]string searches?=2:[]string options?=3:[]PodDNSConfigOption',
    PodDNSConfigOption: 'name?=1 value*?=2',
    PodExecOptions: '@ stdin?=1:bool stdout?=2:bool stderr?=3:bool tty?=4:bool container?=5 command=6:[]string',
    PodExtendedResourceClaimStatus: 'requestMappings=1:[]ContainerExtendedResourceRequest resourceClaimName=2',
    PodIP: 'ip=1',
    PodList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Pod',
    PodLogOptions:
      '@ container?=1 follow?=2:bool previous?=3:bool sinceSeconds*?=4:int64 sinceTime*?=5:Time ' +
      'timestamps?=6:bool tailLines*?=7:int64 limitBytes*?=8:int64 insecureSkipTLSVerifyBackend?=9:bool ' +
      'stream*?=10',
    PodOS: 'name=1',
    PodPortForwardOptions: '@ ports?=1:[]int32',
    PodProxyOptions: '@ path?=1',
    PodReadinessGate: 'conditionType=1',
    PodResourceClaim: 'name=1 resourceClaimName*?=3 resourceClaimTemplateName*?=4',
    PodResourceClaimStatus: 'name=1 resourceClaimName*?=2',
    PodSchedulingGate: 'name=1',
    PodSchedulingGroup: 'podGroupName*?=1',
    PodSecurityContext:
      'seLinuxOptions*?=1:SELinuxOptions windowsOptions*?=8:WindowsSecurityContextOptions ' +
      'runAsUser*?=2:int64 runAsGroup*?=6:int64 runAsNonRoot*?=3:bool supplementalGroups?=4:[]int64 ' +
      'supplementalGroupsPolicy*?=12 fsGroup*?=5:int64 sysctls?=7:[]Sysctl fsGroupChangePolicy*?=9 ' +
      'seccompProfile*?=10:SeccompProfile appArmorProfile*?=11:AppArmorProfile seLinuxChangePolicy*?=13',
    PodSpec:
      'volumes?=1:[]Volume initContainers?=20:[]Container containers=2:[]Container ' +
      'ephemeralContainers?=34:[]EphemeralContainer restartPolicy?=3 terminationGracePeriodSeconds*?=4:int64 ' +
      'activeDeadlineSeconds*?=5:int64 dnsPolicy?=6 nodeSelector?=7:{}string serviceAccountName?=8 ' +
      'serviceAccount?=9 automountServiceAccountToken*?=21:bool nodeName?=10 hostNetwork?=11:bool ' +
      'hostPID?=12:bool hostIPC?=13:bool shareProcessNamespace*?=27:bool ' +
      'securityContext*?=14:PodSecurityContext imagePullSecrets?=15:[]LocalObjectReference hostname?=16 ' +
      'subdomain?=17 affinity*?=18:Affinity schedulerName?=19 tolerations?=22:[]Toleration ' +
      'hostAliases?=23:[]HostAlias priorityClassName?=24 priority*?=25:int32 dnsConfig*?=26:PodDNSConfig ' +
      'readinessGates?=28:[]PodReadinessGate runtimeClassName*?=29 enableServiceLinks*?=30:bool ' +
      'preemptionPolicy*?=31 overhead?=32:{}Quantity ' +
      'topologySpreadConstraints?=33:[]TopologySpreadConstraint setHostnameAsFQDN*?=35:bool os*?=36:PodOS ' +
      'hostUsers*?=37:bool schedulingGates?=38:[]PodSchedulingGate resourceClaims?=39:[]PodResourceClaim ' +
      'resources*?=40:ResourceRequirements hostnameOverride*?=41 schedulingGroup*?=43:PodSchedulingGroup',
    PodStatus:
      'observedGeneration?=17:int64 phase?=1 conditions?=2:[]PodCondition message?=3 reason?=4 ' +
      'nominatedNodeName?=11 hostIP?=5 hostIPs?=16:[]HostIP podIP?=6 podIPs?=12:[]PodIP startTime*?=7:Time ' +
      'initContainerStatuses?=10:[]ContainerStatus containerStatuses?=8:[]ContainerStatus qosClass?=9 ' +
      'ephemeralContainerStatuses?=13:[]ContainerStatus resize?=14 ' +
      'resourceClaimStatuses?=15:[]PodResourceClaimStatus ' +
      'extendedResourceClaimStatus*?=18:PodExtendedResourceClaimStatus allocatedResources?=19:{}Quantity ' +
      'resources*?=20:ResourceRequirements ' +
      'nodeAllocatableResourceClaimStatuses?=21:[]NodeAllocatableResourceClaimStatus',
    PodStatusResult: '@ metadata?=1:meta.v1.ObjectMeta status?=2:PodStatus',
    PodTemplate: '@ metadata?=1:meta.v1.ObjectMeta template?=2:PodTemplateSpec',
    PodTemplateList: '@ metadata?=1:meta.v1.ListMeta items=2:[]PodTemplate',
    PodTemplateSpec: 'metadata?=1:meta.v1.ObjectMeta spec?=2:PodSpec',
    PortStatus: 'port=1:int32 protocol=2 error*?=3',
    PortworxVolumeSource: 'volumeID=1 fsType?=2 readOnly?=3:bool',
    PreferredSchedulingTerm: 'weight=1:int32 preference=2:NodeSelectorTerm',
    Probe:
      '~=1:ProbeHandler initialDelaySeconds?=2:int32 timeoutSeconds?=3:int32 periodSeconds?=4:int32 ' +
      'successThreshold?=5:int32 failureThreshold?=6:int32 terminationGracePeriodSeconds*?=7:int64',
    ProbeHandler: 'exec*?=1:ExecAction httpGet*?=2:HTTPGetAction tcpSocket*?=3:TCPSocketAction grpc*?=4:GRPCAction',
    ProjectedVolumeSource: 'sources=1:[]VolumeProjection defaultMode*?=2:int32',
    QuobyteVolumeSource: 'registry=1 volume=2 readOnly?=3:bool user?=4 group?=5 tenant?=6',
    RBDPersistentVolumeSource:
      'monitors=1:[]string image=2 fsType?=3 pool?=4 user?=5 keyring?=6 secretRef*?=7:SecretReference readOnly?=8:bool',
    RBDVolumeSource:
      'monitors=1:[]string image=2 fsType?=3 pool?=4 user?=5 keyring?=6 secretRef*?=7:LocalObjectReference ' +
      'readOnly?=8:bool',
    RangeAllocation: '@ metadata?=1:meta.v1.ObjectMeta range=2 data=3:bytes',
    ReplicationController:
      '@ metadata?=1:meta.v1.ObjectMeta spec?=2:ReplicationControllerSpec status?=3:ReplicationControllerStatus',
    ReplicationControllerCondition: 'type=1 status=2 lastTransitionTime?=3:Time reason?=4 message?=5',
    ReplicationControllerList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ReplicationController',
    ReplicationControllerSpec:
      'replicas*?=1:int32 minReadySeconds?=4:int32 selector?=2:{}string template*?=3:PodTemplateSpec',
    ReplicationControllerStatus:
      'replicas=1:int32 fullyLabeledReplicas?=2:int32 readyReplicas?=4:int32 availableReplicas?=5:int32 ' +
      'observedGeneration?=3:int64 conditions?=6:[]ReplicationControllerCondition',
    ResourceClaim: 'name=1 request?=2',
    ResourceFieldSelector: 'containerName?=1 resource=2 divisor?=3:Quantity',
    ResourceHealth: 'resourceID=1 health?=2 message*?=6',
    ResourceQuota: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:ResourceQuotaSpec status?=3:ResourceQuotaStatus',
    ResourceQuotaList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ResourceQuota',
    ResourceQuotaSpec: 'hard?=1:{}Quantity scopes?=2:[]string scopeSelector*?=3:ScopeSelector',
    ResourceQuotaStatus: 'hard?=1:{}Quantity used?=2:{}Quantity',
    ResourceRequirements: 'limits?=1:{}Quantity requests?=2:{}Quantity claims?=3:[]ResourceClaim',
    ResourceStatus: 'name=1 resources?=2:[]ResourceHealth',
    SELinuxOptions: 'user?=1 role?=2 type?=3 level?=4',
    ScaleIOPersistentVolumeSource:
      'gateway=1 system=2 secretRef*=3:SecretReference sslEnabled?=4:bool protectionDomain?=5 storagePool?=6 ' +
      'storageMode?=7 volumeName?=8 fsType?=9 readOnly?=10:bool',
    ScaleIOVolumeSource:
      'gateway=1 system=2 secretRef*=3:LocalObjectReference sslEnabled?=4:bool protectionDomain?=5 ' +
      'storagePool?=6 storageMode?=7 volumeName?=8 fsType?=9 readOnly?=10:bool',
    ScopeSelector: 'matchExpressions?=1:[]ScopedResourceSelectorRequirement',
    ScopedResourceSelectorRequirement: 'scopeName=1 operator=2 values?=3:[]string',
    SeccompProfile: 'type=1 localhostProfile*?=2',
    Secret: '@ metadata?=1:meta.v1.ObjectMeta immutable*?=5:bool data?=2:{}bytes stringData?=4:{}string type?=3',
    SecretEnvSource: '~=1:LocalObjectReference optional*?=2:bool',
    SecretKeySelector: '~=1:LocalObjectReference key=2 optional*?=3:bool',
    SecretList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Secret',
    SecretProjection: '~=1:LocalObjectReference items?=2:[]KeyToPath optional*?=4:bool',
    SecretReference: 'name?=1 namespace?=2',
    SecretVolumeSource: 'secretName?=1 items?=2:[]KeyToPath defaultMode*?=3:int32 optional*?=4:bool',
    SecurityContext:
      'capabilities*?=1:Capabilities privileged*?=2:bool seLinuxOptions*?=3:SELinuxOptions ' +
      'windowsOptions*?=10:WindowsSecurityContextOptions runAsUser*?=4:int64 runAsGroup*?=8:int64 ' +
      'runAsNonRoot*?=5:bool readOnlyRootFilesystem*?=6:bool allowPrivilegeEscalation*?=7:bool procMount*?=9 ' +
      'seccompProfile*?=11:SeccompProfile appArmorProfile*?=12:AppArmorProfile',
    SerializedReference: '@ reference?=1:ObjectReference',
    Service: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:ServiceSpec status?=3:ServiceStatus',
    ServiceAccount:
      '@ metadata?=1:meta.v1.ObjectMeta secrets?=2:[]ObjectReference ' +
      'imagePullSecrets?=3:[]LocalObjectReference automountServiceAccountToken*?=4:bool',
    ServiceAccountList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ServiceAccount',
    ServiceAccountTokenProjection: 'audience?=1 expirationSeconds*?=2:int64 path=3',
    ServiceList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Service',
    ServicePort: 'name?=1 protocol?=2 appProtocol*?=6 port=3:int32 targetPort?=4:IntOrString nodePort?=5:int32',
    ServiceProxyOptions: '@ path?=1',
    ServiceSpec:
      'ports?=1:[]ServicePort selector?=2:{}string clusterIP?=3 clusterIPs?=18:[]string type?=4 ' +
      'externalIPs?=5:[]string sessionAffinity?=7 loadBalancerIP?=8 loadBalancerSourceRanges?=9:[]string ' +
      'externalName?=10 externalTrafficPolicy?=11 healthCheckNodePort?=12:int32 ' +
      'publishNotReadyAddresses?=13:bool sessionAffinityConfig*?=14:SessionAffinityConfig ' +
      'ipFamilies?=19:[]string ipFamilyPolicy*?=17 allocateLoadBalancerNodePorts*?=20:bool ' +
      'loadBalancerClass*?=21 internalTrafficPolicy*?=22 trafficDistribution*?=23',
    ServiceStatus: 'loadBalancer?=1:LoadBalancerStatus conditions?=2:[]meta.v1.Condition',
    SessionAffinityConfig: 'clientIP*?=1:ClientIPConfig',
    SleepAction: 'seconds=1:int64',
    StorageOSPersistentVolumeSource:
      'volumeName?=1 volumeNamespace?=2 fsType?=3 readOnly?=4:bool secretRef*?=5:ObjectReference',
    StorageOSVolumeSource:
      'volumeName?=1 volumeNamespace?=2 fsType?=3 readOnly?=4:bool secretRef*?=5:LocalObjectReference',
    Sysctl: 'name=1 value=2',
    TCPSocketAction: 'port=1:IntOrString host?=2',
    Taint: 'key=1 value?=2 effect=3 timeAdded*?=4:Time',
    Toleration: 'key?=1 operator?=2 value?=3 effect?=4 tolerationSeconds*?=5:int64',
    TopologySelectorLabelRequirement: 'key=1 values=2:[]string',
    TopologySelectorTerm: 'matchLabelExpressions?=1:[]TopologySelectorLabelRequirement',
    TopologySpreadConstraint:
      'maxSkew=1:int32 topologyKey=2 whenUnsatisfiable=3 labelSelector*?=4:meta.v1.LabelSelector ' +
      'minDomains*?=5:int32 nodeAffinityPolicy*?=6 nodeTaintsPolicy*?=7 matchLabelKeys?=8:[]string',
    TypedLocalObjectReference: 'apiGroup*=1 kind=2 name=3',
    TypedObjectReference: 'apiGroup*=1 kind=2 name=3 namespace*?=4',
    Volume: 'name=1 ~=2:VolumeSource',
    VolumeDevice: 'name=1 devicePath=2',
    VolumeMount:
      'name=1 readOnly?=2:bool recursiveReadOnly*?=7 mountPath=3 subPath?=4 mountPropagation*?=5 subPathExpr?=6',
    VolumeMountStatus: 'name=1 mountPath=2 readOnly?=3:bool recursiveReadOnly*?=4 volumeStatus*?=5:VolumeStatus',
    VolumeNodeAffinity: 'required*?=1:NodeSelector',
    VolumeProjection:
      'secret*?=1:SecretProjection downwardAPI*?=2:DownwardAPIProjection configMap*?=3:ConfigMapProjection ' +
      'serviceAccountToken*?=4:ServiceAccountTokenProjection ' +
      'clusterTrustBundle*?=5:ClusterTrustBundleProjection podCertificate*?=6:PodCertificateProjection',
    VolumeResourceRequirements: 'limits?=1:{}Quantity requests?=2:{}Quantity',
    VolumeSource:
      'hostPath*?=1:HostPathVolumeSource emptyDir*?=2:EmptyDirVolumeSource ' +
      'gcePersistentDisk*?=3:GCEPersistentDiskVolumeSource ' +
      'awsElasticBlockStore*?=4:AWSElasticBlockStoreVolumeSource gitRepo*?=5:GitRepoVolumeSource ' +
      'secret*?=6:SecretVolumeSource nfs*?=7:NFSVolumeSource iscsi*?=8:ISCSIVolumeSource ' +
      'glusterfs*?=9:GlusterfsVolumeSource persistentVolumeClaim*?=10:PersistentVolumeClaimVolumeSource ' +
      'rbd*?=11:RBDVolumeSource flexVolume*?=12:FlexVolumeSource cinder*?=13:CinderVolumeSource ' +
      'cephfs*?=14:CephFSVolumeSource flocker*?=15:FlockerVolumeSource ' +
      'downwardAPI*?=16:DownwardAPIVolumeSource fc*?=17:FCVolumeSource azureFile*?=18:AzureFileVolumeSource ' +
      'configMap*?=19:ConfigMapVolumeSource vsphereVolume*?=20:VsphereVirtualDiskVolumeSource ' +
      'quobyte*?=21:QuobyteVolumeSource azureDisk*?=22:AzureDiskVolumeSource ' +
      'photonPersistentDisk*?=23:PhotonPersistentDiskVolumeSource projected*?=26:ProjectedVolumeSource ' +
      'portworxVolume*?=24:PortworxVolumeSource scaleIO*?=25:ScaleIOVolumeSource ' +
      'storageos*?=27:StorageOSVolumeSource csi*?=28:CSIVolumeSource ephemeral*?=29:EphemeralVolumeSource ' +
      'image*?=30:ImageVolumeSource',
    VolumeStatus: 'image*?=1:ImageVolumeStatus',
    VsphereVirtualDiskVolumeSource: 'volumePath=1 fsType?=2 storagePolicyName?=3 storagePolicyID?=4',
    WeightedPodAffinityTerm: 'weight=1:int32 podAffinityTerm=2:PodAffinityTerm',
    WindowsSecurityContextOptions:
      'gmsaCredentialSpecName*?=1 gmsaCredentialSpec*?=2 runAsUserName*?=3 hostProcess*?=4:bool',
  },
  'discovery.v1': {
    Endpoint:
      'addresses=1:[]string conditions?=2:EndpointConditions hostname*?=3 ' +
      'targetRef*?=4:core.v1.ObjectReference deprecatedTopology?=5:{}string nodeName*?=6 zone*?=7 ' +
      'hints*?=8:EndpointHints',
    EndpointConditions: 'ready*?=1:bool serving*?=2:bool terminating*?=3:bool',
    EndpointHints: 'forZones?=1:[]ForZone forNodes?=2:[]ForNode',
    EndpointPort: 'name*?=1 protocol*?=2 port*?=3:int32 appProtocol*?=4',
    EndpointSlice: '@ metadata?=1:meta.v1.ObjectMeta addressType=4 endpoints=2:[]Endpoint ports=3:[]EndpointPort',
    EndpointSliceList: '@ metadata?=1:meta.v1.ListMeta items=2:[]EndpointSlice',
    ForNode: 'name=1',
    ForZone: 'name=1',
  },
  'events.v1': {
    Event:
      '@ metadata=1:meta.v1.ObjectMeta eventTime=2:MicroTime series*?=3:EventSeries reportingController?=4 ' +
      'reportingInstance?=5 action?=6 reason?=7 regarding?=8:core.v1.ObjectReference ' +
      'related*?=9:core.v1.ObjectReference note?=10 type?=11 deprecatedSource?=12:core.v1.EventSource ' +
      'deprecatedFirstTimestamp?=13:Time deprecatedLastTimestamp?=14:Time deprecatedCount?=15:int32',
    EventList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Event',
    EventSeries: 'count=1:int32 lastObservedTime=2:MicroTime',
  },
  'flowcontrol.v1': {
    ExemptPriorityLevelConfiguration: 'nominalConcurrencyShares*?=1:int32 lendablePercent*?=2:int32',
    FlowDistinguisherMethod: 'type=1',
    FlowSchema: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:FlowSchemaSpec status?=3:FlowSchemaStatus',
    FlowSchemaCondition: 'type?=1 status?=2 lastTransitionTime?=3:Time reason?=4 message?=5',
    FlowSchemaList: '@ metadata?=1:meta.v1.ListMeta items=2:[]FlowSchema',
    FlowSchemaSpec:
      'priorityLevelConfiguration=1:PriorityLevelConfigurationReference matchingPrecedence=2:int32 ' +
      'distinguisherMethod*?=3:FlowDistinguisherMethod rules?=4:[]PolicyRulesWithSubjects',
    FlowSchemaStatus: 'conditions?=1:[]FlowSchemaCondition',
    GroupSubject: 'name=1',
    LimitResponse: 'type=1 queuing*?=2:QueuingConfiguration',
    LimitedPriorityLevelConfiguration:
      'nominalConcurrencyShares*=1:int32 limitResponse?=2:LimitResponse lendablePercent*?=3:int32 ' +
      'borrowingLimitPercent*?=4:int32',
    NonResourcePolicyRule: 'verbs=1:[]string nonResourceURLs=6:[]string',
    PolicyRulesWithSubjects:
      'subjects=1:[]Subject resourceRules?=2:[]ResourcePolicyRule nonResourceRules?=3:[]NonResourcePolicyRule',
    PriorityLevelConfiguration:
      '@ metadata?=1:meta.v1.ObjectMeta spec?=2:PriorityLevelConfigurationSpec ' +
      'status?=3:PriorityLevelConfigurationStatus',
    PriorityLevelConfigurationCondition: 'type?=1 status?=2 lastTransitionTime?=3:Time reason?=4 message?=5',
    PriorityLevelConfigurationList: '@ metadata?=1:meta.v1.ListMeta items=2:[]PriorityLevelConfiguration',
    PriorityLevelConfigurationReference: 'name=1',
    PriorityLevelConfigurationSpec:
      'type=1 limited*?=2:LimitedPriorityLevelConfiguration exempt*?=3:ExemptPriorityLevelConfiguration',
    PriorityLevelConfigurationStatus: 'conditions?=1:[]PriorityLevelConfigurationCondition',
    QueuingConfiguration: 'queues=1:int32 handSize=2:int32 queueLengthLimit=3:int32',
    ResourcePolicyRule:
      'verbs=1:[]string apiGroups=2:[]string resources=3:[]string clusterScope?=4:bool namespaces=5:[]string',
    ServiceAccountSubject: 'namespace=1 name=2',
    Subject: 'kind=1 user*?=2:UserSubject group*?=3:GroupSubject serviceAccount*?=4:ServiceAccountSubject',
    UserSubject: 'name=1',
  },
  'meta.v1': {
    APIGroup:
      '@ name=1 versions=2:[]GroupVersionForDiscovery preferredVersion?=3:GroupVersionForDiscovery ' +
      'serverAddressByClientCIDRs?=4:[]ServerAddressByClientCIDR',
    APIGroupList: '@ groups=1:[]APIGroup',
    APIResource:
      'name=1 singularName=6 namespaced=2:bool group?=8 version?=9 kind=3 verbs=4:strings ' +
      'shortNames?=5:[]string categories?=7:[]string storageVersionHash?=10',
    APIResourceList: '@ groupVersion=1 resources=2:[]APIResource',
    APIVersions: '@ versions=1:[]string serverAddressByClientCIDRs=2:[]ServerAddressByClientCIDR',
    ApplyOptions: '@ dryRun?=1:[]string force=2:bool fieldManager=3',
    Condition: 'type=1 status=2 observedGeneration?=3:int64 lastTransitionTime=4:Time reason=5 message=6',
    CreateOptions: '@ dryRun?=1:[]string fieldManager?=3 fieldValidation?=4',
    DeleteOptions:
      '@ gracePeriodSeconds*?=1:int64 preconditions*?=2:Preconditions orphanDependents*?=3:bool ' +
      'propagationPolicy*?=4 dryRun?=5:[]string ignoreStoreReadErrorWithClusterBreakingPotential*?=6:bool',
    FieldSelectorRequirement: 'key=1 operator=2 values?=3:[]string',
    GetOptions: '@ resourceVersion?=1',
    GroupVersionForDiscovery: 'groupVersion=1 version=2',
    GroupVersionKind: 'group=1 version=2 kind=3',
    GroupVersionResource: 'group=1 version=2 resource=3',
    LabelSelector: 'matchLabels?=1:{}string matchExpressions?=2:[]LabelSelectorRequirement',
    LabelSelectorRequirement: 'key=1 operator=2 values?=3:[]string',
    List: '@ metadata?=1:ListMeta items=2:[]RawJson',
    ListMeta: 'selfLink?=1 resourceVersion?=2 continue?=3 remainingItemCount*?=4:int64 shardInfo*?=5:ShardInfo',
    ListOptions:
      '@ labelSelector?=1 fieldSelector?=2 watch?=3:bool allowWatchBookmarks?=9:bool resourceVersion?=4 ' +
      'resourceVersionMatch?=10 timeoutSeconds*?=5:int64 limit?=7:int64 continue?=8 ' +
      'sendInitialEvents*?=11:bool shardSelector?=15',
    ManagedFieldsEntry:
      'manager?=1 operation?=2 apiVersion?=3 time*?=4:Time fieldsType?=6 fieldsV1*?=7:RawJson subresource?=8',
    ObjectMeta:
      'name?=1 generateName?=2 namespace?=3 selfLink?=4 uid?=5 resourceVersion?=6 generation?=7:int64 ' +
      'creationTimestamp?!=8:Time deletionTimestamp*?=9:Time deletionGracePeriodSeconds*?=10:int64 ' +
      'labels?=11:{}string annotations?=12:{}string ownerReferences?=13:[]OwnerReference ' +
      'finalizers?=14:[]string managedFields?=17:[]ManagedFieldsEntry',
    OwnerReference: 'apiVersion=5 kind=1 name=3 uid=4 controller*?=6:bool blockOwnerDeletion*?=7:bool',
    PartialObjectMetadata: '@ metadata?=1:ObjectMeta',
    PartialObjectMetadataList: '@ metadata?=1:ListMeta items=2:[]PartialObjectMetadata',
    PatchOptions: '@ dryRun?=1:[]string force*?=2:bool fieldManager?=3 fieldValidation?=4',
    Preconditions: 'uid*?=1 resourceVersion*?=2',
    ServerAddressByClientCIDR: 'clientCIDR=1 serverAddress=2',
    ShardInfo: 'selector=1',
    Status: '@ metadata?=1:ListMeta status?=2 message?=3 reason?=4 details*?=5:StatusDetails code?=6:int32',
    StatusCause: 'reason?=1 message?=2 field?=3',
    StatusDetails: 'name?=1 group?=2 kind?=3 uid?=6 causes?=4:[]StatusCause retryAfterSeconds?=5:int32',
    UpdateOptions: '@ dryRun?=1:[]string fieldManager?=2 fieldValidation?=3',
    WatchEvent: 'type=1 object=2:RawJson',
  },
  'networking.v1': {
    HTTPIngressPath: 'path?=1 pathType*=3 backend=2:IngressBackend',
    HTTPIngressRuleValue: 'paths=1:[]HTTPIngressPath',
    IPAddress: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:IPAddressSpec',
    IPAddressList: '@ metadata?=1:meta.v1.ListMeta items=2:[]IPAddress',
    IPAddressSpec: 'parentRef*?=1:ParentReference',
    IPBlock: 'cidr=1 except?=2:[]string',
    Ingress: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:IngressSpec status?=3:IngressStatus',
    IngressBackend: 'service*?=4:IngressServiceBackend resource*?=3:core.v1.TypedLocalObjectReference',
    IngressClass: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:IngressClassSpec',
    IngressClassList: '@ metadata?=1:meta.v1.ListMeta items=2:[]IngressClass',
    IngressClassParametersReference: 'apiGroup*?=1 kind=2 name=3 scope*=4 namespace*?=5',
    IngressClassSpec: 'controller?=1 parameters*?=2:IngressClassParametersReference',
    IngressList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Ingress',
    IngressLoadBalancerIngress: 'ip?=1 hostname?=2 ports?=4:[]IngressPortStatus',
    IngressLoadBalancerStatus: 'ingress?=1:[]IngressLoadBalancerIngress',
    IngressPortStatus: 'port=1:int32 protocol=2 error*?=3',
    IngressRule: 'host?=1 ~=2:IngressRuleValue',
    IngressRuleValue: 'http*?=1:HTTPIngressRuleValue',
    IngressServiceBackend: 'name=1 port?=2:ServiceBackendPort',
    IngressSpec: 'ingressClassName*?=4 defaultBackend*?=1:IngressBackend tls?=2:[]IngressTLS rules?=3:[]IngressRule',
    IngressStatus: 'loadBalancer?=1:IngressLoadBalancerStatus',
    IngressTLS: 'hosts?=1:[]string secretName?=2',
    NetworkPolicy: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:NetworkPolicySpec',
    NetworkPolicyEgressRule: 'ports?=1:[]NetworkPolicyPort to?=2:[]NetworkPolicyPeer',
    NetworkPolicyIngressRule: 'ports?=1:[]NetworkPolicyPort from?=2:[]NetworkPolicyPeer',
    NetworkPolicyList: '@ metadata?=1:meta.v1.ListMeta items=2:[]NetworkPolicy',
    NetworkPolicyPeer:
      'podSelector*?=1:meta.v1.LabelSelector namespaceSelector*?=2:meta.v1.LabelSelector ipBlock*?=3:IPBlock',
    NetworkPolicyPort: 'protocol*?=1 port*?=2:IntOrString endPort*?=3:int32',
    NetworkPolicySpec:
      'podSelector=1:meta.v1.LabelSelector ingress?=2:[]NetworkPolicyIngressRule ' +
      'egress?=3:[]NetworkPolicyEgressRule policyTypes?=4:[]string',
    ParentReference: 'group?=1 resource?=2 namespace?=3 name?=4',
    ServiceBackendPort: 'name?=1 number?=2:int32',
    ServiceCIDR: '@ metadata?=1:meta.v1.ObjectMeta spec?=2:ServiceCIDRSpec status?=3:ServiceCIDRStatus',
    ServiceCIDRList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ServiceCIDR',
    ServiceCIDRSpec: 'cidrs?=1:[]string',
    ServiceCIDRStatus: 'conditions?=1:[]meta.v1.Condition',
  },
  'node.v1': {
    Overhead: 'podFixed?=1:{}Quantity',
    RuntimeClass: '@ metadata?=1:meta.v1.ObjectMeta handler=2 overhead*?=3:Overhead scheduling*?=4:Scheduling',
    RuntimeClassList: '@ metadata?=1:meta.v1.ListMeta items=2:[]RuntimeClass',
    Scheduling: 'nodeSelector?=1:{}string tolerations?=2:[]core.v1.Toleration',
  },
  'policy.v1': {
    Eviction: '@ metadata?=1:meta.v1.ObjectMeta deleteOptions*?=2:meta.v1.DeleteOptions',
    PodDisruptionBudget:
      '@ metadata?=1:meta.v1.ObjectMeta spec?=2:PodDisruptionBudgetSpec status?=3:PodDisruptionBudgetStatus',
    PodDisruptionBudgetList: '@ metadata?=1:meta.v1.ListMeta items=2:[]PodDisruptionBudget',
    PodDisruptionBudgetSpec:
      'minAvailable*?=1:IntOrString selector*?=2:meta.v1.LabelSelector maxUnavailable*?=3:IntOrString ' +
      'unhealthyPodEvictionPolicy*?=4',
    PodDisruptionBudgetStatus:
      'observedGeneration?=1:int64 disruptedPods?=2:{}Time disruptionsAllowed=3:int32 currentHealthy=4:int32 ' +
      'desiredHealthy=5:int32 expectedPods=6:int32 conditions?=7:[]meta.v1.Condition',
  },
  'rbac.v1': {
    AggregationRule: 'clusterRoleSelectors?=1:[]meta.v1.LabelSelector',
    ClusterRole: '@ metadata?=1:meta.v1.ObjectMeta rules=2:[]PolicyRule aggregationRule*?=3:AggregationRule',
    ClusterRoleBinding: '@ metadata?=1:meta.v1.ObjectMeta subjects?=2:[]Subject roleRef=3:RoleRef',
    ClusterRoleBindingList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ClusterRoleBinding',
    ClusterRoleList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ClusterRole',
    PolicyRule:
      'verbs=1:[]string apiGroups?=2:[]string resources?=3:[]string resourceNames?=4:[]string ' +
      'nonResourceURLs?=5:[]string',
    Role: '@ metadata?=1:meta.v1.ObjectMeta rules=2:[]PolicyRule',
    RoleBinding: '@ metadata?=1:meta.v1.ObjectMeta subjects?=2:[]Subject roleRef=3:RoleRef',
    RoleBindingList: '@ metadata?=1:meta.v1.ListMeta items=2:[]RoleBinding',
    RoleList: '@ metadata?=1:meta.v1.ListMeta items=2:[]Role',
    RoleRef: 'apiGroup=1 kind=2 name=3',
    Subject: 'kind=1 apiGroup?=2 name=3 namespace?=4',
  },
  'resource.v1': {
    AllocatedDeviceStatus:
      'driver=1 pool=2 device=3 shareID*?=7 conditions=4:[]meta.v1.Condition data*?=5:RawJson ' +
      'networkData*?=6:NetworkDeviceData',
    AllocationResult:
      'devices?=1:DeviceAllocationResult nodeSelector*?=3:core.v1.NodeSelector allocationTimestamp*?=5:Time',
    CELDeviceSelector: 'expression=1',
    CapacityRequestPolicy: 'default*=1:Quantity validValues?=3:[]Quantity validRange*?=4:CapacityRequestPolicyRange',
    CapacityRequestPolicyRange: 'min*?=1:Quantity max*?=2:Quantity step*?=3:Quantity',
    CapacityRequirements: 'requests?=1:{}Quantity',
    Counter: 'value=1:Quantity',
    CounterSet: 'name=1 counters?=2:{}Counter',
    Device:
      'name=1 attributes?=2:{}DeviceAttribute capacity?=3:{}DeviceCapacity ' +
      'consumesCounters?=4:[]DeviceCounterConsumption nodeName*?=5 nodeSelector*?=6:core.v1.NodeSelector ' +
      'allNodes*?=7:bool taints?=8:[]DeviceTaint bindsToNode*?=9:bool bindingConditions?=10:[]string ' +
      'bindingFailureConditions?=11:[]string allowMultipleAllocations*?=12:bool ' +
      'nodeAllocatableResourceMappings?=13:{}NodeAllocatableResourceMapping',
    DeviceAllocationConfiguration: 'source=1 requests?=2:[]string ~=3:DeviceConfiguration',
    DeviceAllocationResult: 'results?=1:[]DeviceRequestAllocationResult config?=2:[]DeviceAllocationConfiguration',
    DeviceAttribute:
      'int*?=2:int64 bool*?=3:bool string*?=4 version*?=5 ints?=6:[]int64 bools?=7:[]bool ' +
      'strings?=8:[]string versions?=9:[]string',
    DeviceCapacity: 'value=1:Quantity requestPolicy*?=2:CapacityRequestPolicy',
    DeviceClaim: 'requests=1:[]DeviceRequest constraints?=2:[]DeviceConstraint config?=3:[]DeviceClaimConfiguration',
    DeviceClaimConfiguration: 'requests?=1:[]string ~=2:DeviceConfiguration',
    DeviceClass: '@ metadata?=1:meta.v1.ObjectMeta spec=2:DeviceClassSpec',
    DeviceClassConfiguration: '~=1:DeviceConfiguration',
    DeviceClassList: '@ metadata?=1:meta.v1.ListMeta items=2:[]DeviceClass',
    DeviceClassSpec: 'selectors?=1:[]DeviceSelector config?=2:[]DeviceClassConfiguration extendedResourceName*?=4',
    DeviceConfiguration: 'opaque*?=1:OpaqueDeviceConfiguration',
    DeviceConstraint: 'requests?=1:[]string matchAttribute*?=2 distinctAttribute*?=3',
    DeviceCounterConsumption: 'counterSet=1 counters?=2:{}Counter',
    DeviceRequest: 'name=1 exactly*?=2:ExactDeviceRequest firstAvailable?=3:[]DeviceSubRequest',
    DeviceRequestAllocationResult:
      'request=1 driver=2 pool=3 device=4 adminAccess*?=5:bool tolerations?=6:[]DeviceToleration ' +
      'bindingConditions?=7:[]string bindingFailureConditions?=8:[]string shareID*?=9 ' +
      'consumedCapacity?=10:{}Quantity',
    DeviceSelector: 'cel*?=1:CELDeviceSelector',
    DeviceSubRequest:
      'name=1 deviceClassName=2 selectors?=3:[]DeviceSelector allocationMode?=4 count?=5:int64 ' +
      'tolerations?=6:[]DeviceToleration capacity*?=7:CapacityRequirements',
    DeviceTaint: 'key=1 value?=2 effect=3 timeAdded*?=4:Time',
    DeviceToleration: 'key?=1 operator?=2 value?=3 effect?=4 tolerationSeconds*?=5:int64',
    ExactDeviceRequest:
      'deviceClassName=1 selectors?=2:[]DeviceSelector allocationMode?=3 count?=4:int64 adminAccess*?=5:bool ' +
      'tolerations?=6:[]DeviceToleration capacity*?=7:CapacityRequirements',
    NetworkDeviceData: 'interfaceName?=1 ips?=2:[]string hardwareAddress?=3',
    NodeAllocatableResourceMapping: 'capacityKey*?=1 allocationMultiplier*?=2:Quantity',
    OpaqueDeviceConfiguration: 'driver=1 parameters=2:RawJson',
    ResourceClaim: '@ metadata?=1:meta.v1.ObjectMeta spec=2:ResourceClaimSpec status?=3:ResourceClaimStatus',
    ResourceClaimConsumerReference: 'apiGroup?=1 resource=3 name=4 uid=5',
    ResourceClaimList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ResourceClaim',
    ResourceClaimSpec: 'devices=1:DeviceClaim',
    ResourceClaimStatus:
      'allocation*?=1:AllocationResult reservedFor?=2:[]ResourceClaimConsumerReference ' +
      'devices?=4:[]AllocatedDeviceStatus',
    ResourceClaimTemplate: '@ metadata?=1:meta.v1.ObjectMeta spec=2:ResourceClaimTemplateSpec',
    ResourceClaimTemplateList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ResourceClaimTemplate',
    ResourceClaimTemplateSpec: 'metadata?=1:meta.v1.ObjectMeta spec=2:ResourceClaimSpec',
    ResourcePool: 'name=1 generation=2:int64 resourceSliceCount=3:int64',
    ResourceSlice: '@ metadata?=1:meta.v1.ObjectMeta spec=2:ResourceSliceSpec',
    ResourceSliceList: '@ metadata?=1:meta.v1.ListMeta items=2:[]ResourceSlice',
    ResourceSliceSpec:
      'driver=1 pool=2:ResourcePool nodeName*?=3 nodeSelector*?=4:core.v1.NodeSelector allNodes*?=5:bool ' +
      'devices?=6:[]Device perDeviceNodeSelection*?=7:bool sharedCounters?=8:[]CounterSet',
  },
  'scheduling.v1': {
    PriorityClass:
      '@ metadata?=1:meta.v1.ObjectMeta value=2:int32 globalDefault?=3:bool description?=4 preemptionPolicy*?=5',
    PriorityClassList: '@ metadata?=1:meta.v1.ListMeta items=2:[]PriorityClass',
  },
  'storage.v1': {
    CSIDriver: '@ metadata?=1:meta.v1.ObjectMeta spec=2:CSIDriverSpec',
    CSIDriverList: '@ metadata?=1:meta.v1.ListMeta items=2:[]CSIDriver',
    CSIDriverSpec:
      'attachRequired*?=1:bool podInfoOnMount*?=2:bool volumeLifecycleModes?=3:[]string ' +
      'storageCapacity*?=4:bool fsGroupPolicy*?=5 tokenRequests?=6:[]TokenRequest requiresRepublish*?=7:bool ' +
      'seLinuxMount*?=8:bool nodeAllocatableUpdatePeriodSeconds*?=9:int64 ' +
      'serviceAccountTokenInSecrets*?=10:bool preventPodSchedulingIfMissing*?=11:bool',
    CSINode: '@ metadata?=1:meta.v1.ObjectMeta spec=2:CSINodeSpec',
    CSINodeDriver: 'name=1 nodeID=2 topologyKeys=3:[]string allocatable*?=4:VolumeNodeResources',
    CSINodeList: '@ metadata?=1:meta.v1.ListMeta items=2:[]CSINode',
    CSINodeSpec: 'drivers=1:[]CSINodeDriver',
    CSIStorageCapacity:
      '@ metadata?=1:meta.v1.ObjectMeta nodeTopology*?=2:meta.v1.LabelSelector storageClassName=3 ' +
      'capacity*?=4:Quantity maximumVolumeSize*?=5:Quantity',
    CSIStorageCapacityList: '@ metadata?=1:meta.v1.ListMeta items=2:[]CSIStorageCapacity',
    StorageClass:
      '@ metadata?=1:meta.v1.ObjectMeta provisioner=2 parameters?=3:{}string reclaimPolicy*?=4 ' +
      'mountOptions?=5:[]string allowVolumeExpansion*?=6:bool volumeBindingMode*?=7 ' +
      'allowedTopologies?=8:[]core.v1.TopologySelectorTerm',
    StorageClassList: '@ metadata?=1:meta.v1.ListMeta items=2:[]StorageClass',
    TokenRequest: 'audience=1 expirationSeconds*?=2:int64',
    VolumeAttachment: '@ metadata?=1:meta.v1.ObjectMeta spec=2:VolumeAttachmentSpec status?=3:VolumeAttachmentStatus',
    VolumeAttachmentList: '@ metadata?=1:meta.v1.ListMeta items=2:[]VolumeAttachment',
    VolumeAttachmentSource: 'persistentVolumeName*?=1 inlineVolumeSpec*?=2:core.v1.PersistentVolumeSpec',
    VolumeAttachmentSpec: 'attacher=1 source=2:VolumeAttachmentSource nodeName=3',
    VolumeAttachmentStatus:
      'attached=1:bool attachmentMetadata?=2:{}string attachError*?=3:VolumeError detachError*?=4:VolumeError',
    VolumeAttributesClass: '@ metadata?=1:meta.v1.ObjectMeta driverName=2 parameters?=3:{}string',
    VolumeAttributesClassList: '@ metadata?=1:meta.v1.ListMeta items=2:[]VolumeAttributesClass',
    VolumeError: 'time?=1:Time message?=2 errorCode*?=3:int32',
    VolumeNodeResources: 'count*?=1:int32',
  },
}
