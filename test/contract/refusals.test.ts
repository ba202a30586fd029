/**
 * Refusals in full: every field of the Status that a client sees where nothing else asserts it. Nothing here may change
 * anything that another row is about.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Status, StatusDetails } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install, objectOf } from '../support/definitions.ts'
import { notQualified } from '../support/name-faults.ts'
import { invalidObject } from '../support/refusal.ts'
import { type Sent, send } from '../support/send.ts'
import { Wire } from '../support/wire.ts'

let plane: TestControlPlane

const core = '/api/v1/namespaces/default'
const maps = `${core}/configmaps`
const pods = `${core}/pods`
const deployments = '/apis/apps/v1/namespaces/default/deployments'
/** Is priced below what is allowed, and costs more when it is evaluated. */
const dearMessage = "self.all(a, self.all(b, true)) ? 'x' : 'y'"
const widgets = '/apis/ex.io/v1/namespaces/default/widgets'

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  const wire = new Wire(plane)
  await wire.must('POST', maps, { metadata: { name: 'a' }, data: { k: 'v' } })
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'c' }] } }
  const selector = { matchLabels: { a: 'b' } }
  await wire.must('POST', deployments, { metadata: { name: 'd' }, spec: { selector, template } })
  for (const name of ['free', 'bound', 'going']) {
    const metadata = { name, labels: { app: name }, finalizers: ['ex.io/held'] }
    await wire.must('POST', pods, { metadata, spec: template.spec })
  }
  await wire.must('POST', pods, { metadata: { name: 'guarded', labels: { app: 'guarded' } }, spec: template.spec })
  for (const name of ['bound', 'guarded']) {
    await wire.must('POST', `${pods}/${name}/binding`, { metadata: { name }, target: { kind: 'Node', name: 'n' } })
    await wire.must('PATCH', `${pods}/${name}/status`, { status: { phase: 'Running' } }, 'application/merge-patch+json')
  }
  await wire.must('DELETE', `${pods}/going`, { gracePeriodSeconds: 0 })
  for (const name of ['one', 'two']) {
    const budget = { metadata: { name }, spec: { minAvailable: 0, selector: { matchLabels: { app: 'bound' } } } }
    await wire.must('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', budget)
  }
  await wire.must('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    metadata: { name: 'new' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
  })
  const schema = objectOf(
    {
      part: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      many: {
        type: 'array',
        maxItems: 1000,
        items: { type: 'string', maxLength: 1 },
        'x-kubernetes-validations': [{ rule: 'self.size() < 9', messageExpression: dearMessage }],
      },
    },
    { 'x-kubernetes-preserve-unknown-fields': true },
  )
  await install(plane, definition({ schema, version: { subresources: { status: {} } } }))
  await wire.must('POST', widgets, { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'there' } })
})
afterAll(() => plane[Symbol.asyncDispose]())

interface Row {
  readonly name: string
  readonly given: string
  readonly sent?: Omit<Sent, 'method'>
  readonly code: number
  readonly reason?: string
  readonly message: string | RegExp
  readonly details?: StatusDetails
}

const applyType = 'application/apply-patch+yaml'
const apply = (body: unknown): Omit<Sent, 'method'> => ({ body, type: applyType })
const map = (more: object = {}): object => ({ apiVersion: 'v1', kind: 'ConfigMap', ...more })
const at = `PATCH ${maps}/a?fieldManager=m`
const badRequest = { code: 400, reason: 'BadRequest' } as const
const notAllowed = {
  code: 405,
  reason: 'MethodNotAllowed',
  message: 'the server does not allow this method on the requested resource',
  details: {},
} as const
const nowhere = {
  code: 404,
  reason: 'NotFound',
  message: 'the server could not find the requested resource',
  details: {},
} as const
const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'none', namespace: 'default' } }
const noDeployment = {
  code: 404,
  reason: 'NotFound',
  message: 'deployments.apps "none" not found',
  details: { name: 'none', group: 'apps', kind: 'deployments' },
} as const
const tooLarge = { code: 413, reason: 'RequestEntityTooLarge' } as const
const badPatch = (shown: string, problem: string): Pick<Row, 'code' | 'reason' | 'message' | 'details'> => {
  const message = `Invalid value: ${JSON.stringify(shown)}: ${problem}`
  return {
    code: 422,
    reason: 'Invalid',
    message: ` "" is invalid: patch: ${message}`,
    details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
  }
}
const jsonPatch = (body: unknown): Omit<Sent, 'method'> => ({ body, type: 'application/json-patch+json' })
const mergePatch = (body: unknown): Omit<Sent, 'method'> => ({ body, type: 'application/merge-patch+json' })
const strategicPatch = (body: unknown): Omit<Sent, 'method'> => ({
  body,
  type: 'application/strategic-merge-patch+json',
})
const notSupported = (verb: string): Pick<Row, 'code' | 'reason' | 'message' | 'details'> => ({
  code: 405,
  reason: 'MethodNotAllowed',
  message: `${verb} is not supported on resources of kind "widgets.ex.io"`,
  details: { group: 'ex.io', kind: 'widgets' },
})
const widget = { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'w' } }
const tooDear =
  'Invalid value: "array": no further validation rules will be run due to call cost exceeds limit for ' +
  `messageExpression: "${dearMessage}"`
/** 422 about an object. */
const refused = (...given: Parameters<typeof invalidObject>): Pick<Row, 'code' | 'reason' | 'message' | 'details'> => {
  const { message = '', reason, details } = invalidObject(...given)
  return { code: 422, message, ...(reason ? { reason } : {}), ...(details ? { details } : {}) }
}
const noName = 'metadata.managedFields must be nil'
const deleteOptions = (options: object): Omit<Sent, 'method'> => ({ body: options })

const rows: readonly Row[] = [
  {
    name: 'an apply of something that is no object',
    given: at,
    sent: apply('- a'),
    ...badRequest,
    message: 'error decoding YAML: an apply patch must be an object',
  },
  {
    name: 'an apply of what may not be there',
    given: at,
    sent: { ...apply(map({ metadata: { name: 'a' } })), headers: { 'if-none-match': '*' } },
    code: 409,
    reason: 'AlreadyExists',
    message: 'configmaps "a" already exists',
    details: { name: 'a', kind: 'configmaps' },
  },
  {
    name: 'an apply without kind',
    given: at,
    sent: apply({ apiVersion: 'v1' }),
    ...badRequest,
    message: "Object 'Kind' or 'apiVersion' is missing in the apply patch",
  },
  {
    name: 'an apply of another version',
    given: at,
    sent: apply({ ...map(), apiVersion: 'v2' }),
    ...badRequest,
    message: 'Incorrect version specified in apply patch. Specified patch version: v2, expected: v1',
  },
  {
    name: 'an apply with managedFields',
    given: at,
    sent: apply(map({ metadata: { managedFields: [] } })),
    ...badRequest,
    message: noName,
  },
  {
    name: 'an apply of another name than the URL says',
    given: at,
    sent: apply(map({ metadata: { name: 'b' } })),
    ...badRequest,
    message: 'the name of the object (b) does not match the name on the URL (a)',
  },
  {
    name: 'an apply to another namespace than the URL says',
    given: at,
    sent: apply(map({ metadata: { name: 'a', namespace: 'other' } })),
    ...badRequest,
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  },
  {
    name: 'an apply that would create something without saying its name',
    given: `PATCH ${maps}/new?fieldManager=m`,
    sent: apply(map()),
    ...badRequest,
    message: 'the name of the object (new based on URL) was undeterminable: name must be provided',
  },
  {
    name: 'a strategic merge patch that makes no object of the kind: the patch is shown, not the object',
    given: `PATCH ${deployments}/d`,
    sent: { body: { spec: { replicas: 'x' } }, type: 'application/strategic-merge-patch+json' },
    code: 422,
    reason: 'Invalid',
    message: ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:x]]": cannot convert string to int32',
    details: {
      causes: [
        {
          reason: 'FieldValueInvalid',
          message: 'Invalid value: "map[spec:map[replicas:x]]": cannot convert string to int32',
          field: 'patch',
        },
      ],
    },
  },
  {
    name: 'a continue token that is no JSON',
    given: `GET ${maps}?continue=abc`,
    ...badRequest,
    message: "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value",
  },
  {
    name: 'an apply to the status of what is not there',
    given: `PATCH ${deployments}/none/status?fieldManager=m`,
    sent: apply({ apiVersion: 'apps/v1', kind: 'Deployment', status: { replicas: 1 } }),
    ...noDeployment,
  },
  {
    name: 'an apply to the scale of what is not there',
    given: `PATCH ${deployments}/none/scale?fieldManager=m`,
    sent: apply({ ...scale, spec: { replicas: 1 } }),
    ...noDeployment,
  },
  {
    name: 'an apply to a scale that is no object',
    given: `PATCH ${deployments}/d/scale?fieldManager=m`,
    sent: apply('[]'),
    ...badRequest,
    message: 'error decoding YAML: an apply patch must be an object',
  },
  {
    name: 'an apply of another kind to a scale',
    given: `PATCH ${deployments}/d/scale?fieldManager=m`,
    sent: apply({ apiVersion: 'apps/v1', kind: 'Deployment' }),
    ...badRequest,
    message: 'invalid object type: apps/v1, Kind=Deployment',
  },
  {
    name: 'PUT of the scale of what is not there',
    given: `PUT ${deployments}/none/scale`,
    sent: { body: scale },
    ...noDeployment,
  },
  {
    name: 'a merge patch of what is not there',
    given: `PATCH ${deployments}/none`,
    sent: { body: {}, type: 'application/merge-patch+json' },
    ...noDeployment,
  },
  {
    name: 'a JSON patch that makes a list of the object',
    given: `PATCH ${maps}/a`,
    sent: jsonPatch([{ op: 'replace', path: '', value: [] }]),
    ...badPatch(
      '[]',
      `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ` +
        `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" ` +
        '}',
    ),
  },
  {
    name: 'a JSON patch that makes another kind of the object',
    given: `PATCH ${maps}/a`,
    sent: jsonPatch([{ op: 'replace', path: '', value: { kind: 'Secret', apiVersion: 'v1' } }]),
    ...badPatch('{"kind":"Secret","apiVersion":"v1"}', 'kind and apiVersion must stay ConfigMap and v1'),
  },
  {
    name: 'a patch that makes another kind of a custom resource',
    given: `PATCH ${widgets}/there`,
    sent: mergePatch({ kind: 'Gadget', apiVersion: 'ex.io/v2' }),
    code: 422,
    reason: 'Invalid',
    message:
      'Gadget.ex.io "there" is invalid: [kind: Invalid value: "Gadget": must be Widget, apiVersion: Invalid ' +
      'value: "ex.io/v2": must be ex.io/v1]',
    details: {
      name: 'there',
      group: 'ex.io',
      kind: 'Gadget',
      causes: [
        { reason: 'FieldValueInvalid', message: 'Invalid value: "Gadget": must be Widget', field: 'kind' },
        { reason: 'FieldValueInvalid', message: 'Invalid value: "ex.io/v2": must be ex.io/v1', field: 'apiVersion' },
      ],
    },
  },
  {
    name: 'a patch that takes the kind from a custom resource',
    given: `PATCH ${widgets}/there`,
    sent: jsonPatch([{ op: 'replace', path: '', value: { apiVersion: 'ex.io/v1' } }]),
    ...badPatch('{"apiVersion":"ex.io/v1"}', `Object 'Kind' is missing in '{"apiVersion":"ex.io/v1"}'`),
  },
  ...(
    [
      [1, 'number'],
      ['a', 'string'],
      [true, 'bool'],
      [[], 'array'],
    ] as const
  ).map(
    ([patch, type]): Row => ({
      name: `a strategic merge patch that is no object but of type ${type}`,
      given: `PATCH ${maps}/a`,
      sent: strategicPatch(JSON.stringify(patch)),
      ...badRequest,
      message: `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
    }),
  ),
  {
    name: 'a strategic merge patch that orders what it gives as no list',
    given: `PATCH ${maps}/a`,
    sent: strategicPatch({ metadata: { finalizers: 'x', '$setElementOrder/finalizers': ['a'] } }),
    ...badRequest,
    message: 'expected a []interface {}, but received a string',
  },
  {
    name: 'a strategic merge patch that orders maps by what is no map',
    given: `PATCH ${deployments}/d`,
    sent: strategicPatch({
      spec: { template: { spec: { containers: [{ name: 'c' }], '$setElementOrder/containers': ['c'] } } },
    }),
    ...badRequest,
    message: 'expected a map[string]interface {}, but received a string',
  },
  {
    name: 'a list merged by a directive that is none',
    given: `PATCH ${deployments}/d`,
    sent: {
      body: { spec: { template: { spec: { containers: [{ name: 'c', $patch: 'turn' }] } } } },
      type: 'application/strategic-merge-patch+json',
    },
    ...badRequest,
    message: 'unknown patch type: turn in map: map[$patch:turn name:c]',
  },
  {
    name: 'a list merged by the directive that upstream has not built',
    given: `PATCH ${deployments}/d`,
    sent: {
      body: { spec: { template: { spec: { containers: [{ name: 'c', $patch: 'merge' }] } } } },
      type: 'application/strategic-merge-patch+json',
    },
    ...badRequest,
    message: 'merging lists cannot yet be specified in the patch',
  },
  {
    name: 'PUT with a resourceVersion that is no number',
    given: `PUT ${maps}/a`,
    sent: { body: map({ metadata: { name: 'a', resourceVersion: 'x' } }) },
    code: 422,
    reason: 'Invalid',
    message: 'ConfigMap "a" is invalid: metadata.resourceVersion: Invalid value: "x": must be a decimal number',
    details: {
      name: 'a',
      kind: 'ConfigMap',
      causes: [
        {
          reason: 'FieldValueInvalid',
          message: 'Invalid value: "x": must be a decimal number',
          field: 'metadata.resourceVersion',
        },
      ],
    },
  },
  {
    name: 'an object that grows beyond what a key may hold',
    given: `PATCH ${widgets}/w?fieldManager=m`,
    sent: apply({
      apiVersion: 'ex.io/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
      spec: { text: 'x'.repeat(1_600_000) },
    }),
    ...tooLarge,
    message: /^Request entity too large: limit is [0-9]+$/,
  },
  {
    name: 'a body that is not UTF-8',
    given: `POST ${maps}`,
    sent: { body: new Uint8Array([0x7b, 0xff, 0x7d]) },
    ...badRequest,
    message: 'the body of the request is not valid UTF-8',
  },
  {
    name: 'a custom resource without apiVersion',
    given: `POST ${widgets}`,
    sent: { body: { kind: 'Widget', metadata: { name: 'w' } } },
    ...badRequest,
    message: 'the API version in the data () does not match the expected API version (ex.io/v1)',
  },
  {
    name: 'a custom resource with a part whose metadata are none',
    given: `POST ${widgets}`,
    sent: { body: { ...widget, part: { apiVersion: 'v1', kind: 'Pod', metadata: 'x' } } },
    ...badRequest,
    message:
      'Widget in version "v1" cannot be handled as a Widget: part.metadata: Invalid value: "x": json: cannot ' +
      'unmarshal string into Go value of type v1.ObjectMeta',
  },
  {
    name: 'a custom resource about which saying what is wrong costs too much',
    given: `POST ${widgets}`,
    sent: { body: { ...widget, many: Array(1000).fill('x') } },
    code: 422,
    reason: 'Invalid',
    message: `Widget.ex.io "w" is invalid: many: ${tooDear}`,
    details: {
      name: 'w',
      group: 'ex.io',
      kind: 'Widget',
      causes: [{ reason: 'FieldValueInvalid', message: tooDear, field: 'many' }],
    },
  },
  {
    name: 'DELETE with a body that is no object',
    given: `DELETE ${maps}/a`,
    sent: deleteOptions([]),
    ...badRequest,
    message: 'the body of a DELETE must be a DeleteOptions object',
  },
  {
    name: 'DELETE with options of the wrong type',
    given: `DELETE ${maps}/a`,
    sent: deleteOptions({ gracePeriodSeconds: '5' }),
    ...badRequest,
    message: 'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
  },
  {
    name: 'a review for another namespace than the URL says',
    given: 'POST /apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews',
    sent: {
      body: { metadata: { namespace: 'other' }, spec: { user: 'u', resourceAttributes: { namespace: 'default' } } },
    },
    ...badRequest,
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  },
  {
    name: 'GET of what only answers',
    given: 'GET /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    ...notAllowed,
  },
  { name: 'a cluster-scoped kind in a namespace', given: `GET ${core}/nodes`, ...nowhere },
  { name: 'an object of a namespaced kind without its namespace', given: 'GET /api/v1/configmaps/a', ...nowhere },
  {
    name: 'a review of a namespace without the namespace',
    given: 'POST /apis/authorization.k8s.io/v1/localsubjectaccessreviews',
    sent: { body: { spec: { user: 'u' } } },
    ...nowhere,
  },
  { name: 'a token of no namespace', given: 'POST /api/v1/serviceaccounts/a/token', sent: { body: {} }, ...nowhere },
  {
    name: 'a namespace with finalizers that are none',
    given: 'POST /api/v1/namespaces',
    sent: { body: { metadata: { name: 'held' }, spec: { finalizers: ['a b'] } } },
    ...refused({ kind: 'Namespace', name: 'held' }, [
      `spec.finalizers: Invalid value: "a b": ${notQualified}`,
      'spec.finalizers: Invalid value: "a b": name is neither a standard finalizer name nor is it fully qualified',
    ]),
  },
  { name: 'a path that goes on behind a sub-resource', given: `GET ${deployments}/d/scale/more`, ...nowhere },
  {
    name: 'POST to all namespaces',
    given: 'POST /api/v1/configmaps',
    sent: { body: map({ metadata: { name: 'x' } }) },
    ...notAllowed,
  },
  { name: 'DELETE of all namespaces', given: 'DELETE /api/v1/configmaps', ...notAllowed },
  { name: 'a verb that a sub-resource lacks', given: `DELETE ${deployments}/d/scale`, ...notAllowed },
  { name: 'a method that nobody knows', given: `PROPFIND ${maps}/a`, ...notAllowed },
  { name: 'a method that nobody knows of a custom resource', given: `PROPFIND ${widgets}/a`, ...notSupported('') },
  { name: 'POST to the status of a custom resource', given: `POST ${widgets}/a/status`, ...notSupported('create') },
  {
    name: 'PUT without a name of a custom resource',
    given: `PUT ${widgets}`,
    sent: { body: {} },
    ...badRequest,
    message: 'name must be provided',
  },
  {
    name: 'work on a part that nobody does here',
    given: `GET ${pods}/free/log`,
    code: 501,
    message: 'pods "free" has no log here: this server keeps objects and runs nothing',
    details: { name: 'free', kind: 'pods' },
  },
  {
    name: 'an eviction of another pod than the URL says',
    given: `POST ${pods}/free/eviction`,
    sent: { body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'bound' } } },
    ...badRequest,
    message: 'name in URL does not match name in Eviction object',
  },
  {
    name: 'an eviction under a budget that nobody has looked at yet',
    given: `POST ${pods}/guarded/eviction`,
    sent: { body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'guarded' } } },
    code: 429,
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [
        { reason: 'DisruptionBudget', message: 'The disruption budget new is still being processed by the server.' },
      ],
      retryAfterSeconds: 10,
    },
  },
  {
    name: 'an eviction under two budgets',
    given: `POST ${pods}/bound/eviction`,
    sent: { body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'bound' } } },
    code: 500,
    message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  },
  {
    name: 'a binding of a pod that is not there',
    given: `POST ${pods}/none/binding`,
    sent: { body: { metadata: { name: 'none' }, target: { kind: 'Node', name: 'n' } } },
    code: 404,
    reason: 'NotFound',
    message: 'pods "none" not found',
    details: { name: 'none', kind: 'pods' },
  },
  {
    name: 'a binding of a pod that goes',
    given: `POST ${pods}/going/binding`,
    sent: { body: { metadata: { name: 'going' }, target: { kind: 'Node', name: 'n' } } },
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on pods/binding "going": pod going is being deleted, cannot be assigned to a host',
    details: { name: 'going', kind: 'pods/binding' },
  },
  {
    name: 'a binding of a pod that is bound',
    given: `POST ${pods}/bound/binding`,
    sent: { body: { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'm' } } },
    code: 409,
    reason: 'Conflict',
    message: 'Operation cannot be fulfilled on pods/binding "bound": pod bound is already assigned to node "n"',
    details: { name: 'bound', kind: 'pods/binding' },
  },
  {
    name: 'a request for a client certificate that is none',
    given: 'POST /apis/certificates.k8s.io/v1/certificatesigningrequests',
    sent: {
      body: {
        metadata: { name: 'csr' },
        spec: { signerName: 'kubernetes.io/kube-apiserver-client', request: 'bm9uZQ==', usages: ['client auth'] },
      },
    },
    code: 422,
    reason: 'Invalid',
    message:
      'CertificateSigningRequest.certificates.k8s.io "csr" is invalid: spec.request: Invalid value: ' +
      '"bm9uZQ==": PEM block type must be CERTIFICATE REQUEST',
    details: {
      name: 'csr',
      group: 'certificates.k8s.io',
      kind: 'CertificateSigningRequest',
      causes: [
        {
          reason: 'FieldValueInvalid',
          message: 'Invalid value: "bm9uZQ==": PEM block type must be CERTIFICATE REQUEST',
          field: 'spec.request',
        },
      ],
    },
  },
  {
    name: 'a namespace with an initializer that has no full name',
    given: 'POST /api/v1/namespaces',
    sent: { body: { metadata: { name: 'team-x' }, spec: { initializers: { pending: [{ name: 'x' }] } } } },
    code: 422,
    reason: 'Invalid',
    message:
      'Namespace "team-x" is invalid: spec.initializers.pending[0].name: Invalid value: "x": should be a ' +
      'domain with at least three segments separated by dots',
    details: {
      name: 'team-x',
      kind: 'Namespace',
      causes: [
        {
          reason: 'FieldValueInvalid',
          message: 'Invalid value: "x": should be a domain with at least three segments separated by dots',
          field: 'spec.initializers.pending[0].name',
        },
      ],
    },
  },
  {
    name: 'POST to a document',
    given: 'POST /version',
    sent: { body: {} },
    ...notAllowed,
  },
  {
    name: 'what nobody has allowed, explained to who asks why',
    given: `GET ${pods}/free?explain=true`,
    sent: { user: { username: 'alice', groups: ['system:authenticated'] } },
    code: 403,
    reason: 'Forbidden',
    message:
      'pods "free" is forbidden: User "alice" cannot get resource "pods" in API group "" in the namespace "default"',
    details: {
      name: 'free',
      kind: 'pods',
      causes: ['rolebindings', 'clusterrolebindings', 'roles', 'clusterroles'].map((resource) => ({
        reason: 'Explanation',
        message: `${resource}.rbac.authorization.k8s.io can't be listed by who asks`,
      })),
    },
  },
  {
    name: 'POST to a page of text',
    given: 'POST /metrics',
    sent: { body: {} },
    ...notAllowed,
  },
]

describe('refused in full', () => {
  it.each(rows)('$name', async ({ given, sent = {}, code, reason, message, details }) => {
    const [method = '', path = ''] = given.split(' ')
    const answer = await send(plane, path, { ...sent, method })
    expect(answer.body as Status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: typeof message === 'string' ? message : (expect.stringMatching(message) as string),
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    })
    expect(answer.code).toBe(code)
  })
})

describe('new objects', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'c' }] } }
  const workload = { selector: { matchLabels: { a: 'b' } }, template }
  const ofApps = (resource: string): string => `/apis/apps/v1/namespaces/default/${resource}`
  const rows: { path: string; spec: object; want: object }[] = [
    { path: deployments, spec: workload, want: {} },
    { path: ofApps('replicasets'), spec: workload, want: { replicas: 0 } },
    {
      path: ofApps('statefulsets'),
      spec: { ...workload, serviceName: 's' },
      want: { replicas: 0, availableReplicas: 0 },
    },
    {
      path: ofApps('daemonsets'),
      spec: workload,
      want: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
    },
    { path: `${core}/services`, spec: { ports: [{ port: 80 }] }, want: { loadBalancer: {} } },
    {
      path: '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
      spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
      want: { loadBalancer: {} },
    },
    {
      path: '/apis/batch/v1/namespaces/default/jobs',
      spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
      want: {},
    },
  ]
  it.each(rows)('have the status that Go prints, whatever was sent: $path', async ({ path, spec, want }) => {
    const body = { metadata: { generateName: 'new-' }, spec, status: { bogus: 1, replicas: 7 } }
    const { code, body: made, text } = await send(plane, path, { method: 'POST', body })
    expect(code, text).toBe(201)
    expect((made as { status: unknown }).status).toEqual(want)
  })

  it('leave one that is evicted by a client of old', async () => {
    const body = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'free' } }
    const { code, text } = await send(plane, `${pods}/free/eviction?dryRun=All`, { method: 'POST', body })
    expect(code, text).toBe(201)
  })
})

describe('a patch', () => {
  const rows: { name: string; sent: Omit<Sent, 'method'> }[] = [
    {
      name: 'merged strategically can not change kind and version',
      sent: strategicPatch({ kind: 'B', apiVersion: 'c' }),
    },
    { name: 'may leave out the kind of a built-in object', sent: mergePatch({ kind: null }) },
  ]
  it.each(rows)('$name', async ({ sent }) => {
    const { code, body } = await send(plane, `${maps}/a`, { ...sent, method: 'PATCH' })
    expect(code).toBe(200)
    expect(body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } })
  })
})
