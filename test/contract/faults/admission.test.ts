/** What is refused of webhooks and policies of admission. Each whole. */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notDns1035, notQualified, notSubdomain } from '../../support/name-faults.ts'

const annotations = Array.from({ length: 21 }, (_, i) => ({ key: `k${i}`, valueExpression: "'v'" }))
const annotationsInGo = annotations.map(({ key, valueExpression }) => ({ Key: key, ValueExpression: valueExpression }))

const rows: readonly FaultRow[] = [
  {
    of: 'policy',
    name: 'that notes too much',
    put: { 'spec.auditAnnotations': annotations },
    faults: [
      `spec.auditAnnotations: Invalid value: ${JSON.stringify(annotationsInGo)}: must not have more than 20 ` +
        'auditAnnotations',
    ],
  },
  {
    of: 'policy',
    name: 'that notes something and has no name',
    put: { 'metadata.name': '', 'spec.auditAnnotations': annotations.slice(0, 1) },
    faults: [
      'metadata.name: Required value: name or generateName is required',
      'spec.auditAnnotations[0].key: Invalid value: "k0": requires metadata.name be non-empty',
    ],
  },
  {
    of: 'validatingWebhook',
    name: 'without a name, and what must be chosen',
    put: { 'webhooks[0].name': '', 'webhooks[0].sideEffects': undefined, 'webhooks[0].admissionReviewVersions': [] },
    faults: [
      'webhooks[0].name: Required value',
      'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
      'webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
    ],
  },
  {
    of: 'validatingWebhook',
    name: 'with a name that is no domain',
    put: { 'webhooks[0].name': 'A.ex.io' },
    faults: [`webhooks[0].name: Invalid value: "A.ex.io": ${notSubdomain}`],
  },
  {
    of: 'validatingWebhook',
    name: 'with a name of two segments',
    put: { 'webhooks[0].name': 'ex.io' },
    faults: [
      'webhooks[0].name: Invalid value: "ex.io": should be a domain with at least three segments separated by dots',
    ],
  },
  {
    of: 'validatingWebhook',
    name: 'with choices that there are not',
    put: {
      'webhooks[0].failurePolicy': 'Some',
      'webhooks[0].matchPolicy': 'Some',
      'webhooks[0].sideEffects': 'Some',
      'webhooks[0].timeoutSeconds': 31,
      'webhooks[0].admissionReviewVersions': ['V1', 'v2', 'v2'],
    },
    faults: [
      'webhooks[0].failurePolicy: Unsupported value: "Some": supported values: "Fail", "Ignore"',
      'webhooks[0].matchPolicy: Unsupported value: "Some": supported values: "Equivalent", "Exact"',
      'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
      'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
      `webhooks[0].admissionReviewVersions[0]: Invalid value: "V1": ${notDns1035}`,
      'webhooks[0].admissionReviewVersions[2]: Invalid value: "v2": duplicate version',
      'webhooks[0].admissionReviewVersions: Invalid value: ["V1","v2","v2"]: must include at least one of v1, v1beta1',
    ],
  },
  {
    of: 'validatingWebhook',
    name: 'with a timeout of nothing',
    put: { 'webhooks[0].timeoutSeconds': 0 },
    faults: ['webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds'],
  },
  {
    of: 'validatingWebhook',
    name: 'with selectors that can not be read',
    put: {
      'webhooks[0].namespaceSelector': { matchExpressions: [{ key: 'a', operator: 'In' }] },
      'webhooks[0].objectSelector': { matchLabels: { 'a b': 'c' } },
    },
    faults: [
      'webhooks[0].namespaceSelector.matchExpressions[0].values: Required value: must be specified when ' +
        "`operator` is 'In' or 'NotIn'",
      `webhooks[0].objectSelector.matchLabels: Invalid value: "a b": ${notQualified}`,
    ],
  },
  {
    of: 'validatingWebhook',
    name: 'with an address that can not be read',
    put: { 'webhooks[0].clientConfig': { url: 'https://[h' } },
    faults: [
      'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://[h": missing ' +
        `']' in host; desired format: https://host[/path]`,
    ],
  },
  {
    of: 'validatingWebhook',
    name: 'of two that can not be told apart',
    put: {
      'webhooks[1]': {
        name: 'a.ex.io',
        clientConfig: { url: 'https://h/x' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    },
    faults: ['webhooks[1].name: Duplicate value: "a.ex.io"'],
  },
  {
    of: 'validatingWebhook',
    name: 'with conditions that can not be told apart',
    put: {
      'webhooks[0].matchConditions': [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: 'true' },
      ],
    },
    faults: ['webhooks[0].matchConditions[1].name: Duplicate value: "a"'],
  },
  {
    of: 'validatingWebhook',
    name: 'with conditions that are none',
    put: {
      'webhooks[0].matchConditions': [
        { name: '', expression: ' ' },
        { name: 'a b', expression: 'object.' },
        { name: 'c', expression: '1' },
      ],
    },
    faults: [
      'webhooks[0].matchConditions[0].expression: Required value',
      'webhooks[0].matchConditions[0].name: Required value',
      'webhooks[0].matchConditions[1].expression: Invalid value: "object.": compilation failed: ERROR: ' +
        "<input>:1:8: Syntax error: mismatched input '<EOF>' expecting an identifier\n | object.\n | .......^",
      `webhooks[0].matchConditions[1].name: Invalid value: "a b": ${notQualified}`,
      'webhooks[0].matchConditions[2].expression: Invalid value: "1": must evaluate to bool but got int',
    ],
  },
  {
    of: 'validatingWebhook',
    name: 'with more than 64 conditions',
    put: {
      'webhooks[0].matchConditions': Array.from({ length: 65 }, (_, i) => ({ name: `p${i}`, expression: 'true' })),
    },
    faults: ['webhooks[0].matchConditions: Too many: 65: must have at most 64 items'],
  },
  {
    of: 'validatingWebhook',
    name: 'with rules about nothing',
    put: { 'webhooks[0].rules[0]': { apiGroups: [], apiVersions: [], operations: [], resources: [] } },
    faults: [
      'webhooks[0].rules[0].operations: Required value',
      'webhooks[0].rules[0].apiGroups: Required value',
      'webhooks[0].rules[0].apiVersions: Required value',
      'webhooks[0].rules[0].resources: Required value',
    ],
  },
  {
    of: 'validatingWebhook',
    name: 'with rules about everything and more',
    put: {
      'webhooks[0].rules[0]': {
        apiGroups: ['*', 'a'],
        apiVersions: ['*', ''],
        operations: ['*', 'Some'],
        resources: ['*', 'pods'],
        scope: 'Some',
      },
    },
    faults: [
      'webhooks[0].rules[0].operations: Invalid value: ["*","Some"]: if \'*\' is present, must not specify ' +
        'other operations',
      'webhooks[0].rules[0].operations[1]: Unsupported value: "Some": supported values: "*", "CONNECT", ' +
        '"CREATE", "DELETE", "UPDATE"',
      'webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other ' +
        'API groups',
      'webhooks[0].rules[0].apiVersions: Invalid value: ["*",""]: if \'*\' is present, must not specify ' +
        'other API versions',
      'webhooks[0].rules[0].apiVersions[1]: Required value',
      'webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify ' +
        'other resources without subresources',
      'webhooks[0].rules[0].scope: Unsupported value: "Some": supported values: "*", "Cluster", "Namespaced"',
    ],
  },
  {
    of: 'validatingWebhook',
    name: 'with rules about resources that others cover',
    put: { 'webhooks[0].rules[0].resources': ['', 'pods/*', 'pods/log', '*/scale', 'deployments/scale'] },
    faults: [
      'webhooks[0].rules[0].resources[0]: Required value',
      'webhooks[0].rules[0].resources[2]: Invalid value: "pods/log": if \'pods/*\' is present, must not ' +
        'specify pods/log',
      'webhooks[0].rules[0].resources[4]: Invalid value: "deployments/scale": if \'*/scale\' is present, ' +
        'must not specify deployments/scale',
    ],
  },
  {
    of: 'validatingWebhook',
    name: 'with rules about all sub-resources and more',
    put: { 'webhooks[0].rules[0].resources': ['*/*', 'pods'] },
    faults: [
      'webhooks[0].rules[0].resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not ' +
        'specify other resources',
    ],
  },
  {
    of: 'mutatingWebhook',
    name: 'with a reinvocation that there is not',
    put: { 'webhooks[0].reinvocationPolicy': 'Some' },
    faults: ['webhooks[0].reinvocationPolicy: Unsupported value: "Some": supported values: "IfNeeded", "Never"'],
  },
  {
    of: 'policy',
    name: 'that demands nothing of nobody',
    put: { spec: { failurePolicy: 'Some' } },
    faults: [
      'spec.failurePolicy: Unsupported value: "Some": supported values: "Fail", "Ignore"',
      'spec.matchConstraints: Required value',
      'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
      'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
    ],
  },
  {
    of: 'policy',
    name: 'without rules',
    put: { 'spec.matchConstraints': { matchPolicy: 'Some' } },
    faults: [
      'spec.matchConstraints.matchPolicy: Unsupported value: "Some": supported values: "Equivalent", "Exact"',
      'spec.matchConstraints.resourceRules: Required value',
    ],
  },
  {
    of: 'policy',
    name: 'with parameters of no kind',
    put: { 'spec.paramKind': { apiVersion: '', kind: '' } },
    faults: ['spec.paramKind.apiVersion: Required value', 'spec.paramKind.kind: Required value'],
  },
  {
    of: 'policy',
    name: 'with parameters of a kind that can not be read',
    put: { 'spec.paramKind': { apiVersion: 'a/b/c', kind: 'A_b' } },
    faults: [
      'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      `spec.paramKind.kind: Invalid value: "A_b": may have mixed case, but should otherwise match: ${notDns1035}`,
    ],
  },
  {
    of: 'policy',
    name: 'with parameters of a group and version that are none',
    put: { 'spec.paramKind': { apiVersion: 'A_/V1.0', kind: 'A' } },
    faults: [
      `spec.paramKind.apiVersion: Invalid value: "A_": ${notSubdomain}`,
      `spec.paramKind.apiVersion: Invalid value: "V1.0": ${notDns1035}`,
    ],
  },
  {
    of: 'policy',
    name: 'with parameters of no version',
    put: { 'spec.paramKind': { apiVersion: 'a/', kind: 'A' } },
    faults: ['spec.paramKind.apiVersion: Invalid value: "a/": version must be specified'],
  },
  {
    of: 'policy',
    name: 'of names that are none or the same',
    put: { 'spec.matchConstraints.resourceRules[0].resourceNames': ['a/b', 'c', 'c'] },
    faults: [
      'spec.matchConstraints.resourceRules[0].resourceNames[0]: Invalid value: "a/b": may not contain \'/\'',
      'spec.matchConstraints.resourceRules[0].resourceNames[2]: Duplicate value: "c"',
    ],
  },
  {
    of: 'policy',
    name: 'with expressions that say nothing',
    put: { 'spec.validations': [{ expression: ' ', messageExpression: ' ', message: ' ', reason: 'Some' }] },
    faults: [
      'spec.validations[0].expression: Required value: expression is not specified',
      'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
      'spec.validations[0].message: Invalid value: " ": message must be non-empty if specified',
      'spec.validations[0].reason: Unsupported value: "Some": supported values: "Forbidden", "Invalid", ' +
        '"RequestEntityTooLarge", "Unauthorized"',
    ],
  },
  {
    of: 'policy',
    name: 'with expressions that can not be read',
    put: { 'spec.validations': [{ expression: 'object.', messageExpression: '1', message: 'a\nb' }] },
    faults: [
      'spec.validations[0].expression: Invalid value: "object.": compilation failed: ERROR: <input>:1:8: ' +
        "Syntax error: mismatched input '<EOF>' expecting an identifier\n | object.\n | .......^",
      'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
      'spec.validations[0].message: Invalid value: "a\\nb": message must not contain line breaks',
    ],
  },
  {
    of: 'policy',
    name: 'with variables that are none',
    put: {
      'spec.variables': [
        { name: ' ', expression: ' ' },
        { name: 'for', expression: '1' },
        { name: 'a', expression: 'b' },
      ],
    },
    faults: [
      'spec.variables[0].name: Required value: name is not specified',
      'spec.variables[0].expression: Required value: expression is not specified',
      'spec.variables[1].name: Invalid value: "for": name is not a valid CEL identifier',
      'spec.variables[2].expression: Invalid value: "b": compilation failed: ERROR: <input>:1:1: ' +
        "undeclared reference to 'b' (in container '')\n | b\n | ^",
    ],
  },
  {
    of: 'policy',
    name: 'with conditions that are none',
    put: { 'spec.matchConditions': [{ name: 'a', expression: 'params.x' }] },
    faults: [
      'spec.matchConditions[0].expression: Invalid value: "params.x": compilation failed: ERROR: ' +
        "<input>:1:1: undeclared reference to 'params' (in container '')\n | params.x\n | ^",
    ],
  },
  {
    of: 'policy',
    name: 'with annotations that say nothing',
    put: {
      'spec.auditAnnotations': [
        { key: 'a', valueExpression: ' ' },
        { key: 'a b', valueExpression: '"x"' },
        { key: 'a', valueExpression: '1' },
      ],
    },
    faults: [
      'spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified',
      `spec.auditAnnotations[1].key: Invalid value: "x/a b": ${notQualified}`,
      'spec.auditAnnotations[2].valueExpression: Invalid value: "1": must evaluate to one of [string null] but got int',
      'spec.auditAnnotations[2].key: Duplicate value: "a"',
    ],
  },
  {
    of: 'policy',
    name: 'with an annotation that is too long',
    put: { 'spec.auditAnnotations': [{ key: 'a', valueExpression: `"${'x'.repeat(5200)}"` }] },
    faults: ['spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes in length'],
  },
  {
    of: 'policyBinding',
    name: 'to no policy, with no action',
    put: { spec: { policyName: '' } },
    faults: [
      'spec.policyName: Required value',
      'spec.validationActions: Required value: at least one validation action is required',
    ],
  },
  {
    of: 'policyBinding',
    name: 'with actions that there are not',
    put: { 'spec.policyName': 'A b', 'spec.validationActions': ['Some', 'Deny', 'Deny'] },
    faults: [
      `spec.policyName: Invalid value: "A b": ${notSubdomain}`,
      'spec.validationActions[0]: Unsupported value: "Some": supported values: "Audit", "Deny", "Warn"',
      'spec.validationActions[2]: Duplicate value: "Deny"',
    ],
  },
  {
    of: 'policyBinding',
    name: 'that denies and warns',
    put: { 'spec.validationActions': ['Deny', 'Warn'] },
    faults: [
      'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn ' +
        '(repeating the same validation failure information in the API response and headers serves no purpose)',
    ],
  },
  {
    of: 'policyBinding',
    name: 'with parameters that are not named',
    put: { 'spec.paramRef': {} },
    faults: [
      'spec.paramRef: Required value: one of name or selector must be specified',
      'spec.paramRef.parameterNotFoundAction: Required value',
    ],
  },
  {
    of: 'policyBinding',
    name: 'with parameters that are named and selected',
    put: {
      'spec.paramRef': { name: 'a/b', selector: { matchLabels: { 'a b': 'c' } }, parameterNotFoundAction: 'Some' },
    },
    faults: [
      'spec.paramRef.name: Invalid value: "a/b": may not contain \'/\'',
      'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
      `spec.paramRef.selector.matchLabels: Invalid value: "a b": ${notQualified}`,
      'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.parameterNotFoundAction: Unsupported value: "Some": supported values: "Deny", "Allow"',
    ],
  },
  {
    of: 'policyBinding',
    name: 'with a match that can not be read',
    put: { 'spec.matchResources': { matchPolicy: 'Some', namespaceSelector: { matchLabels: { 'a b': 'c' } } } },
    faults: [
      'spec.matchResouces.matchPolicy: Unsupported value: "Some": supported values: "Equivalent", "Exact"',
      `spec.matchResouces.namespaceSelector.matchLabels: Invalid value: "a b": ${notQualified}`,
    ],
  },
  {
    of: 'mutatingPolicy',
    name: 'that changes nothing',
    put: { 'spec.mutations': [], 'spec.reinvocationPolicy': 'Some' },
    faults: [
      'spec.mutations: Required value: mutations must contain at least one item',
      'spec.reinvocationPolicy: Unsupported value: "Some": supported values: "IfNeeded", "Never"',
    ],
  },
  {
    of: 'mutatingPolicy',
    name: 'without a reinvocation',
    put: { 'spec.reinvocationPolicy': '' },
    faults: ['spec.reinvocationPolicy: Required value'],
  },
  {
    of: 'mutatingPolicy',
    name: 'of what is deleted',
    put: { 'spec.matchConstraints.resourceRules[0].operations': ['DELETE'] },
    faults: [
      'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", ' +
        '"CONNECT", "CREATE", "UPDATE"',
    ],
  },
  {
    of: 'mutatingPolicy',
    name: 'with mutations of no type',
    put: {
      'spec.mutations': [
        { patchType: '' },
        { patchType: 'Some' },
        { patchType: 'JSONPatch' },
        { patchType: 'JSONPatch', jsonPatch: { expression: ' ' }, applyConfiguration: { expression: 'Object{}' } },
        { patchType: 'JSONPatch', jsonPatch: { expression: '1' } },
      ],
    },
    faults: [
      'spec.mutations[0].patchType: Required value',
      'spec.mutations[1].patchType: Unsupported value: "Some": supported values: "ApplyConfiguration", "JSONPatch"',
      'spec.mutations[2].jsonPatch: Required value: must be specified when patchType is JSONPatch',
      'spec.mutations[3].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified ' +
        'when patchType is JSONPatch',
      'spec.mutations[3].jsonPatch.expression: Required value',
      'spec.mutations[4].jsonPatch.expression: Invalid value: "1": must evaluate to list(JSONPatch) but got int',
    ],
  },
  {
    of: 'mutatingBinding',
    name: 'to no policy',
    put: { 'spec.policyName': '' },
    faults: ['spec.policyName: Required value'],
  },
  {
    of: 'mutatingBinding',
    name: 'of what is deleted',
    put: {
      'spec.matchResources': {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['pods'] }],
      },
    },
    faults: [
      'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", ' +
        '"CONNECT", "CREATE", "UPDATE"',
    ],
  },
  {
    of: 'mutatingBinding',
    name: 'with parameters that are not named',
    put: { 'spec.paramRef': {} },
    faults: [
      'spec.paramRef: Required value: one of name or selector must be specified',
      'spec.paramRef.parameterNotFoundAction: Required value',
    ],
  },
]

describeFaults('of what admits requests', rows)
