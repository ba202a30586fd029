/**
 * What is refused of claims of devices and their classes. Each whole, as a kube-apiserver 1.36 answered it, except what
 * is too long and the template that is changed: these were not compared.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notLabel, notLabelValue, notQualified, notSubdomain } from '../../support/name-faults.ts'

const rows: readonly FaultRow[] = [
  {
    of: 'deviceClaim',
    name: 'that asks to look into devices of others',
    put: { 'spec.devices.requests': [{ name: 'r', exactly: { deviceClassName: 'd', adminAccess: true } }] },
    faults: [
      'spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the ' +
        '`resource.kubernetes.io/admin-access: true` label on the containing namespace',
    ],
  },
  {
    of: 'deviceClaimTemplate',
    name: 'whose claims ask to look into devices of others',
    put: {
      'spec.spec.devices.requests': [
        { name: 'r', exactly: { deviceClassName: 'd' } },
        { name: 's', exactly: { deviceClassName: 'd', adminAccess: true } },
      ],
    },
    faults: [
      'spec.devices.requests[1].adminAccess: Forbidden: admin access to devices requires the ' +
        '`resource.kubernetes.io/admin-access: true` label on the containing namespace',
    ],
  },
  {
    of: 'deviceClaim',
    name: 'of no request',
    put: {
      'spec.devices.requests': [
        { name: 'A' },
        { name: 'r', exactly: { deviceClassName: 'd' }, firstAvailable: [{ name: 'a', deviceClassName: 'd' }] },
      ],
    },
    faults: [
      `spec.devices.requests[0].name: Invalid value: "A": ${notLabel}`,
      'spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required',
      'spec.devices.requests[1]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is ' +
        'required, but multiple fields are set',
    ],
  },
  {
    of: 'deviceClaim',
    name: 'of requests of one name',
    put: {
      'spec.devices.requests': [
        { name: 'r', exactly: { deviceClassName: 'd' } },
        { name: 'r', exactly: { deviceClassName: 'd' } },
      ],
    },
    faults: ['spec.devices.requests[1]: Duplicate value: "r"'],
  },
  {
    of: 'deviceClaim',
    name: 'of too many requests',
    put: {
      'spec.devices.requests': [
        { name: 'r0', exactly: { deviceClassName: 'd' } },
        { name: 'r1', exactly: { deviceClassName: 'd' } },
        { name: 'r2', exactly: { deviceClassName: 'd' } },
        { name: 'r3', exactly: { deviceClassName: 'd' } },
        { name: 'r4', exactly: { deviceClassName: 'd' } },
        { name: 'r5', exactly: { deviceClassName: 'd' } },
        { name: 'r6', exactly: { deviceClassName: 'd' } },
        { name: 'r7', exactly: { deviceClassName: 'd' } },
        { name: 'r8', exactly: { deviceClassName: 'd' } },
        { name: 'r9', exactly: { deviceClassName: 'd' } },
        { name: 'r10', exactly: { deviceClassName: 'd' } },
        { name: 'r11', exactly: { deviceClassName: 'd' } },
        { name: 'r12', exactly: { deviceClassName: 'd' } },
        { name: 'r13', exactly: { deviceClassName: 'd' } },
        { name: 'r14', exactly: { deviceClassName: 'd' } },
        { name: 'r15', exactly: { deviceClassName: 'd' } },
        { name: 'r16', exactly: { deviceClassName: 'd' } },
        { name: 'r17', exactly: { deviceClassName: 'd' } },
        { name: 'r18', exactly: { deviceClassName: 'd' } },
        { name: 'r19', exactly: { deviceClassName: 'd' } },
        { name: 'r20', exactly: { deviceClassName: 'd' } },
        { name: 'r21', exactly: { deviceClassName: 'd' } },
        { name: 'r22', exactly: { deviceClassName: 'd' } },
        { name: 'r23', exactly: { deviceClassName: 'd' } },
        { name: 'r24', exactly: { deviceClassName: 'd' } },
        { name: 'r25', exactly: { deviceClassName: 'd' } },
        { name: 'r26', exactly: { deviceClassName: 'd' } },
        { name: 'r27', exactly: { deviceClassName: 'd' } },
        { name: 'r28', exactly: { deviceClassName: 'd' } },
        { name: 'r29', exactly: { deviceClassName: 'd' } },
        { name: 'r30', exactly: { deviceClassName: 'd' } },
        { name: 'r31', exactly: { deviceClassName: 'd' } },
        { name: 'r32', exactly: { deviceClassName: 'd' } },
      ],
    },
    faults: ['spec.devices.requests: Too many: 33: must have at most 32 items'],
  },
  {
    of: 'deviceClaim',
    name: 'of no class',
    put: {
      'spec.devices.requests': [
        { name: 'r', exactly: { deviceClassName: '' } },
        { name: 's', exactly: { deviceClassName: 'A' } },
      ],
    },
    faults: [
      'spec.devices.requests[0].exactly.deviceClassName: Required value',
      `spec.devices.requests[1].exactly.deviceClassName: Invalid value: "A": ${notSubdomain}`,
    ],
  },
  {
    of: 'deviceClaim',
    name: 'of unfit counts',
    put: {
      'spec.devices.requests': [
        { name: 'r', exactly: { deviceClassName: 'd', allocationMode: 'All', count: 1 } },
        { name: 's', exactly: { deviceClassName: 'd', allocationMode: 'ExactCount', count: -1 } },
        { name: 't', exactly: { deviceClassName: 'd', allocationMode: 'Some' } },
      ],
    },
    faults: [
      'spec.devices.requests[0].exactly.count: Invalid value: 1: must not be specified when ' +
        "allocationMode is 'All'",
      'spec.devices.requests[1].exactly.count: Invalid value: -1: must be greater than zero',
      'spec.devices.requests[2].exactly.allocationMode: Unsupported value: "Some": supported values: ' +
        '"All", "ExactCount"',
    ],
  },
  {
    of: 'deviceClaim',
    name: 'of unfit alternatives',
    put: {
      'spec.devices.requests': [
        {
          name: 'r',
          firstAvailable: [
            { name: 'A', deviceClassName: 'd' },
            { name: 'a', deviceClassName: '' },
            { name: 'a', deviceClassName: 'd', allocationMode: 'Some' },
          ],
        },
      ],
    },
    faults: [
      `spec.devices.requests[0].firstAvailable[0].name: Invalid value: "A": ${notLabel}`,
      'spec.devices.requests[0].firstAvailable[1].deviceClassName: Required value',
      'spec.devices.requests[0].firstAvailable[2].allocationMode: Unsupported value: "Some": supported ' +
        'values: "All", "ExactCount"',
      'spec.devices.requests[0].firstAvailable[2]: Duplicate value: "a"',
    ],
  },
  {
    of: 'deviceClaim',
    name: 'that tolerates what is no taint',
    put: {
      'spec.devices.requests': [
        {
          name: 'r',
          exactly: {
            deviceClassName: 'd',
            tolerations: [
              { key: 'a b', operator: 'Exists', value: 'v' },
              { key: 'k', operator: 'Equal', value: 'a b' },
              { key: 'k', operator: 'Some', effect: 'Any' },
            ],
          },
        },
      ],
    },
    faults: [
      `spec.devices.requests[0].exactly.tolerations[0].key: Invalid value: "a b": ${notQualified}`,
      'spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: "v": must be empty for ' +
        'operator `Exists`',
      `spec.devices.requests[0].exactly.tolerations[1].value: Invalid value: "a b": ${notLabelValue}`,
      'spec.devices.requests[0].exactly.tolerations[2].operator: Unsupported value: "Some": supported ' +
        'values: "Equal", "Exists"',
      'spec.devices.requests[0].exactly.tolerations[2].effect: Unsupported value: "Any": supported ' +
        'values: "NoExecute", "NoSchedule", "None"',
    ],
  },
  {
    of: 'deviceClaim',
    name: 'whose selectors are none',
    put: { 'spec.devices.requests': [{ name: 'r', exactly: { deviceClassName: 'd', selectors: [{}] } }] },
    faults: ['spec.devices.requests[0].exactly.selectors[0].cel: Required value'],
  },
  {
    of: 'deviceClaim',
    name: 'whose selector is too long',
    put: {
      'spec.devices.requests': [
        { name: 'r', exactly: { deviceClassName: 'd', selectors: [{ cel: { expression: 'x'.repeat(10_241) } }] } },
      ],
    },
    faults: [
      'spec.devices.requests[0].exactly.selectors[0].cel.expression: Too long: may not be more than 10240 bytes',
    ],
  },
  {
    of: 'deviceClaim',
    name: 'with a constraint on an attribute whose name is too long',
    put: { 'spec.devices.constraints': [{ matchAttribute: `a.io/${'x'.repeat(33)}` }] },
    faults: ['spec.devices.constraints[0].matchAttribute: Too long: may not be more than 32 bytes'],
  },
  {
    of: 'deviceClaim',
    name: 'with constraints on what it does not ask for',
    put: {
      'spec.devices.constraints': [
        { requests: ['x', 'r', 'r', 'a/b/c', 'r/A'] },
        { matchAttribute: 'a' },
        { matchAttribute: '/b c' },
        { distinctAttribute: 'A_/' },
      ],
    },
    faults: [
      'spec.devices.constraints[0].requests[0]: Invalid value: "x": must be the name of a request in ' +
        "the claim or the name of a request and a subrequest separated by '/'",
      'spec.devices.constraints[0].requests[3]: Invalid value: "a/b/c": must be the name of a request ' +
        "in the claim or the name of a request and a subrequest separated by '/'",
      `spec.devices.constraints[0].requests[4]: Invalid value: "A": ${notLabel}`,
      'spec.devices.constraints[0].requests[4]: Invalid value: "r/A": must be the name of a request in ' +
        "the claim or the name of a request and a subrequest separated by '/'",
      'spec.devices.constraints[0].requests[2]: Duplicate value: "r"',
      'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or ' +
        '"distinctAttribute" is required, but multiple fields are set',
      'spec.devices.constraints[1].matchAttribute: Invalid value: "a": a fully qualified name must be a ' +
        'domain and a name separated by a slash',
      'spec.devices.constraints[2].matchAttribute: Invalid value: "": the domain must not be empty',
      'spec.devices.constraints[2].matchAttribute: Invalid value: "b c": a valid C identifier must ' +
        "start with alphabetic character or '_', followed by a string of alphanumeric characters or " +
        "'_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is " +
        "'[A-Za-z_][A-Za-z0-9_]*')",
      `spec.devices.constraints[3].distinctAttribute: Invalid value: "A_": ${notSubdomain}`,
      'spec.devices.constraints[3].distinctAttribute: Invalid value: "": the name must not be empty',
    ],
  },
  {
    of: 'deviceClaim',
    name: 'whose configuration is none',
    put: {
      'spec.devices.config': [
        {},
        { requests: ['x'], opaque: { driver: '', parameters: [] } },
        { opaque: { driver: 'A_', parameters: null } },
      ],
    },
    faults: [
      'spec.devices.config[0].opaque: Required value',
      'spec.devices.config[1].requests[0]: Invalid value: "x": must be the name of a request in the ' +
        "claim or the name of a request and a subrequest separated by '/'",
      'spec.devices.config[1].opaque.driver: Required value',
      'spec.devices.config[1].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
      `spec.devices.config[2].opaque.driver: Invalid value: "A_": ${notSubdomain}`,
      'spec.devices.config[2].opaque.parameters: Required value',
    ],
  },
  {
    of: 'deviceClaim',
    name: 'whose configuration is too long',
    put: { 'spec.devices.config': [{ opaque: { driver: 'd', parameters: { a: 'x'.repeat(10 * 1024) } } }] },
    faults: ['spec.devices.config[0].opaque.parameters: Too long: may not be more than 10240 bytes'],
  },
  {
    of: 'deviceClaim',
    name: 'that asks for other devices afterwards',
    update: { 'spec.devices.requests[0].exactly.deviceClassName': 'e' },
    faults: [
      'spec: Invalid value: {"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"e","alloc' +
        'ationMode":"ExactCount","count":1}}]}}: field is immutable',
    ],
  },
  {
    of: 'deviceClaimTemplate',
    name: 'whose claims ask for other devices afterwards',
    update: { 'spec.spec.devices.requests[0].exactly.deviceClassName': 'e' },
    faults: [
      'spec: Invalid value: {"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"e","alloc' +
        'ationMode":"ExactCount","count":1}}]}},"metadata":{}}: field is immutable',
    ],
  },
  {
    of: 'deviceClaimTemplate',
    name: 'of unfit labels',
    put: {
      'spec.metadata': { labels: { 'a b': 'c' }, annotations: { 'd e': 'f' } },
      'spec.spec.devices.requests': [{ name: 'r' }],
    },
    faults: [
      `spec.metadata.annotations: Invalid value: "d e": ${notQualified}`,
      `spec.metadata.labels: Invalid value: "a b": ${notQualified}`,
      'spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required',
    ],
  },
  {
    of: 'deviceClass',
    name: 'that chooses and configures nothing',
    put: {
      spec: { selectors: [{}], config: [{}, { opaque: { driver: '', parameters: 'x' } }], extendedResourceName: 'cpu' },
    },
    faults: [
      'spec.selectors[0].cel: Required value',
      'spec.config[0].opaque: Required value',
      'spec.config[1].opaque.driver: Required value',
      'spec.config[1].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
      'spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name',
    ],
  },
]

describeFaults('of claims of devices and their classes', rows)
