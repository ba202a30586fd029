/**
 * What is refused of workloads. Each whole. Compared with a kube-apiserver 1.20; where 1.36 words it otherwise, with
 * its source.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notLabel, notQualified, notSubdomain } from '../../support/name-faults.ts'

const rows: readonly FaultRow[] = [
  {
    of: 'deployment',
    name: 'whose template says what only a pod may',
    put: { 'spec.template.spec.ephemeralContainers': [{ name: 'e', image: 'i' }] },
    faults: ['spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template'],
  },
  {
    of: 'deployment',
    name: 'with labels and annotations of its template that are none',
    put: {
      'spec.template.metadata.labels': { a: 'b', 'a b': 'c' },
      'spec.template.metadata.annotations': { 'x y': '' },
    },
    faults: [
      `spec.template.labels: Invalid value: "a b": ${notQualified}`,
      `spec.template.annotations: Invalid value: "x y": ${notQualified}`,
    ],
  },
  {
    of: 'deployment',
    name: 'without a selector',
    put: { 'spec.selector': undefined },
    faults: [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ],
  },
  {
    of: 'deployment',
    name: 'whose selector is empty',
    put: { 'spec.selector': {} },
    faults: ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  },
  {
    of: 'deployment',
    name: 'whose selector finds other pods',
    put: { 'spec.selector.matchLabels': { x: 'y' } },
    faults: ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  },
  {
    of: 'deployment',
    name: 'whose selector is none',
    put: { 'spec.selector': { matchExpressions: [{ key: 'a b', operator: 'Is', values: ['c'] }] } },
    faults: [
      'spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator',
      `spec.selector.matchExpressions[0].key: Invalid value: "a b": ${notQualified}`,
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"a b","operator":"Is","values":["c"]}]}: ' +
        'invalid label selector',
    ],
  },
  {
    of: 'deployment',
    name: 'of pods that end',
    put: { 'spec.template.spec.restartPolicy': 'Never', 'spec.template.spec.activeDeadlineSeconds': 5 },
    faults: [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    ],
  },
  {
    of: 'deployment',
    name: 'of less than nothing',
    put: {
      'spec.replicas': -1,
      'spec.minReadySeconds': -1,
      'spec.revisionHistoryLimit': -1,
      'spec.progressDeadlineSeconds': -1,
    },
    faults: [
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
      'spec.progressDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.progressDeadlineSeconds: Invalid value: -1: must be greater than minReadySeconds',
    ],
  },
  {
    of: 'deployment',
    name: 'whose pods push others aside in a way that nobody knows',
    put: { 'spec.template.spec.preemptionPolicy': 'Some' },
    faults: [
      'spec.template.spec.preemptionPolicy: Unsupported value: "Some": supported values: ' +
        '"PreemptLowerPriority", "Never"',
    ],
  },
  {
    of: 'replicaSet',
    name: 'of less than nothing',
    put: { 'spec.replicas': -1, 'spec.minReadySeconds': -1 },
    faults: [
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    of: 'deployment',
    name: 'that is recreated bit by bit',
    put: { 'spec.strategy': { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
    faults: ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  },
  {
    of: 'deployment',
    name: 'that is renewed in a way that nobody knows',
    put: { 'spec.strategy': { type: 'Some' } },
    faults: [
      'spec.strategy: Unsupported value: {"Type":"Some","RollingUpdate":null}: supported values: "Recreate", ' +
        '"RollingUpdate"',
    ],
  },
  {
    of: 'deployment',
    name: 'that can not be renewed',
    put: { 'spec.strategy': { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
    faults: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
  },
  {
    of: 'deployment',
    name: 'that is renewed by parts that are none',
    put: { 'spec.strategy': { type: 'RollingUpdate', rollingUpdate: { maxSurge: 'some', maxUnavailable: '101%' } } },
    faults: [
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
      'spec.strategy.rollingUpdate.maxSurge: Invalid value: "some": a valid percent string must be a ' +
        "numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is " +
        "'[0-9]+%')",
    ],
  },
  {
    of: 'deployment',
    name: 'that is renewed by less than nothing',
    put: { 'spec.strategy': { type: 'RollingUpdate', rollingUpdate: { maxSurge: -1, maxUnavailable: 1 } } },
    faults: ['spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0'],
  },
  {
    of: 'deployment',
    name: 'that would have to be done before it is ready',
    put: { 'spec.minReadySeconds': 10, 'spec.progressDeadlineSeconds': 10 },
    faults: ['spec.progressDeadlineSeconds: Invalid value: 10: must be greater than minReadySeconds'],
  },
  {
    of: 'deployment',
    name: 'that is to find other pods',
    update: { 'spec.selector.matchLabels': { x: 'y' }, 'spec.template.metadata.labels': { x: 'y' } },
    faults: ['spec.selector: Invalid value: {"matchLabels":{"x":"y"}}: field is immutable'],
  },
  {
    of: 'replicaSet',
    name: 'that is to find other pods',
    update: { 'spec.selector.matchLabels': { x: 'y' }, 'spec.template.metadata.labels': { x: 'y' } },
    faults: ['spec.selector: Invalid value: {"matchLabels":{"x":"y"}}: field is immutable'],
  },
  {
    of: 'daemonSet',
    name: 'of pods that end',
    put: { 'spec.template.spec.restartPolicy': 'OnFailure' },
    faults: ['spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"'],
  },
  {
    of: 'daemonSet',
    name: 'that can not be renewed',
    put: { 'spec.updateStrategy': { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } },
    faults: ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
  },
  {
    of: 'daemonSet',
    name: 'that is renewed in both ways',
    put: { 'spec.updateStrategy': { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } },
    faults: [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero',
    ],
  },
  {
    of: 'daemonSet',
    name: 'that is renewed in a way that nobody knows',
    put: { 'spec.updateStrategy': { type: 'Some' } },
    faults: [
      'spec.updateStrategy: Unsupported value: {"Type":"Some","RollingUpdate":null}: supported values: ' +
        '"RollingUpdate", "OnDelete"',
    ],
  },
  {
    of: 'daemonSet',
    name: 'of less than nothing',
    put: { 'spec.minReadySeconds': -1, 'spec.revisionHistoryLimit': -1 },
    faults: [
      'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    of: 'daemonSet',
    name: 'that is to find other pods',
    update: { 'spec.selector.matchLabels': { x: 'y' }, 'spec.template.metadata.labels': { x: 'y' } },
    faults: ['spec.selector: Invalid value: {"matchLabels":{"x":"y"}}: field is immutable'],
  },
  {
    of: 'statefulSet',
    name: 'whose pods are managed in a way that nobody knows',
    put: { 'spec.podManagementPolicy': 'Some' },
    faults: ["spec.podManagementPolicy: Invalid value: \"Some\": must be 'OrderedReady' or 'Parallel'"],
  },
  {
    of: 'statefulSet',
    name: 'that is renewed on deletion, by parts',
    put: { 'spec.updateStrategy': { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
    faults: [
      'spec.updateStrategy.rollingUpdate: Invalid value: {"partition":1}: only allowed for updateStrategy ' +
        "'RollingUpdate'",
    ],
  },
  {
    of: 'statefulSet',
    name: 'that is renewed from before its first',
    put: { 'spec.updateStrategy': { type: 'RollingUpdate', rollingUpdate: { partition: -1 } } },
    faults: ['spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0'],
  },
  {
    of: 'statefulSet',
    name: 'that is renewed in a way that nobody knows',
    put: { 'spec.updateStrategy': { type: 'Some' } },
    faults: [
      'spec.updateStrategy: Invalid value: {"Type":"Some","RollingUpdate":null}: must be \'RollingUpdate\' ' +
        "or 'OnDelete'",
    ],
  },
  {
    of: 'statefulSet',
    name: 'whose claims are kept in a way that nobody knows',
    put: { 'spec.persistentVolumeClaimRetentionPolicy': { whenDeleted: 'Some', whenScaled: 'Some' } },
    faults: [
      'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Some": supported values: ' +
        '"Retain", "Delete"',
      'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Some": supported values: ' +
        '"Retain", "Delete"',
    ],
  },
  {
    of: 'statefulSet',
    name: 'of less than nothing',
    put: {
      'spec.replicas': -1,
      'spec.minReadySeconds': -1,
      'spec.ordinals': { start: -1 },
    },
    faults: [
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    of: 'statefulSet',
    name: 'that is to have another service',
    update: { 'spec.serviceName': 't' },
    faults: [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', " +
        "'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and " +
        "'minReadySeconds' are forbidden",
    ],
  },
  {
    of: 'replicationController',
    name: 'of less than nothing',
    put: { 'spec.replicas': -1, 'spec.minReadySeconds': -1 },
    faults: [
      'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    of: 'replicationController',
    name: 'without a template',
    put: { 'spec.template': undefined },
    faults: ['spec.template: Required value'],
  },
  {
    of: 'replicationController',
    name: 'that finds other pods',
    put: { 'spec.selector': { x: 'y' } },
    faults: ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  },
  {
    of: 'replicationController',
    name: 'that finds every pod',
    put: { 'spec.selector': {}, 'spec.template.metadata.labels': {} },
    faults: ['spec.selector: Required value'],
  },
  {
    of: 'podTemplate',
    name: 'without containers',
    put: { 'template.spec.containers': [] },
    faults: ['template.spec.containers: Required value'],
  },
  {
    of: 'revision',
    name: 'without data',
    put: { data: undefined },
    faults: ['data: Required value: data is mandatory'],
  },
  {
    of: 'revision',
    name: 'from before the first',
    put: { revision: -1 },
    faults: ['revision: Invalid value: -1: must be greater than or equal to 0'],
  },
  {
    of: 'revision',
    name: 'that is to hold something else',
    update: { data: { a: 2 } },
    faults: ['data: Invalid value: {"a":2}: field is immutable'],
  },
  {
    of: 'statefulSet',
    name: 'whose selector is none',
    put: { 'spec.selector': { matchExpressions: [{ key: 'k', operator: 'Is' }] } },
    faults: [
      'spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator',
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"k","operator":"Is"}]}',
    ],
  },
  {
    of: 'daemonSet',
    name: 'whose selector is none',
    put: { 'spec.selector': { matchExpressions: [{ key: 'k', operator: 'Is' }] } },
    faults: ['spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator'],
  },
  {
    of: 'statefulSet',
    name: 'without a selector',
    put: { 'spec.selector': undefined },
    faults: [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ],
  },
  {
    of: 'daemonSet',
    name: 'without a selector',
    put: { 'spec.selector': undefined },
    faults: ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  },
  {
    of: 'statefulSet',
    name: 'whose selector is empty',
    put: { 'spec.selector': {} },
    faults: ['spec.selector: Invalid value: {}: empty selector is invalid for statefulset'],
  },
  {
    of: 'daemonSet',
    name: 'whose selector is empty',
    put: { 'spec.selector': {} },
    faults: ['spec.selector: Invalid value: {}: empty selector is invalid for daemonset'],
  },
  {
    of: 'podTemplate',
    name: 'whose names are none',
    put: {
      'template.spec.serviceAccountName': 'A_',
      'template.spec.nodeName': 'B_',
      'template.spec.priorityClassName': 'C_',
      'template.spec.runtimeClassName': 'D_',
      'template.spec.hostname': 'E_',
      'template.spec.subdomain': 'F_',
      'template.spec.nodeSelector': { 'a b': '' },
    },
    faults: [
      `template.spec.nodeSelector: Invalid value: "a b": ${notQualified}`,
      `template.spec.serviceAccountName: Invalid value: "A_": ${notSubdomain}`,
      `template.spec.nodeName: Invalid value: "B_": ${notSubdomain}`,
      `template.spec.priorityClassName: Invalid value: "C_": ${notSubdomain}`,
      `template.spec.runtimeClassName: Invalid value: "D_": ${notSubdomain}`,
      `template.spec.hostname: Invalid value: "E_": ${notLabel}`,
      `template.spec.subdomain: Invalid value: "F_": ${notLabel}`,
    ],
  },
  {
    of: 'job',
    name: 'of less than nothing',
    put: {
      'spec.parallelism': -1,
      'spec.completions': -1,
      'spec.activeDeadlineSeconds': -1,
      'spec.backoffLimit': -1,
      'spec.ttlSecondsAfterFinished': -1,
    },
    faults: [
      'spec.parallelism: Invalid value: -1: must be greater than or equal to 0',
      'spec.completions: Invalid value: -1: must be greater than or equal to 0',
      'spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0',
      'spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    of: 'job',
    name: 'completed in a way that nobody knows',
    put: { 'spec.completionMode': 'Some', 'spec.podReplacementPolicy': 'Some' },
    faults: [
      'spec.completionMode: Unsupported value: "Some": supported values: "NonIndexed", "Indexed"',
      'spec.podReplacementPolicy: Unsupported value: "Some": supported values: "Failed", "TerminatingOrFailed"',
    ],
  },
  {
    of: 'job',
    name: 'with an index but no end',
    put: { 'spec.completionMode': 'Indexed', 'spec.parallelism': 100001 },
    faults: [
      'spec.completions: Required value: when completion mode is Indexed',
      'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
    ],
  },
  {
    of: 'job',
    name: 'whose pods never end',
    put: { 'spec.template.spec.restartPolicy': 'Always' },
    faults: ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  },
  {
    of: 'job',
    name: 'whose pods end in a way that nobody knows',
    put: { 'spec.template.spec.restartPolicy': 'Some' },
    faults: [
      'spec.template.spec.restartPolicy: Unsupported value: "Some": supported values: "Always", "OnFailure", "Never"',
      'spec.template.spec.restartPolicy: Unsupported value: "Some": supported values: "OnFailure", "Never"',
    ],
  },
  {
    of: 'job',
    name: 'whose pods are brought back though their failure is judged',
    put: { 'spec.template.spec.restartPolicy': 'OnFailure', 'spec.podFailurePolicy': { rules: [] } },
    faults: [
      'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when ' +
        'podFailurePolicy is specified',
    ],
  },
  {
    of: 'job',
    name: 'that finds its pods itself, without saying how',
    put: { 'spec.manualSelector': true },
    faults: [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
    ],
  },
  {
    of: 'job',
    name: 'that finds other pods',
    put: { 'spec.manualSelector': true, 'spec.selector': { matchLabels: { x: 'y' } } },
    faults: ['spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`'],
  },
  {
    of: 'job',
    name: 'that finds pods in a way that is none',
    put: { 'spec.manualSelector': true, 'spec.selector': { matchLabels: { 'a b': 'y' } } },
    faults: [`spec.selector.matchLabels: Invalid value: "a b": ${notQualified}`],
  },
  {
    of: 'job',
    name: 'that is to be another',
    update: { 'spec.completions': 2, 'spec.completionMode': 'Indexed', 'spec.backoffLimitPerIndex': 1 },
    faults: [
      'spec.completionMode: Invalid value: "Indexed": field is immutable',
      'spec.backoffLimitPerIndex: Invalid value: 1: field is immutable',
      'spec.completions: Invalid value: 2: field is immutable',
    ],
  },
  {
    of: 'job',
    name: 'whose selector is to be another',
    put: {
      'spec.manualSelector': true,
      'spec.selector': { matchLabels: { a: 'b' } },
      'spec.template.metadata.labels': { a: 'b', c: 'd' },
    },
    update: { 'spec.selector': { matchLabels: { c: 'd' } }, 'spec.template.spec.hostname': 'h' },
    faults: [
      'spec.selector: Invalid value: {"matchLabels":{"c":"d"}}: field is immutable',
      'spec.template: Invalid value: ' +
        '{"spec":{"containers":[{"name":"c","image":"i","imagePullPolicy":"Always",' +
        '"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",' +
        '"resources":{}}],"restartPolicy":"Never","dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler",' +
        '"terminationGracePeriodSeconds":30,"securityContext":{},"hostname":"h"},' +
        '"metadata":{"labels":{"a":"b","c":"d"}}}: ' +
        'field is immutable',
    ],
  },
  {
    of: 'job',
    name: 'whose failures are to be judged',
    update: { 'spec.podFailurePolicy': { rules: [] } },
    faults: ['spec.podFailurePolicy: Invalid value: {"rules":[]}: field is immutable'],
  },
  {
    of: 'cronJob',
    name: 'with a name that leaves no room for those of its jobs',
    put: { 'metadata.name': 'x'.repeat(53) },
    faults: [`metadata.name: Invalid value: "${'x'.repeat(53)}": must be no more than 52 characters`],
  },
  { of: 'cronJob', name: 'without a time', put: { 'spec.schedule': '' }, faults: ['spec.schedule: Required value'] },
  {
    of: 'cronJob',
    name: 'with more times than there are',
    put: { 'spec.schedule': `${'0,'.repeat(32_768)}0 * * * *` },
    faults: ['spec.schedule: Too long: may not be more than 65536 bytes'],
  },
  {
    of: 'cronJob',
    name: 'at a time that is none',
    put: { 'spec.schedule': '61 * * * *', 'spec.timeZone': 'Local' },
    faults: [
      'spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61',
      'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in ' +
        'https://www.iana.org/time-zones',
    ],
  },
  {
    of: 'cronJob',
    name: 'at a time with a zone in it',
    put: { 'spec.schedule': 'TZ=UTC * * * * *', 'spec.timeZone': '' },
    faults: [
      'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone ' +
        'field instead',
      'spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string',
    ],
  },
  {
    of: 'cronJob',
    name: 'in a zone that nobody knows',
    put: { 'spec.timeZone': 'Some/Where' },
    faults: ['spec.timeZone: Invalid value: "Some/Where": unknown time zone Some/Where'],
  },
  {
    of: 'cronJob',
    name: 'of less than nothing',
    put: {
      'spec.startingDeadlineSeconds': -1,
      'spec.successfulJobsHistoryLimit': -1,
      'spec.failedJobsHistoryLimit': -1,
      'spec.concurrencyPolicy': 'Some',
    },
    faults: [
      'spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
      'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
      'spec.concurrencyPolicy: Unsupported value: "Some": supported values: "Allow", "Forbid", "Replace"',
    ],
  },
  {
    of: 'cronJob',
    name: 'whose jobs choose their pods',
    put: {
      'spec.jobTemplate.metadata': { labels: { 'a b': '' }, annotations: { 'x y': '' } },
      'spec.jobTemplate.spec.selector': { matchLabels: { a: 'b' } },
      'spec.jobTemplate.spec.manualSelector': true,
    },
    faults: [
      'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
      'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    ],
  },
]

describeFaults('of workloads', rows)
