/**
 * What is refused of the policies and indexes of jobs. Each whole, and `rows` as a kube-apiserver 1.36 answered it.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notQualified, notSubdomain } from '../../support/name-faults.ts'

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 1, template }

const rows: readonly FaultRow[] = [
  {
    of: 'job',
    name: 'with limits of indexes that it has not',
    put: { 'spec.backoffLimitPerIndex': 1, 'spec.maxFailedIndexes': 1 },
    faults: [
      'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
      'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
    ],
  },
  {
    of: 'job',
    name: 'with a limit of all without one of each',
    put: {
      spec: {
        ...indexed,
        maxFailedIndexes: 4,
      },
    },
    faults: [
      'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
      'spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions',
    ],
  },
  {
    of: 'job',
    name: 'of too many indexes',
    put: {
      spec: {
        completionMode: 'Indexed',
        completions: 100001,
        parallelism: 10001,
        template,
        backoffLimitPerIndex: 1,
      },
    },
    faults: [
      'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
      'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are ' +
        'above 100000 and used with backoff limit per index',
    ],
  },
  {
    of: 'job',
    name: 'of too many indexes that may fail',
    put: {
      spec: {
        completionMode: 'Indexed',
        completions: 200001,
        parallelism: 100001,
        template,
        backoffLimitPerIndex: 1,
        maxFailedIndexes: 100001,
      },
    },
    faults: [
      'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion ' +
        'mode is Indexed',
      'spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000',
      'spec.parallelism: Invalid value: 100001: must be less than or equal to 10000 when completions ' +
        'are above 100000 and used with backoff limit per index',
      'spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 10000 when ' +
        'completions are above 100000 and used with backoff limit per index',
    ],
  },
  {
    of: 'job',
    name: 'that nobody manages',
    put: { 'spec.managedBy': 'A b' },
    faults: ['spec.managedBy: Invalid value: "A b": must be a domain-prefixed path (such as "acme.io/foo")'],
  },
  {
    of: 'job',
    name: 'whose manager is unfit',
    put: { 'spec.managedBy': 'A/b c' },
    faults: [
      `spec.managedBy: Invalid value: "A": ${notSubdomain}`,
      'spec.managedBy: Invalid value: "b c": Invalid path (regex used for validation is ' +
        "'[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
    ],
  },
  {
    of: 'job',
    name: 'that succeeds without indexes',
    put: { 'spec.successPolicy': { rules: [{ succeededCount: 1 }] } },
    faults: [
      'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: ' +
        'requires indexed completion mode',
    ],
  },
  {
    of: 'job',
    name: 'that never succeeds',
    put: {
      spec: {
        ...indexed,
        successPolicy: {},
      },
    },
    faults: [
      'spec.successPolicy.rules: Required value: at least one rules must be specified when the ' +
        'successPolicy is specified',
    ],
  },
  {
    of: 'job',
    name: 'that succeeds by indexes it has not',
    put: {
      spec: {
        ...indexed,
        successPolicy: {
          rules: [
            {},
            { succeededIndexes: '3' },
            { succeededIndexes: '0-5' },
            { succeededIndexes: 'a' },
            { succeededIndexes: '0-b' },
            { succeededIndexes: '1-1' },
            { succeededIndexes: '2,1' },
            { succeededIndexes: '0-1-2' },
            { succeededIndexes: '0,1-2', succeededCount: 4 },
            { succeededCount: -1 },
          ],
        },
      },
    },
    faults: [
      'spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes ' +
        'must be specified',
      'spec.successPolicy.rules[1].succeededIndexes: Invalid value: "3": error parsing ' +
        'succeededIndexes: too large index: "3"',
      'spec.successPolicy.rules[2].succeededIndexes: Invalid value: "0-5": error parsing ' +
        'succeededIndexes: too large index: "5"',
      'spec.successPolicy.rules[3].succeededIndexes: Invalid value: "a": error parsing ' +
        'succeededIndexes: cannot convert string to integer for index: "a"',
      'spec.successPolicy.rules[4].succeededIndexes: Invalid value: "0-b": error parsing ' +
        'succeededIndexes: cannot convert string to integer for index: "b"',
      'spec.successPolicy.rules[5].succeededIndexes: Invalid value: "1-1": error parsing ' +
        'succeededIndexes: non-increasing order, previous: 1, current: 1',
      'spec.successPolicy.rules[6].succeededIndexes: Invalid value: "2,1": error parsing ' +
        'succeededIndexes: non-increasing order, previous: 2, current: 1',
      'spec.successPolicy.rules[7].succeededIndexes: Invalid value: "0-1-2": error parsing ' +
        'succeededIndexes: the fragment "0-1-2" violates the requirement that an index interval can have ' +
        "at most two parts separated by '-'",
      'spec.successPolicy.rules[8].succeededCount: Invalid value: 4: must be less than or equal to 3 ' +
        '(the number of specified completions)',
      'spec.successPolicy.rules[8].succeededCount: Invalid value: 4: must be less than or equal to 3 ' +
        '(the number of indexes in the specified succeededIndexes field)',
      'spec.successPolicy.rules[9].succeededCount: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    of: 'job',
    name: 'that fails for no reason',
    put: {
      spec: {
        template,
        podFailurePolicy: {
          rules: [
            { action: '' },
            { action: 'FailIndex', onExitCodes: { operator: '', values: [] } },
            {
              action: 'Some',
              onExitCodes: { containerName: 'x', operator: 'In', values: [2, 0, 2] },
              onPodConditions: [
                { type: 'a b', status: '' },
                { type: 'T', status: 'Some' },
              ],
            },
          ],
        },
      },
    },
    faults: [
      'spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" ' +
        '"FailJob" "Ignore"]',
      'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions ' +
        'is required',
      'spec.podFailurePolicy.rules[1].action: Invalid value: "FailIndex": requires the ' +
        'backoffLimitPerIndex to be set',
      'spec.podFailurePolicy.rules[1].onExitCodes.operator: Required value: valid values: ["In" "NotIn"]',
      'spec.podFailurePolicy.rules[1].onExitCodes.values: Invalid value: []: at least one value is required',
      'spec.podFailurePolicy.rules[2].action: Unsupported value: "Some": supported values: "Count", ' +
        '"FailIndex", "FailJob", "Ignore"',
      'spec.podFailurePolicy.rules[2].onExitCodes.containerName: Invalid value: "x": must be one of the ' +
        'container or initContainer names in the pod template',
      'spec.podFailurePolicy.rules[2].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator',
      'spec.podFailurePolicy.rules[2].onExitCodes.values[2]: Duplicate value: 2',
      'spec.podFailurePolicy.rules[2].onExitCodes.values: Invalid value: [2,0,2]: must be ordered',
      `spec.podFailurePolicy.rules[2].onPodConditions[0].type: Invalid value: "a b": ${notQualified}`,
      'spec.podFailurePolicy.rules[2].onPodConditions[1].status: Unsupported value: "Some": supported ' +
        'values: "False", "True", "Unknown"',
      'spec.podFailurePolicy.rules[2]: Invalid value: specifying both OnExitCodes and OnPodConditions ' +
        'is not supported',
    ],
  },
  {
    of: 'job',
    name: 'that is managed by another',
    put: { 'spec.managedBy': 'a.io/b' },
    update: { 'spec.managedBy': 'a.io/c' },
    faults: ['spec.managedBy: Invalid value: "a.io/c": field is immutable'],
  },
]

/** What we answer: no kube-apiserver was asked. */
const unasked: readonly FaultRow[] = [
  {
    of: 'job',
    name: 'whose manager has too long a name',
    put: { 'spec.managedBy': `a.io/${'x'.repeat(59)}` },
    faults: ['spec.managedBy: Too long: may not be more than 63 bytes'],
  },
  {
    of: 'job',
    name: 'that succeeds by too many rules',
    put: { spec: { ...indexed, successPolicy: { rules: Array.from({ length: 21 }, () => ({ succeededCount: 1 })) } } },
    faults: ['spec.successPolicy.rules: Too many: 21: must have at most 20 items'],
  },
  {
    of: 'job',
    name: 'that succeeds by too many indexes',
    put: {
      spec: {
        ...indexed,
        completions: 20_000,
        successPolicy: { rules: [{ succeededIndexes: Array.from({ length: 15_000 }, (_, i) => i).join(',') }] },
      },
    },
    faults: ['spec.successPolicy.rules[0].succeededIndexes: Too long: may not be more than 65536 bytes'],
  },
  {
    of: 'job',
    name: 'that fails by too many rules',
    put: {
      spec: {
        template,
        podFailurePolicy: {
          rules: Array.from({ length: 21 }, () => ({
            action: 'Ignore',
            onExitCodes: { operator: 'In', values: [1] },
          })),
        },
      },
    },
    faults: ['spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items'],
  },
  {
    of: 'job',
    name: 'that fails for too many reasons',
    put: {
      spec: {
        template,
        podFailurePolicy: {
          rules: [
            {
              action: 'Ignore',
              onExitCodes: { operator: 'In', values: Array.from({ length: 256 }, (_, i) => i + 1) },
            },
            {
              action: 'Ignore',
              onPodConditions: Array.from({ length: 21 }, () => ({ type: 'T', status: 'True' })),
            },
          ],
        },
      },
    },
    faults: [
      'spec.podFailurePolicy.rules[0].onExitCodes.values: Too many: 256: must have at most 255 items',
      'spec.podFailurePolicy.rules[1].onPodConditions: Too many: 21: must have at most 20 items',
    ],
  },
  {
    of: 'job',
    name: 'that comes to succeed otherwise',
    put: { spec: { ...indexed, successPolicy: { rules: [{ succeededCount: 1 }] } } },
    update: { 'spec.successPolicy': { rules: [{ succeededCount: 2 }] } },
    faults: [
      'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":2}]}: field is immutable',
    ],
  },
]

describeFaults('of the policies and indexes of jobs', [...rows, ...unasked])
