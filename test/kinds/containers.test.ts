/** What containers may ask for: each refusal in the words of upstream, for a pod as for the pods of a template. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exactNumber } from '../../src/kube/json-value.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { notLabel, notQualified, notSubdomain } from '../support/name-faults.ts'
import { invalidObject } from '../support/refusal.ts'
import { Wire } from '../support/wire.ts'

const pods = '/api/v1/namespaces/default/pods'
const templates = '/api/v1/namespaces/default/podtemplates'

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

const container = (fields: object = {}) => ({ name: 'c', image: 'nginx', ...fields })
const specOf = (fields: object, spec: object = {}) => ({ containers: [container(fields)], ...spec })
const variable = (valueFrom: object) => ({ env: [{ name: 'V', valueFrom }] })
const field = (fieldPath: string, apiVersion = 'v1') => variable({ fieldRef: { fieldPath, apiVersion } })
const amount = (resource: string, divisor = '0') => variable({ resourceFieldRef: { resource, divisor } })
const sizes = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei'
const at = 'spec.containers[0]'
const from = `${at}.env[0].valueFrom`
const claims = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'v' } }] }
const folder = { volumes: [{ name: 'v', emptyDir: {} }] }
const mount = (fields: object) => ({ volumeMounts: [{ name: 'v', mountPath: '/v', ...fields }] })

const wrong: [what: string, spec: object, ...faults: string[]][] = [
  [
    'a field that no variable is told',
    specOf(field('metadata.labels')),
    `${from}.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", ` +
      '"metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", ' +
      '"status.hostIPs", "status.podIP", "status.podIPs"',
  ],
  [
    'a field that nobody knows',
    specOf(field('metadata.whoops')),
    `${from}.fieldRef.fieldPath: Invalid value: "metadata.whoops": error converting fieldPath: field label not ` +
      'supported: metadata.whoops',
  ],
  [
    'a field of another version',
    specOf(field('metadata.name', 'v2')),
    `${from}.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod ` +
      'version: v2',
  ],
  [
    'a part of what has none',
    specOf(field("metadata.name['x']")),
    `${from}.fieldRef.fieldPath: Invalid value: "metadata.name['x']": error converting fieldPath: field label does ` +
      "not support subscript: metadata.name['x']",
  ],
  [
    'labels and annotations of no name',
    specOf({
      env: [
        { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['a b']" } } },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } },
      ],
    }),
    `${at}.env[0].valueFrom.fieldRef: Invalid value: "a b": ${notQualified}`,
    `${at}.env[1].valueFrom.fieldRef: Invalid value: "a b": ${notQualified}`,
  ],
  ['a field without a path', specOf(field('')), `${from}.fieldRef.fieldPath: Required value`],
  [
    'an amount that nobody counts',
    specOf(amount('limits.pods')),
    `${from}.resourceFieldRef.resource: Unsupported value: "limits.pods": supported values: "limits.cpu", ` +
      '"limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
  ],
  ['no amount at all', specOf(amount('')), `${from}.resourceFieldRef.resource: Required value`],
  [
    'amounts in units of no size',
    specOf({
      env: ['limits.cpu', 'requests.memory', 'limits.ephemeral-storage', 'requests.hugepages-2Mi'].map((resource) => ({
        name: 'V',
        valueFrom: { resourceFieldRef: { resource, divisor: '2' } },
      })),
    }),
    `${at}.env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and ` +
      `1 are ` +
      'supported with the cpu resource',
    `${at}.env[1].valueFrom.resourceFieldRef.divisor: Invalid value: "requests.memory": only divisor's values ` +
      `${sizes} are supported with the memory resource`,
    `${at}.env[2].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.ephemeral-storage": only divisor's ` +
      `values ${sizes} are supported with the local ephemeral storage resource`,
    `${at}.env[3].valueFrom.resourceFieldRef.divisor: Invalid value: "requests.hugepages-2Mi": only divisor's values ` +
      `${sizes} are supported with the hugepages resource`,
  ],
  [
    'a variable from a file of nowhere',
    specOf(variable({ fileKeyRef: { key: '', path: '', volumeName: '' } })),
    `${from}.fileKeyRef.key: Required value`,
    `${from}.fileKeyRef.volumeName: Required value`,
    `${from}.fileKeyRef.path: Required value`,
    `${from}.fileKeyRef.volumeName: Not found: ""`,
  ],
  [
    'a variable from a file of somebody else',
    specOf(variable({ fileKeyRef: { key: 'a=', path: '../x', volumeName: 'V' } }), claims),
    `${from}.fileKeyRef.key: Invalid value: "a=": a valid environment variable name must consist only of printable ` +
      "ASCII characters other than '='",
    `${from}.fileKeyRef.volumeName: Invalid value: "V": ${notLabel}`,
    `${from}.fileKeyRef.path: Invalid value: "../x": must not contain '..'`,
    `${from}.fileKeyRef.volumeName: Not found: "V"`,
  ],
  [
    'a variable from a file that is on its node',
    specOf(variable({ fileKeyRef: { key: 'a', path: 'x', volumeName: 'v' } }), claims),
    `${from}.fileKeyRef.volumeName: Invalid value: "v": referenced volume must be of type emptyDir`,
  ],
  [
    'a mount in a way that nobody knows',
    specOf(mount({ mountPropagation: 'Some', recursiveReadOnly: 'Some' }), folder),
    `${at}.volumeMounts.mountPropagation: Unsupported value: "Some": supported values: "Bidirectional", ` +
      '"HostToContainer", "None"',
    `${at}.volumeMounts.recursiveReadOnly: Unsupported value: "Some": supported values: "Disabled", "Enabled", ` +
      '"IfPossible"',
  ],
  [
    'mounts that its host sees',
    specOf(mount({ mountPropagation: 'Bidirectional' }), folder),
    `${at}.volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged ` +
      'containers',
  ],
  [
    'a mount to read alone that can be written',
    specOf(mount({ recursiveReadOnly: 'Enabled', mountPropagation: 'HostToContainer' }), folder),
    `${at}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true`,
    `${at}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not ` +
      'specified',
  ],
  [
    'a device that is a folder',
    specOf({ volumeDevices: [{ name: 'v', devicePath: '/dev/../v' }] }, folder),
    `${at}.volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or ` +
      'Ephemeral for block mode',
    `${at}.volumeDevices[0].devicePath: Invalid value: "/dev/../v": can not contain backsteps ('..')`,
  ],
  [
    'a device without a name',
    specOf({ volumeDevices: [{ name: '', devicePath: '/dev/v' }] }),
    `${at}.volumeDevices[0].name: Required value`,
    `${at}.volumeDevices[0].name: Not found: ""`,
  ],
  [
    'a device twice',
    specOf(
      {
        volumeDevices: [
          { name: 'v', devicePath: '/dev/v' },
          { name: 'v', devicePath: '/dev/v' },
        ],
      },
      claims,
    ),
    `${at}.volumeDevices[1].name: Invalid value: "v": must be unique`,
    `${at}.volumeDevices[1].devicePath: Invalid value: "/dev/v": must be unique`,
  ],
  [
    'rules about starting it again, but no policy',
    specOf({
      restartPolicyRules: [{ action: 'Some', exitCodes: { operator: 'Some', values: [1] } }, { action: 'Restart' }],
    }),
    `${at}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`,
    `${at}.restartPolicyRules[0].action: Unsupported value: "Some": supported values: "Restart", ` +
      `"RestartAllContainers"`,
    `${at}.restartPolicyRules[0].exitCodes.operator: Unsupported value: "Some": supported values: "In", "NotIn"`,
    `${at}.restartPolicyRules[1].exitCodes: Required value: must be specified`,
  ],
  [
    'rules without end',
    specOf({
      restartPolicy: 'Never',
      restartPolicyRules: Array.from({ length: 21 }, (_, i) => ({
        action: 'Restart',
        exitCodes: { operator: 'In', values: Array.from({ length: i === 0 ? 256 : 1 }, (_v, n) => n) },
      })),
    }),
    `${at}.restartPolicyRules: Too many: 21: must have at most 20 items`,
    `${at}.restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items`,
  ],
  [
    'resizes of what has no size',
    specOf(
      {
        resizePolicy: [
          { resourceName: 'x', restartPolicy: 'Some' },
          { resourceName: 'cpu', restartPolicy: 'NotRequired' },
          { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
        ],
      },
      { restartPolicy: 'Never' },
    ),
    `${at}.resizePolicy: Unsupported value: "x": supported values: "cpu", "memory"`,
    `${at}.resizePolicy: Unsupported value: "Some": supported values: "NotRequired", "RestartContainer"`,
    `${at}.resizePolicy: Invalid value: "Some": must be 'NotRequired' when pod \`restartPolicy\` is 'Never'`,
    `${at}.resizePolicy[2]: Duplicate value: "cpu"`,
    `${at}.resizePolicy: Invalid value: "RestartContainer": must be 'NotRequired' when pod \`restartPolicy\` is ` +
      "'Never'",
  ],
  [
    'resizes that start again what is over',
    specOf(
      {},
      {
        initContainers: [
          { name: 'i', image: 'i', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] },
        ],
      },
    ),
    'spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to ' +
      "'RestartContainer' for non-sidecar initContainers",
  ],
  [
    'claims that the pod does not make',
    specOf(
      {
        resources: {
          claims: [
            { name: 'b', request: 'A' },
            { name: 'a', request: 'x' },
            { name: 'a', request: 'x' },
            { name: 'a' },
            { name: 'a' },
          ],
        },
      },
      { resourceClaims: [{ name: 'a', resourceClaimName: 'a' }] },
    ),
    `${at}.resources.claims[0].request: Invalid value: "A": ${notLabel}`,
    `${at}.resources.claims[0]: Not found: "b": must be one of the names in pod.spec.resourceClaims: a`,
    `${at}.resources.claims[2]: Duplicate value: "a/x"`,
    `${at}.resources.claims[3]: Duplicate value: "a"`,
    `${at}.resources.claims[4]: Duplicate value: "a"`,
  ],
  [
    'huge pages in parts, and nothing beside them',
    specOf({ resources: { limits: { 'hugepages-2Mi': '3Mi' }, requests: { 'hugepages-2Mi': '3Mi' } } }),
    `${at}.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of ` +
      `hugepages-2Mi`,
    `${at}.resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of ` +
      `hugepages-2Mi`,
    `${at}.resources: Forbidden: HugePages require cpu or memory`,
  ],
  [
    'an hour of sleep at the end, of half a minute',
    specOf({ lifecycle: { preStop: { sleep: { seconds: 3600 } } } }),
    `${at}.lifecycle.preStop.sleep: Invalid value: 3600: must be non-negative and less than ` +
      'terminationGracePeriodSeconds (30)',
  ],
  [
    'sleep that no number holds',
    specOf({ lifecycle: { preStop: { sleep: { seconds: exactNumber('9007199254740993') } } } }),
    `${at}.lifecycle.preStop.sleep: Invalid value: 9007199254740993: must be non-negative and less than ` +
      'terminationGracePeriodSeconds (30)',
  ],
  [
    'readiness that takes its time to end',
    specOf({ readinessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 0 } }),
    `${at}.readinessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`,
    `${at}.readinessProbe.terminationGracePeriodSeconds: Invalid value: 0: must not be set for readinessProbes`,
  ],
  [
    'options of Windows that are none',
    specOf({
      securityContext: {
        windowsOptions: { gmsaCredentialSpecName: 'A', gmsaCredentialSpec: '', runAsUserName: '' },
      },
    }),
    `${at}.securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "A": ${notSubdomain}`,
    `${at}.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an ` +
      `empty ` +
      'string',
    `${at}.securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string`,
  ],
  [
    'a port of its host twice',
    {
      containers: [
        container({ ports: [{ containerPort: 1, hostPort: 5 }] }),
        { ...container({ ports: [{ containerPort: 2, hostPort: 5 }] }), name: 'd' },
      ],
    },
    'spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//5"',
  ],
]

describe('a container is not taken that has', () => {
  it.each(wrong)('%s', async (_, spec, ...faults) => {
    expect((await wire.call('POST', `${pods}?dryRun=All`, { metadata: { name: 'p' }, spec })).body).toEqual(
      invalidObject({ kind: 'Pod', name: 'p' }, faults),
    )
    const template = { metadata: {}, spec }
    expect((await wire.call('POST', `${templates}?dryRun=All`, { metadata: { name: 'p' }, template })).body).toEqual(
      invalidObject(
        { kind: 'PodTemplate', name: 'p' },
        faults.map((fault) => `template.${fault}`),
      ),
    )
  })

  it.each<[name: string, complaint: string]>([
    ['a\u0000', ' cannot contain control characters'],
    ['a\\b\\c', ' cannot contain more than one backslash'],
    [`${'a'.repeat(256)}\\u`, "'s Domain length must be under 256 characters"],
    ['.a\\u', "'s Domain doesn't match the NetBios nor the DNS format"],
    ['a\\', "'s User cannot be empty"],
    ['u'.repeat(105), "'s User length must not be longer than 104 characters"],
    ['. .', "'s User cannot contain only periods or spaces"],
    ['a+b', `'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`],
  ])('the user %j of Windows', async (name, complaint) => {
    const securityContext = { windowsOptions: { runAsUserName: name } }
    const { body } = await wire.call('POST', pods, { metadata: { name: 'p' }, spec: specOf({}, { securityContext }) })
    const shown = JSON.stringify(name).replace('\\u0000', '\\x00')
    const field = 'spec.securityContext.windowsOptions.runAsUserName'
    const faults = [`${field}: Invalid value: ${shown}: runAsUserName${complaint}`]
    if (name.length > 257) {
      faults.push(
        `${field}: Invalid value: ${shown}: runAsUserName's Domain doesn't match the NetBios nor the DNS format`,
      )
    }
    expect(body).toEqual(invalidObject({ kind: 'Pod', name: 'p' }, faults))
  })

  it('more of a credential than there is room for', async () => {
    const gmsaCredentialSpec = 'x'.repeat(65_537)
    const spec = specOf({ securityContext: { windowsOptions: { gmsaCredentialSpec } } })
    const { body } = await wire.call('POST', pods, { metadata: { name: 'p' }, spec })
    expect(body).toEqual(
      invalidObject({ kind: 'Pod', name: 'p' }, [
        `${at}.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "${'x'.repeat(10_000)}"...: ` +
          'gmsaCredentialSpec size must be under 64 KiB',
      ]),
    )
  })
})

it('a container may have what is right', async () => {
  const spec = {
    ...folder,
    os: { name: 'linux' },
    resourceClaims: [{ name: 'a', resourceClaimTemplateName: 'a' }],
    initContainers: [container({ name: 'i', ports: [{ containerPort: 1, hostPort: 7 }] })],
    containers: [
      container({
        env: [
          { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['a.io/B']" } } },
          { name: 'B', valueFrom: { fieldRef: { fieldPath: 'spec.host' } } },
          { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1024Ki' } } },
          { name: 'D', valueFrom: { fileKeyRef: { key: 'K', path: 'a/b', volumeName: 'v' } } },
        ],
        ports: [{ containerPort: 1, hostPort: 7 }],
        volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: 'IfPossible' }],
        resources: {
          claims: [
            { name: 'a', request: 'x' },
            { name: 'a', request: 'y' },
          ],
          limits: { cpu: '1', 'hugepages-2Mi': '4Mi' },
        },
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }],
        resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
        lifecycle: { preStop: { sleep: { seconds: 0 } } },
      }),
    ],
  }
  expect((await wire.call('POST', pods, { metadata: { name: 'right' }, spec })).body).toMatchObject({ kind: 'Pod' })
})

it('the image of a template may have space around it: what makes the pods may know what it means', async () => {
  const spec = specOf({ image: ' ' })
  const template = { metadata: {}, spec }
  expect((await wire.call('POST', templates, { metadata: { name: 'space' }, template })).status).toBe(201)
})

it('a pod that is to end before its time ends as soon as it can', async () => {
  const spec = specOf({}, { terminationGracePeriodSeconds: -1 })
  expect((await wire.call('POST', pods, { metadata: { name: 'short' }, spec })).body).toMatchObject({
    spec: { terminationGracePeriodSeconds: 1 },
  })
})

describe('an ephemeral container is not taken that has', () => {
  it('what none has', async () => {
    await wire.must('POST', pods, { metadata: { name: 'host' }, spec: { ...specOf({}), ...folder } })
    const own = {
      name: 'debug',
      image: 'busybox',
      targetContainerName: 'x',
      ports: [{ containerPort: 1 }],
      resources: { limits: { cpu: '1' } },
      restartPolicy: 'Always',
      livenessProbe: { tcpSocket: { port: 1 } },
      lifecycle: { preStop: { sleep: { seconds: 1 } } },
      volumeMounts: [
        { name: 'v', mountPath: '/v', subPath: 'a' },
        { name: 'v', mountPath: '/w', subPathExpr: 'a' },
      ],
    }
    const change = { spec: { ephemeralContainers: [own] } }
    const path = `${pods}/host/ephemeralcontainers`
    const { body } = await wire.call('PATCH', path, change, 'application/strategic-merge-patch+json')
    const why = 'Forbidden: cannot be set for an Ephemeral Container'
    const here = 'spec.ephemeralContainers[0]'
    expect(body).toEqual(
      invalidObject({ kind: 'Pod', name: 'host' }, [
        `${here}.targetContainerName: Not found: "x"`,
        ...['ports', 'resources', 'restartPolicy', 'lifecycle', 'livenessProbe'].map((f) => `${here}.${f}: ${why}`),
        `${here}.volumeMounts[0].subPath: ${why}`,
        `${here}.volumeMounts[1].subPathExpr: ${why}`,
      ]),
    )
  })
})
