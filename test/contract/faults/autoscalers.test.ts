/**
 * What is refused of what autoscalers scale and watch. Each whole, and `rows` as a kube-apiserver 1.36 answered it.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notLabel } from '../../support/name-faults.ts'

const rows: readonly FaultRow[] = [
  {
    of: 'autoscaler',
    name: 'by metrics that are none',
    put: { 'spec.metrics': [{ type: '' }, { type: 'Some' }, { type: 'Pods' }] },
    faults: [
      'spec.metrics[0].type: Required value: must specify a metric source type',
      'spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", ' +
        '"Object", "Pods", "Resource"',
      'spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", ' +
        '"Object", "Pods", "Resource"',
      'spec.metrics[1].type: Unsupported value: "Some": supported values: "ContainerResource", ' +
        '"External", "Object", "Pods", "Resource"',
      'spec.metrics[1].type: Unsupported value: "Some": supported values: "ContainerResource", ' +
        '"External", "Object", "Pods", "Resource"',
      'spec.metrics[2].pods: Required value: must populate information for the given metric source',
    ],
  },
  {
    of: 'autoscaler',
    name: 'by metrics without a target',
    put: {
      'spec.metrics': [
        { type: 'Resource', resource: { name: '', target: { type: '' } } },
        { type: 'External', external: { metric: { name: '' }, target: { type: 'Some', value: '0' } } },
        { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '-1' } } },
      ],
    },
    faults: [
      'spec.metrics[0].resource.name: Required value: must specify a resource name',
      'spec.metrics[0].resource.target.type: Required value: must specify a metric target type',
      'spec.metrics[0].resource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
      'spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw ' +
        'value or a target utilization',
      'spec.metrics[1].external.metric.name: Required value: must specify a metric name',
      'spec.metrics[1].external.target.type: Invalid value: "Some": must be either Utilization, Value, ' +
        'or AverageValue',
      'spec.metrics[1].external.target.value: Invalid value: "0": must be positive',
      'spec.metrics[2].pods.target.averageValue: Invalid value: "-1": must be positive',
    ],
  },
  {
    of: 'autoscaler',
    name: 'of what is in no group',
    put: { 'spec.scaleTargetRef.apiVersion': 'v1' },
    faults: ['spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group'],
  },
  {
    of: 'autoscaler',
    name: 'of what is in no version',
    put: { 'spec.scaleTargetRef.apiVersion': 'a/b/c' },
    faults: ['spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
  },
  {
    of: 'autoscaler',
    name: 'that comes to scale what is in no group',
    update: { 'spec.scaleTargetRef.apiVersion': '' },
    faults: ['spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group'],
  },
  {
    of: 'autoscaler',
    name: 'below nothing',
    put: { 'spec.maxReplicas': -1 },
    faults: [
      'spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1',
      'spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`',
    ],
  },
  {
    of: 'autoscaler',
    name: 'to nothing that nothing wakes',
    put: { 'spec.minReplicas': 0 },
    faults: [
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling ' +
        'to zero replicas',
    ],
  },
  {
    of: 'autoscaler',
    name: 'that tolerates less than nothing',
    put: { 'spec.behavior': { scaleUp: { tolerance: '-1' } } },
    faults: ['spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0'],
  },
  {
    of: 'autoscaler',
    name: 'by two sources',
    put: {
      'spec.metrics': [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 1 } },
          pods: { metric: { name: 'a' }, target: { type: 'AverageValue', averageValue: '1' } },
        },
      ],
    },
    faults: ['spec.metrics[0].pods: Forbidden: must populate the given metric source only'],
  },
  {
    of: 'autoscaler',
    name: 'by one source that is another',
    put: {
      'spec.metrics': [
        {
          type: 'Pods',
          object: {
            describedObject: { apiVersion: 'a/b/c', kind: '', name: 'a/b' },
            metric: { name: 'a/b' },
            target: { type: '' },
          },
        },
      ],
    },
    faults: [
      'spec.metrics[0].object.describedObject.kind: Required value',
      'spec.metrics[0].object.describedObject.name: Invalid value: "a/b": may not contain \'/\'',
      'spec.metrics[0].object.describedObject.apiVersion: Invalid value: "a/b/c": unexpected ' +
        'GroupVersion string: a/b/c',
      'spec.metrics[0].object.metric.name: Invalid value: "a/b": may not contain \'/\'',
      'spec.metrics[0].object.target.type: Required value: must specify a metric target type',
      'spec.metrics[0].object.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
      'spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue',
      'spec.metrics[0].pods: Required value: must populate information for the given metric source',
    ],
  },
  {
    of: 'autoscaler',
    name: 'by an object without a target',
    put: {
      'spec.metrics': [
        {
          type: 'Object',
          object: { describedObject: { kind: 'K', name: 'n' }, metric: { name: 'm' }, target: { type: 'Value' } },
        },
      ],
    },
    faults: [
      'spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue',
    ],
  },
  {
    of: 'autoscaler',
    name: 'by what is elsewhere, twice',
    put: {
      'spec.metrics': [
        {
          type: 'External',
          external: { metric: { name: '..' }, target: { type: 'Value', value: '1', averageValue: '1' } },
        },
      ],
    },
    faults: [
      'spec.metrics[0].external.metric.name: Invalid value: "..": may not be \'..\'',
      'spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and ' +
        'a per-pod target',
    ],
  },
  {
    of: 'autoscaler',
    name: 'by what is elsewhere, without a target',
    put: { 'spec.metrics': [{ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value' } } }] },
    faults: [
      'spec.metrics[0].external.target.averageValue: Required value: must set either a target value for ' +
        'metric or a per-pod target',
    ],
  },
  {
    of: 'autoscaler',
    name: 'by pods without a target',
    put: { 'spec.metrics': [{ type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'Value', value: '0' } } }] },
    faults: [
      'spec.metrics[0].pods.target.value: Invalid value: "0": must be positive',
      'spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue',
    ],
  },
  {
    of: 'autoscaler',
    name: 'by no container',
    put: {
      'spec.metrics': [
        {
          type: 'ContainerResource',
          containerResource: {
            name: 'x',
            container: '',
            target: { type: 'Utilization', averageUtilization: 1, averageValue: '1' },
          },
        },
      ],
    },
    faults: [
      'spec.metrics[0].containerResource.name: Invalid value: "x": must be a standard resource type or ' +
        'fully qualified',
      'spec.metrics[0].containerResource.name: Invalid value: "x": must be a standard resource for containers',
      'spec.metrics[0].containerResource.container: Required value: must specify a container',
      'spec.metrics[0].containerResource.target.averageValue: Forbidden: may not set both a target raw ' +
        'value and a target utilization',
    ],
  },
  {
    of: 'autoscaler',
    name: 'by a container of no name',
    put: {
      'spec.metrics': [
        {
          type: 'ContainerResource',
          containerResource: { name: 'cpu', container: 'A', target: { type: 'Utilization' } },
        },
      ],
    },
    faults: [
      `spec.metrics[0].containerResource.container: Invalid value: "A": ${notLabel}`,
      'spec.metrics[0].containerResource.target.averageUtilization: Required value: must set either a ' +
        'target raw value or a target utilization',
    ],
  },
]

/** What we answer: no kube-apiserver was asked. */
const unasked: readonly FaultRow[] = [
  {
    of: 'autoscaler',
    name: 'to nothing',
    put: { 'spec.maxReplicas': 0 },
    faults: [
      'spec.maxReplicas: Required value: must be set and greater than 0',
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
    ],
  },
  {
    of: 'autoscaler',
    name: 'by nothing of a container',
    put: {
      'spec.metrics': [
        {
          type: 'ContainerResource',
          containerResource: { name: '', container: 'c', target: { type: 'Utilization', averageUtilization: 0 } },
        },
      ],
    },
    faults: [
      'spec.metrics[0].containerResource.name: Required value: must specify a resource name',
      'spec.metrics[0].containerResource.target.averageUtilization: Invalid value: 0: must be greater than 0',
    ],
  },
]

describeFaults('of what autoscalers scale and watch', [...rows, ...unasked])
