/**
 * The words and codes of the wire, row by row: what Kubernetes 1.36 answers to requests that are wrong, odd or out of
 * date. Nothing here may change anything: every row is asked of the same few objects.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure } from '../support/refusal.ts'
import { type Sent, send } from '../support/send.ts'

interface Row {
  readonly name: string
  /** Method and path, as in a log. */
  readonly given: string
  readonly sent?: Omit<Sent, 'method'>
  readonly code: number
  /** Absent = there must be none. */
  readonly reason?: string
  /** A pattern only where it holds what differs from run to run. */
  readonly message: string | RegExp
  /** Default: there must be none. */
  readonly details?: unknown
}

const namespaces = '/api/v1/namespaces'
const maps = `${namespaces}/default/configmaps`
const map = `${maps}/a`
const maxBody = 3 * 1024 * 1024

const patchOf = (type: string, body: unknown): Omit<Sent, 'method'> => ({ type: `application/${type}`, body })
const yaml = (body: string): Omit<Sent, 'method'> => ({ type: 'application/yaml', body })
const accept = (header: string): Omit<Sent, 'method'> => ({ headers: { accept: header } })
const token = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const cause = (reason: string, field: string, message: string): object => ({ reason, message, field })

const method405 = { code: 405, reason: 'MethodNotAllowed', details: {} } as const
const method405Text = 'the server does not allow this method on the requested resource'
const options = (kind: string, ...causes: object[]): object => ({ group: 'meta.k8s.io', kind, causes })

const bodies: readonly Row[] = [
  {
    name: 'JSON that breaks off',
    given: `POST ${namespaces}`,
    sent: { body: '{"metadata":' },
    code: 400,
    reason: 'BadRequest',
    message:
      "the object provided is unrecognized (must be of type Namespace): couldn't get version/kind; json " +
      'parse error: unexpected end of JSON input ({"metadata":)',
  },
  {
    name: 'no body at all',
    given: `POST ${namespaces}`,
    sent: { body: '' },
    code: 400,
    reason: 'BadRequest',
    message:
      "the object provided is unrecognized (must be of type Namespace): couldn't get version/kind; json " +
      'parse error: unexpected end of JSON input (<empty>)',
  },
  {
    name: 'JSON that is no object, shown as hex',
    given: `POST ${namespaces}`,
    sent: { body: '[1]' },
    code: 400,
    reason: 'BadRequest',
    message:
      "the object provided is unrecognized (must be of type Namespace): couldn't get version/kind; json parse " +
      'error: json: cannot unmarshal array into Go value of type struct { APIVersion string ' +
      String.raw`"json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (5b315d)`,
  },
  {
    name: 'YAML that is none',
    given: `POST ${namespaces}`,
    sent: yaml('a: b: c'),
    code: 400,
    reason: 'BadRequest',
    message:
      'the object provided is unrecognized (must be of type Namespace): yaml: line 1: ' +
      'Nested mappings are not allowed in compact mappings (613a20623a2063)',
  },
  {
    name: 'JSON nested too deeply',
    given: `POST ${maps}`,
    sent: { body: `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}` },
    code: 400,
    reason: 'BadRequest',
    message:
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json " +
      'parse error: invalid character \'{\' exceeded max depth ({"a":{"a":{"a":{"a":{"a":{"a": ...)',
  },
  {
    name: 'YAML nested too deeply',
    given: `POST ${maps}`,
    sent: yaml('[ '.repeat(20_000)),
    code: 400,
    reason: 'BadRequest',
    message:
      'the object provided is unrecognized (must be of type ConfigMap): ' +
      'yaml: exceeded max depth of 1000 (5b205b205b205b205b205b205b205b205b205b205b205b205b205b205b20 ' +
      '...)',
  },
  {
    name: 'YAML that grows without end by its aliases',
    given: `POST ${maps}`,
    sent: yaml(
      `a: &a [x,x,x,x,x,x,x,x,x]\n` +
        [...'bcdefghi'].map((c, i) => `${c}: &${c} [${`*${'abcdefgh'[i]},`.repeat(9)}]\n`).join(''),
    ),
    code: 400,
    reason: 'BadRequest',
    message:
      'the object provided is unrecognized (must be of type ConfigMap): yaml: document contains excessive aliasing ' +
      '(613a202661205b782c782c782c782c782c782c782c782c785d0a623a2026 ...)',
  },
  {
    name: 'a body of more than 3 MiB',
    given: `POST ${maps}`,
    sent: { body: `{"metadata":{"name":"big"},"data":{"a":"${'x'.repeat(maxBody)}"}}` },
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: 'Request entity too large: limit is 3145728',
  },
  {
    name: 'more data than a config map holds',
    given: `POST ${maps}`,
    sent: { body: { metadata: { name: 'big' }, data: { a: 'x'.repeat(1_200_000) } } },
    code: 422,
    reason: 'Invalid',
    message: 'ConfigMap "big" is invalid: []: Too long: may not be more than 1048576 bytes',
    details: {
      name: 'big',
      kind: 'ConfigMap',
      causes: [cause('FieldValueTooLong', '[]', 'Too long: may not be more than 1048576 bytes')],
    },
  },
  {
    name: 'another kind',
    given: `POST ${namespaces}`,
    sent: { body: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'x' } } },
    code: 400,
    reason: 'BadRequest',
    message: 'Pod in version "v1" cannot be handled as a Namespace: no kind "Pod" is expected here',
  },
  {
    name: 'another version',
    given: `POST ${namespaces}`,
    sent: { body: { kind: 'Namespace', apiVersion: 'v2', metadata: { name: 'x' } } },
    code: 400,
    reason: 'BadRequest',
    message: 'the API version in the data (v2) does not match the expected API version (v1)',
  },
  {
    name: 'a field of another type',
    given: `POST ${namespaces}`,
    sent: { body: { metadata: { name: 5 } } },
    code: 400,
    reason: 'BadRequest',
    message:
      'Namespace in version "v1" cannot be handled as a Namespace: json: cannot unmarshal number into Go ' +
      'struct field ObjectMeta.metadata.name of type string',
  },
  {
    name: 'unknown and repeated fields, when asked to be strict',
    given: `POST ${maps}?fieldValidation=Strict`,
    sent: { body: '{"metadata":{"name":"x"},"data":{"a":"1","a":"2"},"bogus":1}' },
    code: 400,
    reason: 'BadRequest',
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field ' +
      '"data.a", unknown field "bogus"',
  },
  {
    name: 'a media type nobody reads',
    given: `POST ${maps}`,
    sent: { body: 'x', type: 'text/html' },
    code: 415,
    reason: 'UnsupportedMediaType',
    message:
      'the body of the request was in an unknown format - accepted media types include: application/json, ' +
      'application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    name: 'protobuf that is none',
    given: `POST ${maps}`,
    sent: { body: new Uint8Array([1, 2, 3]), type: 'application/vnd.kubernetes.protobuf' },
    code: 400,
    reason: 'BadRequest',
    message:
      'the object provided is not valid protobuf: provided data does not appear to be a protobuf message, ' +
      'expected prefix [107 56 115 0]',
  },
]

const creates: readonly Row[] = [
  {
    name: 'neither name nor generateName',
    given: `POST ${namespaces}`,
    sent: { body: {} },
    code: 422,
    reason: 'Invalid',
    message: 'Namespace "" is invalid: metadata.name: Required value: name or generateName is required',
    details: {
      kind: 'Namespace',
      causes: [cause('FieldValueRequired', 'metadata.name', 'Required value: name or generateName is required')],
    },
  },
  {
    name: 'a name that is none',
    given: `POST ${namespaces}`,
    sent: { body: { metadata: { name: 'A_b' } } },
    code: 422,
    reason: 'Invalid',
    message:
      'Namespace "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 label must ' +
      `consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric ` +
      `character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
    details: {
      name: 'A_b',
      kind: 'Namespace',
      causes: [
        cause(
          'FieldValueInvalid',
          'metadata.name',
          'Invalid value: "A_b": a lowercase RFC 1123 label must consist of lower case alphanumeric ' +
            "characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or " +
            "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        ),
      ],
    },
  },
  {
    name: 'a name that is taken',
    given: `POST ${maps}`,
    sent: { body: { metadata: { name: 'a' } } },
    code: 409,
    reason: 'AlreadyExists',
    message: 'configmaps "a" already exists',
    details: { name: 'a', kind: 'configmaps' },
  },
  {
    name: 'a resourceVersion',
    given: `POST ${maps}`,
    sent: { body: { metadata: { name: 'x', resourceVersion: '1' } } },
    code: 500,
    message: 'resourceVersion should not be set on objects to be created',
  },
  {
    name: 'another namespace than that of the URL',
    given: `POST ${maps}`,
    sent: { body: { metadata: { name: 'x', namespace: 'other' } } },
    code: 400,
    reason: 'BadRequest',
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  },
  {
    name: 'a namespace that is not there, before the name is looked at',
    given: `POST ${namespaces}/nowhere/configmaps`,
    sent: { body: { metadata: { name: 'NOT A NAME' } } },
    code: 404,
    reason: 'NotFound',
    message: 'namespaces "nowhere" not found',
    details: { name: 'nowhere', kind: 'namespaces' },
  },
  {
    name: 'a fieldValidation nobody knows',
    given: `POST ${maps}?fieldValidation=x`,
    sent: { body: { metadata: { name: 'x' } } },
    code: 422,
    reason: 'Invalid',
    message:
      'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "x": supported values: ' +
      '"", "Ignore", "Strict", "Warn"',
    details: options(
      'CreateOptions',
      cause(
        'FieldValueNotSupported',
        'fieldValidation',
        'Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"',
      ),
    ),
  },
  {
    name: 'a dry run of something',
    given: `POST ${maps}?dryRun=some`,
    sent: { body: { metadata: { name: 'x' } } },
    code: 422,
    reason: 'Invalid',
    message: 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["some"]: supported values: "All"',
    details: options(
      'CreateOptions',
      cause('FieldValueNotSupported', 'dryRun', 'Unsupported value: ["some"]: supported values: "All"'),
    ),
  },
  {
    name: 'a fieldManager that is too long',
    given: `POST ${maps}?fieldManager=${'x'.repeat(129)}`,
    sent: { body: { metadata: { name: 'x' } } },
    code: 422,
    reason: 'Invalid',
    message: 'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
    details: options(
      'CreateOptions',
      cause('FieldValueTooLong', 'fieldManager', 'Too long: may not be more than 128 bytes'),
    ),
  },
  {
    name: 'a timeout that is none',
    given: `POST ${maps}?timeout=soon`,
    sent: { body: { metadata: { name: 'x' } } },
    code: 400,
    reason: 'BadRequest',
    message: 'invalid timeout specified in the request URL - time: invalid duration "soon"',
  },
  {
    name: 'a timeout that is none, at a document',
    given: 'GET /version?timeout=soon',
    code: 400,
    reason: 'BadRequest',
    message: 'invalid timeout specified in the request URL - time: invalid duration "soon"',
  },
]

const paths: readonly Row[] = [
  {
    name: 'an object that is not there',
    given: `GET ${maps}/nobody`,
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "nobody" not found',
    details: { name: 'nobody', kind: 'configmaps' },
  },
  {
    name: 'an object of a group that is not there',
    given: 'GET /apis/apps/v1/namespaces/default/deployments/nobody',
    code: 404,
    reason: 'NotFound',
    message: 'deployments.apps "nobody" not found',
    details: { name: 'nobody', group: 'apps', kind: 'deployments' },
  },
  {
    name: 'a resource nobody serves',
    given: 'GET /api/v1/nonsense',
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  },
  {
    name: 'a version nobody serves',
    given: 'GET /apis/apps/v9/deployments',
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  },
  {
    name: 'a sub-resource nobody serves',
    given: `GET ${map}/nonsense`,
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  },
  { name: 'DELETE of all namespaces', given: `DELETE ${namespaces}`, ...method405, message: method405Text },
  { name: 'PUT on a collection', given: `PUT ${maps}`, sent: { body: {} }, ...method405, message: method405Text },
  { name: 'POST on an object', given: `POST ${map}`, sent: { body: {} }, ...method405, message: method405Text },
  {
    name: 'PATCH on a collection',
    given: `PATCH ${maps}`,
    sent: patchOf('merge-patch+json', {}),
    ...method405,
    message: method405Text,
  },
  { name: 'POST to a document', given: 'POST /openapi/v2', ...method405, message: method405Text },
  { name: 'POST to a probe', given: 'POST /readyz', ...method405, message: method405Text },
  {
    name: 'GET of what is only asked',
    given: 'GET /apis/authorization.k8s.io/v1/subjectaccessreviews',
    ...method405,
    message: method405Text,
  },
  { name: 'OPTIONS', given: `OPTIONS ${maps}`, ...method405, message: method405Text },
  { name: 'HEAD', given: `HEAD ${map}`, ...method405, message: method405Text },
  { name: 'DELETE of a legacy watch', given: 'DELETE /api/v1/watch/configmaps', ...method405, message: method405Text },
  {
    name: 'POST to a legacy watch',
    given: 'POST /api/v1/watch/namespaces/default/configmaps/x',
    ...method405,
    message: method405Text,
  },
  {
    name: 'DELETE of a legacy list of a cluster-scoped type',
    given: 'DELETE /api/v1/list/nodes',
    ...method405,
    message: method405Text,
  },
  {
    name: 'POST to a legacy list of a cluster-scoped type',
    given: 'POST /api/v1/list/nodes',
    ...method405,
    message: method405Text,
  },
  {
    name: 'DELETE of a shell',
    given: 'DELETE /api/v1/namespaces/default/pods/x/exec',
    ...method405,
    message: method405Text,
  },
  {
    name: 'PATCH of a log',
    given: 'PATCH /api/v1/namespaces/default/pods/x/log',
    ...method405,
    message: method405Text,
  },
  {
    name: 'POST to all namespaces',
    given: 'POST /api/v1/configmaps',
    sent: { body: { metadata: { name: 'x' } } },
    ...method405,
    message: method405Text,
  },
  { name: 'GET of /finalize', given: `GET ${namespaces}/default/finalize`, ...method405, message: method405Text },
  {
    name: 'a namespace the system needs, to be deleted',
    given: `DELETE ${namespaces}/default`,
    code: 403,
    reason: 'Forbidden',
    message: 'namespaces "default" is forbidden: this namespace may not be deleted',
    details: { name: 'default', kind: 'namespaces' },
  },
  {
    name: 'a path somebody may not get',
    given: 'GET /metrics',
    sent: { user: { username: 'bob', groups: ['system:authenticated'] } },
    code: 403,
    reason: 'Forbidden',
    message: 'forbidden: User "bob" cannot get path "/metrics"',
    details: {},
  },
  {
    name: 'a resource somebody may not list, with a name that looks like markup',
    given: `GET ${maps}`,
    sent: { user: { username: '<b>', groups: ['system:authenticated'] } },
    code: 403,
    reason: 'Forbidden',
    message:
      'configmaps is forbidden: User "&lt;b&gt;" cannot list resource "configmaps" in API group "" in the ' +
      'namespace "default"',
    details: { kind: 'configmaps' },
  },
]

const onlyAccepted =
  'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf'

const negotiation: readonly Row[] = [
  {
    name: 'a media type nobody writes',
    given: `GET ${map}`,
    sent: accept('text/html'),
    code: 406,
    reason: 'NotAcceptable',
    message: onlyAccepted,
  },
  {
    name: 'a form nobody makes',
    given: `GET ${map}`,
    sent: accept('application/json;as=Nope;v=v1;g=meta.k8s.io'),
    code: 406,
    reason: 'NotAcceptable',
    message: onlyAccepted,
  },
  {
    name: 'tables of something',
    given: `GET ${maps}?includeObject=Bogus`,
    sent: accept('application/json;as=Table;v=v1;g=meta.k8s.io'),
    code: 400,
    reason: 'BadRequest',
    message:
      `Unable to convert to Table as requested: includeObject: Invalid value: "Bogus": must be 'Metadata', ` +
      `'Object', 'None', or empty`,
  },
]

const lists: readonly Row[] = [
  {
    name: 'a limit that is no number',
    given: `GET ${maps}?limit=abc`,
    code: 400,
    reason: 'BadRequest',
    message: 'strconv.ParseInt: parsing "abc": invalid syntax',
  },
  {
    name: 'a resourceVersion that is none, for a list',
    given: `GET ${maps}?resourceVersion=abc`,
    code: 400,
    reason: 'BadRequest',
    message:
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": ' +
      'invalid syntax',
  },
  {
    name: 'a resourceVersion that is none, for an object',
    given: `GET ${map}?resourceVersion=abc`,
    code: 500,
    message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  },
  {
    name: 'a resourceVersion of the future',
    given: `GET ${maps}?resourceVersion=999999999999`,
    code: 504,
    reason: 'Timeout',
    message: /^Timeout: Too large resource version: 999999999999, current: \d+$/,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  },
  {
    name: 'a label selector that stops short',
    given: `GET ${maps}?labelSelector=a%20in%20b`,
    code: 400,
    reason: 'BadRequest',
    message: "unable to parse requirement: found 'b' expected: '('",
  },
  {
    name: 'a field selector without a value',
    given: `GET ${maps}?fieldSelector=foo`,
    code: 400,
    reason: 'BadRequest',
    message: "invalid selector: 'foo'; can't understand 'foo'",
  },
  {
    name: 'a field nobody selects by',
    given: `GET ${maps}?fieldSelector=foo%3Dx`,
    code: 400,
    reason: 'BadRequest',
    message: '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
  },
  {
    name: 'resourceVersionMatch without a resourceVersion',
    given: `GET ${maps}?resourceVersionMatch=Exact`,
    code: 422,
    reason: 'Invalid',
    message:
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is ' +
      'forbidden unless resourceVersion is provided',
    details: options(
      'ListOptions',
      cause(
        'FieldValueForbidden',
        'resourceVersionMatch',
        'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      ),
    ),
  },
  {
    name: 'resourceVersionMatch=Exact of any version',
    given: `GET ${maps}?resourceVersionMatch=Exact&resourceVersion=0`,
    code: 422,
    reason: 'Invalid',
    message:
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" ' +
      'is forbidden for resourceVersion "0"',
    details: options(
      'ListOptions',
      cause(
        'FieldValueForbidden',
        'resourceVersionMatch',
        'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      ),
    ),
  },
  {
    name: 'sendInitialEvents for a list',
    given: `GET ${maps}?sendInitialEvents=true`,
    code: 422,
    reason: 'Invalid',
    message:
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    details: options(
      'ListOptions',
      cause('FieldValueForbidden', 'sendInitialEvents', 'Forbidden: sendInitialEvents is forbidden for list'),
    ),
  },
  {
    name: 'a token that is none',
    given: `GET ${maps}?continue=abc`,
    code: 400,
    reason: 'BadRequest',
    message: "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value",
  },
  {
    name: 'a token of another version',
    given: `GET ${maps}?continue=${token({ v: 'meta.k8s.io/v2', rv: 5, start: 'a' })}`,
    code: 400,
    reason: 'BadRequest',
    message:
      'invalid continue token: continue key is not valid: server does not recognize this encoded version ' +
      'meta.k8s.io/v2',
  },
  {
    name: 'a token without a start',
    given: `GET ${maps}?continue=${token({ v: 'meta.k8s.io/v1', rv: 5, start: '' })}`,
    code: 400,
    reason: 'BadRequest',
    message: 'invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)',
  },
  {
    name: 'a token without a version',
    given: `GET ${maps}?continue=${token({ v: 'meta.k8s.io/v1', rv: 0, start: 'a' })}`,
    code: 400,
    reason: 'BadRequest',
    message:
      'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version ' +
      'meta.k8s.io/v1)',
  },
  {
    name: 'a watch with resourceVersionMatch alone',
    given: `GET ${maps}?watch=true&resourceVersion=1&resourceVersionMatch=NotOlderThan`,
    code: 422,
    reason: 'Invalid',
    message:
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is ' +
      'forbidden for watch unless sendInitialEvents is provided',
    details: options(
      'ListOptions',
      cause(
        'FieldValueForbidden',
        'resourceVersionMatch',
        'Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    ),
  },
  {
    name: 'a watch with sendInitialEvents alone',
    given: `GET ${maps}?watch=true&sendInitialEvents=true`,
    code: 422,
    reason: 'Invalid',
    message:
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires ' +
      'setting resourceVersionMatch to NotOlderThan',
    details: options(
      'ListOptions',
      cause(
        'FieldValueForbidden',
        'resourceVersionMatch',
        'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
    ),
  },
  {
    name: 'a watch of one name that selects another',
    given: `GET /api/v1/watch/namespaces/default/configmaps/a?fieldSelector=metadata.name%3Db`,
    code: 400,
    reason: 'BadRequest',
    message: "fieldSelector metadata.name doesn't match requested name",
  },
]

const modified = 'the object has been modified; please apply your changes to the latest version and try again'

const updates: readonly Row[] = [
  {
    name: 'PUT of what is not there',
    given: `PUT ${maps}/nobody`,
    sent: { body: { metadata: { name: 'nobody' } } },
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "nobody" not found',
    details: { name: 'nobody', kind: 'configmaps' },
  },
  {
    name: 'PUT of another name',
    given: `PUT ${map}`,
    sent: { body: { metadata: { name: 'b' } } },
    code: 400,
    reason: 'BadRequest',
    message: 'the name of the object (b) does not match the name on the URL (a)',
  },
  {
    name: 'PUT without a name',
    given: `PUT ${map}`,
    sent: { body: { metadata: {} } },
    code: 400,
    reason: 'BadRequest',
    message: 'the name of the object (a based on URL) was undeterminable: name must be provided',
  },
  {
    name: 'PUT of an older version',
    given: `PUT ${map}`,
    sent: { body: { metadata: { name: 'a', resourceVersion: '1' } } },
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on configmaps "a": ${modified}`,
    details: { name: 'a', kind: 'configmaps' },
  },
  {
    name: 'PUT of another uid',
    given: `PUT ${map}`,
    sent: { body: { metadata: { name: 'a', uid: 'foo' } } },
    code: 409,
    reason: 'Conflict',
    message:
      /^Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: \/registry\/configmaps\/default\/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: foo, UID in object meta: [0-9a-f-]{36}$/,
    details: { name: 'a', kind: 'configmaps' },
  },
  {
    name: 'a merge patch that is no JSON',
    given: `PATCH ${map}`,
    sent: patchOf('merge-patch+json', '{'),
    code: 400,
    reason: 'BadRequest',
    message: 'error decoding patch: unexpected end of JSON input',
  },
  {
    name: 'a JSON patch that is no list',
    given: `PATCH ${map}`,
    sent: patchOf('json-patch+json', {}),
    code: 400,
    reason: 'BadRequest',
    message: 'json: cannot unmarshal object into Go value of type jsonpatch.Patch',
  },
  {
    name: 'a JSON patch whose test fails',
    given: `PATCH ${map}`,
    sent: patchOf('json-patch+json', [{ op: 'test', path: '/data/k', value: 'x' }]),
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  },
  {
    name: 'a JSON patch of too many operations',
    given: `PATCH ${map}`,
    sent: patchOf(
      'json-patch+json',
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' })),
    ),
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
  },
  {
    name: 'a patch of no known kind',
    given: `PATCH ${map}`,
    sent: { body: {} },
    code: 415,
    reason: 'UnsupportedMediaType',
    message:
      'the body of the request was in an unknown format - accepted media types include: ' +
      'application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, ' +
      'application/apply-patch+yaml',
  },
  {
    name: 'a patch to another type',
    given: `PATCH ${map}`,
    sent: patchOf('merge-patch+json', { data: 5 }),
    code: 422,
    reason: 'Invalid',
    message:
      /^ "" is invalid: patch: Invalid value: ".*": json: cannot unmarshal number into Go struct field ConfigMap.data of type map/,
    details: { causes: [expect.objectContaining({ reason: 'FieldValueInvalid', field: 'patch' })] },
  },
  {
    name: 'a patch to another name',
    given: `PATCH ${map}`,
    sent: patchOf('merge-patch+json', { metadata: { name: 'b' } }),
    code: 400,
    reason: 'BadRequest',
    message: 'the name of the object (b) does not match the name on the URL (a)',
  },
  {
    name: 'a patch to another uid',
    given: `PATCH ${map}`,
    sent: patchOf('merge-patch+json', { metadata: { uid: 'b' } }),
    code: 422,
    reason: 'Invalid',
    message: 'ConfigMap "a" is invalid: metadata.uid: Invalid value: "b": field is immutable',
    details: {
      name: 'a',
      kind: 'ConfigMap',
      causes: [cause('FieldValueInvalid', 'metadata.uid', 'Invalid value: "b": field is immutable')],
    },
  },
  {
    name: 'a patch of an older version',
    given: `PATCH ${map}`,
    sent: patchOf('merge-patch+json', { metadata: { resourceVersion: '1' } }),
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on configmaps "a": ${modified}`,
    details: { name: 'a', kind: 'configmaps' },
  },
  {
    name: 'force for a patch that is no apply',
    given: `PATCH ${map}?force=true`,
    sent: patchOf('merge-patch+json', {}),
    code: 422,
    reason: 'Invalid',
    message: 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    details: options(
      'PatchOptions',
      cause('FieldValueForbidden', 'force', 'Forbidden: may not be specified for non-apply patch'),
    ),
  },
  {
    name: 'a patch of what is not there',
    given: `PATCH ${maps}/nobody`,
    sent: patchOf('merge-patch+json', {}),
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "nobody" not found',
    details: { name: 'nobody', kind: 'configmaps' },
  },
  {
    name: 'an apply by nobody',
    given: `PATCH ${map}`,
    sent: patchOf('apply-patch+yaml', {}),
    code: 422,
    reason: 'Invalid',
    message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    details: options(
      'PatchOptions',
      cause('FieldValueRequired', 'fieldManager', 'Required value: is required for apply patch'),
    ),
  },
  {
    name: 'an apply that is no YAML',
    given: `PATCH ${map}?fieldManager=m`,
    sent: patchOf('apply-patch+yaml', 'a: b: c'),
    code: 400,
    reason: 'BadRequest',
    message:
      'error decoding YAML: error converting YAML to JSON: yaml: line 1: Nested mappings are not allowed in ' +
      'compact mappings',
  },
  {
    name: 'an apply of another kind',
    given: `PATCH ${map}?fieldManager=m`,
    sent: patchOf('apply-patch+yaml', { kind: 'Secret', apiVersion: 'v1' }),
    code: 400,
    reason: 'BadRequest',
    message: 'invalid object type: /v1, Kind=Secret',
  },
  {
    name: 'an apply of an unknown field',
    given: `PATCH ${map}?fieldManager=m`,
    sent: patchOf('apply-patch+yaml', { kind: 'ConfigMap', apiVersion: 'v1', bogus: 1 }),
    code: 500,
    message:
      'failed to create typed patch object (default/a; /v1, Kind=ConfigMap): .bogus: field not declared in schema',
  },
  {
    name: 'an apply with managedFields',
    given: `PATCH ${map}?fieldManager=m`,
    sent: patchOf('apply-patch+yaml', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { managedFields: [] } }),
    code: 400,
    reason: 'BadRequest',
    message: 'metadata.managedFields must be nil',
  },
]

const deletes: readonly Row[] = [
  {
    name: 'a body that is no JSON',
    given: `DELETE ${map}`,
    sent: { body: '{' },
    code: 400,
    reason: 'BadRequest',
    message:
      "the object provided is unrecognized (must be of type DeleteOptions): couldn't get version/kind; json " +
      'parse error: unexpected end of JSON input ({)',
  },
  {
    name: 'a body of another kind',
    given: `DELETE ${map}`,
    sent: { body: { kind: 'Pod', apiVersion: 'v1' } },
    code: 400,
    reason: 'BadRequest',
    message: 'the body of a DELETE must be a DeleteOptions object, not a "Pod"',
  },
  {
    name: 'a body nobody reads',
    given: `DELETE ${map}`,
    sent: { body: 'x', type: 'text/html' },
    code: 415,
    reason: 'UnsupportedMediaType',
    message:
      'the body of the request was in an unknown format - accepted media types include: application/json, ' +
      'application/yaml, application/vnd.kubernetes.protobuf',
  },
  {
    name: 'a policy nobody knows',
    given: `DELETE ${map}`,
    sent: { body: { propagationPolicy: 'Bogus' } },
    code: 422,
    reason: 'Invalid',
    message:
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Bogus": supported ' +
      'values: "Foreground", "Background", "Orphan", "nil"',
    details: options(
      'DeleteOptions',
      cause(
        'FieldValueNotSupported',
        'propagationPolicy',
        'Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"',
      ),
    ),
  },
  {
    name: 'a dry run of nobody knows what',
    given: `DELETE ${map}`,
    sent: { body: { dryRun: ['some'] } },
    code: 422,
    reason: 'Invalid',
    message: 'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["some"]: supported values: "All"',
    details: options(
      'DeleteOptions',
      cause('FieldValueNotSupported', 'dryRun', 'Unsupported value: ["some"]: supported values: "All"'),
    ),
  },
  {
    name: 'two policies',
    given: `DELETE ${map}`,
    sent: { body: { propagationPolicy: 'Orphan', orphanDependents: true } },
    code: 422,
    reason: 'Invalid',
    message:
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents ' +
      'and deletionPropagation cannot be both set',
    details: options(
      'DeleteOptions',
      cause(
        'FieldValueInvalid',
        'propagationPolicy',
        'Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
      ),
    ),
  },
  {
    name: 'another uid',
    given: `DELETE ${map}`,
    sent: { body: { preconditions: { uid: 'x' } } },
    code: 409,
    reason: 'Conflict',
    message:
      /^Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition \(x\) does not match the UID in record \([0-9a-f-]{36}\)\. The object might have been deleted and then recreated$/,
    details: { name: 'a', kind: 'ConfigMap' },
  },
  {
    name: 'an older version',
    given: `DELETE ${map}`,
    sent: { body: { preconditions: { resourceVersion: '1' } } },
    code: 409,
    reason: 'Conflict',
    message:
      /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record \(\d+\)\. The object might have been modified$/,
    details: { name: 'a', kind: 'ConfigMap' },
  },
  {
    name: 'another uid of a namespace, in the words of namespaces',
    given: `DELETE ${namespaces}/team`,
    sent: { body: { preconditions: { uid: 'x' } } },
    code: 409,
    reason: 'Conflict',
    message:
      /^Operation cannot be fulfilled on namespaces "team": Precondition failed: UID in precondition: x, UID in object meta: [0-9a-f-]{36}$/,
    details: { name: 'team', kind: 'namespaces' },
  },
  {
    name: 'what is not there',
    given: `DELETE ${maps}/nobody`,
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "nobody" not found',
    details: { name: 'nobody', kind: 'configmaps' },
  },
]

/** Declared in discovery, and needing nodes behind the server. None may do to the parent what was asked of the part. */
const pod = `${namespaces}/default/pods/p`
const runsNothing = /this server keeps objects and runs nothing$/
const workloads: readonly Row[] = [
  { name: 'logs', given: `GET ${pod}/log`, code: 501, message: runsNothing, details: { name: 'p', kind: 'pods' } },
  {
    name: 'exec',
    given: `POST ${pod}/exec?command=a`,
    code: 501,
    message: runsNothing,
    details: { name: 'p', kind: 'pods' },
  },
  {
    name: 'a DELETE through the proxy of a service',
    given: `DELETE ${namespaces}/default/services/s/proxy`,
    code: 501,
    message: runsNothing,
    details: { name: 's', kind: 'services' },
  },
  {
    name: 'a pod sent as an eviction',
    given: `POST ${pod}/eviction`,
    sent: {
      body: {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { name: 'q' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      },
    },
    code: 400,
    reason: 'BadRequest',
    message: 'Pod in version "v1" cannot be handled as a Eviction: no kind "Pod" is expected here',
  },
]

let plane: TestControlPlane

const snapshot = async (): Promise<unknown> => {
  const kinds = [namespaces, '/api/v1/configmaps', '/api/v1/pods', '/api/v1/services']
  return Promise.all(kinds.map(async (path) => (await send(plane, path)).body))
}
const itemsOf = (lists: unknown): unknown => (lists as { items: unknown[] }[]).map((list) => list.items)

beforeAll(async () => {
  plane = await startControlPlane()
  for (const [path, body] of [
    [maps, { metadata: { name: 'a' }, data: { k: 'v' } }],
    [namespaces, { metadata: { name: 'team' } }],
    [`${namespaces}/default/pods`, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }],
    [`${namespaces}/default/services`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }],
  ] as const) {
    expect((await send(plane, path, { method: 'POST', body })).code, path).toBe(201)
  }
})
afterAll(() => plane[Symbol.asyncDispose]())

describe.each([
  { of: 'a body', rows: bodies },
  { of: 'a create', rows: creates },
  { of: 'a path', rows: paths },
  { of: 'what is asked for', rows: negotiation },
  { of: 'a list or watch', rows: lists },
  { of: 'an update', rows: updates },
  { of: 'a delete', rows: deletes },
  { of: 'work on nodes', rows: workloads },
])('refusals of $of', ({ rows }) => {
  test.each(rows)('$name: $code $reason', async ({ given, sent, code, reason, message, details }) => {
    const before = itemsOf(await snapshot())
    const [method = '', path = ''] = given.split(' ')
    const answer = await send(plane, path, { ...sent, method })
    const text = typeof message === 'string' ? message : expect.stringMatching(message)
    expect(answer.body).toEqual(
      failure({ message: text, code, ...(reason ? { reason } : {}), ...(details ? { details } : {}) }),
    )
    expect(answer.code).toBe(code)
    expect(itemsOf(await snapshot())).toEqual(before)
  })
})

test('a group nobody serves is no page', async () => {
  for (const path of ['/apis/nope', '/apis/nope/v1', '/apis/nope/v1/things']) {
    const { code, headers, text } = await send(plane, path)
    expect({ code, type: headers.get('content-type'), text }).toEqual({
      code: 404,
      type: 'text/plain; charset=utf-8',
      text: '404 page not found\n',
    })
  }
})

test('another unknown path is told which there are', async () => {
  const { code, body } = await send(plane, '/nothing')
  expect(code).toBe(404)
  expect(body).toEqual({ paths: expect.arrayContaining(['/api', '/api/v1', '/apis', '/apis/apps/v1', '/version']) })
})

test('a timeout that is none does not stop a watch, nor do 0s and 3m anything', async () => {
  const watched = await send(plane, `${maps}?watch=true&resourceVersion=1&timeout=soon`)
  expect(watched.code).toBe(200)
  for (const timeout of ['0s', '3m']) expect((await send(plane, `/version?timeout=${timeout}`)).code).toBe(200)
})

test('the version of the core group may be written with a slash, as Go reads it', async () => {
  const body = { kind: 'ConfigMap', apiVersion: '/v1', metadata: { name: 'slashed' } }
  const made = await send(plane, `${maps}?dryRun=All`, { method: 'POST', body })
  expect(made).toMatchObject({ code: 201, body: { apiVersion: 'v1' } })
})

test('unknown and repeated fields are warnings, unless asked otherwise', async () => {
  const body = '{"metadata":{"name":"x"},"data":{"a":"1","a":"2"},"bogus":1}'
  const warned = await send(plane, `${maps}?dryRun=All`, { method: 'POST', body })
  expect(warned.code).toBe(201)
  expect(warned.headers.get('warning')).toBe('299 - "duplicate field \\"data.a\\"", 299 - "unknown field \\"bogus\\""')
  const ignored = await send(plane, `${maps}?dryRun=All&fieldValidation=Ignore`, { method: 'POST', body })
  expect({ code: ignored.code, warning: ignored.headers.get('warning') }).toEqual({ code: 201, warning: null })
})

test('a watch from too long ago gets one ERROR and its end', async () => {
  const { code, text } = await send(plane, `${maps}?watch=true&resourceVersion=1`)
  expect(code).toBe(200)
  const [only, ...rest] = text.trim().split('\n')
  expect(JSON.parse(only ?? '')).toMatchObject({
    type: 'ERROR',
    object: {
      kind: 'Status',
      code: 410,
      reason: 'Expired',
      message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/),
    },
  })
  expect(rest).toEqual([])
})

test('a dry run of a create answers what would be, without a resourceVersion, and keeps nothing', async () => {
  const { code, body } = await send(plane, `${maps}?dryRun=All`, {
    method: 'POST',
    body: { metadata: { name: 'dry' } },
  })
  expect(code).toBe(201)
  expect(body).toMatchObject({ metadata: { name: 'dry', namespace: 'default', uid: expect.any(String) } })
  expect(body).not.toHaveProperty('metadata.resourceVersion')
  expect((await send(plane, `${maps}/dry`)).code).toBe(404)
})

test('pages hold on to the version of the first, say what remains, and repeat nothing', async () => {
  for (let i = 0; i < 5; i++)
    await send(plane, maps, { method: 'POST', body: { metadata: { name: `page-${i}`, labels: { page: '' } } } })
  interface List {
    readonly metadata: {
      readonly resourceVersion: string
      readonly continue?: string
      readonly remainingItemCount?: number
    }
    readonly items: readonly { readonly metadata: { readonly name: string } }[]
  }
  const pages: List[] = []
  for (let more = ''; ; ) {
    const page = (await send(plane, `${maps}?limit=3${more}`)).body as List
    pages.push(page)
    if (!page.metadata.continue) break
    more = `&continue=${encodeURIComponent(page.metadata.continue)}`
    await send(plane, maps, { method: 'POST', body: { metadata: { generateName: 'later-' } } })
  }
  expect(pages.flatMap((page) => page.items.map((item) => item.metadata.name))).toEqual([
    'a',
    'kube-root-ca.crt',
    ...[0, 1, 2, 3, 4].map((i) => `page-${i}`),
  ])
  expect(new Set(pages.map((page) => page.metadata.resourceVersion)).size).toBe(1)
  expect(pages.map((page) => page.metadata.remainingItemCount)).toEqual([4, 1, undefined])
  await send(plane, `${maps}?fieldSelector=metadata.name!%3Da`, { method: 'DELETE' })
})

describe('PUT and apply of what is not there need the right to create', () => {
  const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/mine'
  const leaseBody = { metadata: { name: 'mine' }, spec: { holderIdentity: 'me' } }
  const writer = { username: 'writer', groups: ['system:authenticated'] }

  beforeAll(async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
    const rules = [
      { apiGroups: ['', 'coordination.k8s.io'], resources: ['leases', 'configmaps'], verbs: ['update', 'patch'] },
    ]
    await send(plane, `${rbac}/roles`, { method: 'POST', body: { metadata: { name: 'writer' }, rules } })
    const body = {
      metadata: { name: 'writer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'writer' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'writer' }],
    }
    expect((await send(plane, `${rbac}/rolebindings`, { method: 'POST', body })).code).toBe(201)
  })

  test('PUT of a lease', async () => {
    const refused = await send(plane, lease, { method: 'PUT', body: leaseBody, user: writer })
    expect(refused.body).toMatchObject({
      code: 403,
      message:
        'leases.coordination.k8s.io "mine" is forbidden: User "writer" cannot create resource "leases" in ' +
        'API group "coordination.k8s.io" in the namespace "default"',
    })
    const made = await send(plane, lease, { method: 'PUT', body: leaseBody })
    expect(made.code).toBe(201)
    expect((await send(plane, lease, { method: 'PUT', body: made.body, user: writer })).code).toBe(200)
  })

  test('apply of a config map', async () => {
    const path = `${maps}/applied?fieldManager=m`
    const sent = {
      method: 'PATCH',
      ...patchOf('apply-patch+yaml', {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: 'applied' },
        data: { a: '1' },
      }),
    }
    expect((await send(plane, path, { ...sent, user: writer })).body).toMatchObject({ code: 403, reason: 'Forbidden' })
    expect((await send(plane, path, sent)).code).toBe(201)
    expect((await send(plane, path, { ...sent, user: writer })).code).toBe(200)
  })
})
