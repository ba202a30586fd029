/** What pods ask of the kernel of their node: profiles, sysctls, identities and the namespaces of the host. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runAtOnce } from '../../src/base/resumable.ts'
import { loadCatalog } from '../../src/catalog/catalog.ts'
import { exactNumber } from '../../src/kube/json-value.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { assumeValid } from '../../src/kube/unvalidated.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { faultsOf, invalidObject } from '../support/refusal.ts'
import { Wire } from '../support/wire.ts'

const pods = '/api/v1/namespaces/default/pods'
const templates = '/api/v1/namespaces/default/podtemplates'
const context = 'spec.securityContext'
const own = 'spec.containers[0].securityContext'
const types = 'supported values: "Localhost", "RuntimeDefault", "Unconfined"'
const ids = 'must be between 0 and 2147483647, inclusive'
const sysctlForm =
  'must have at most 253 characters and match regex ' +
  String.raw`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

const container = (securityContext: object = {}) => ({ name: 'main', image: 'nginx', securityContext })
const create = (spec: object, dryRun = '') =>
  wire.call('POST', `${pods}${dryRun}`, { metadata: { name: 'p' }, spec: { containers: [container()], ...spec } })

const localhost = (localhostProfile: string) => ({ type: 'Localhost', localhostProfile })

const profiles: [what: string, field: string, profile: object, faults: string[]][] = [
  [
    'a path upwards',
    'seccompProfile',
    localhost('../../x'),
    [`localhostProfile: Invalid value: "../../x": must not contain '..'`],
  ],
  [
    'an absolute path',
    'seccompProfile',
    localhost('/x'),
    ['localhostProfile: Invalid value: "/x": must be a relative path'],
  ],
  [
    'no path',
    'seccompProfile',
    { type: 'Localhost' },
    ['localhostProfile: Required value: must be set when seccomp type is Localhost'],
  ],
  [
    'a path of another type',
    'seccompProfile',
    { type: 'RuntimeDefault', localhostProfile: 'x' },
    [
      'localhostProfile: Invalid value: {"Type":"RuntimeDefault","LocalhostProfile":"x"}: can only be set when ' +
        'seccomp type is Localhost',
    ],
  ],
  ['no known type', 'seccompProfile', { type: 'Other' }, [`type: Unsupported value: "Other": ${types}`]],
  [
    'an empty type',
    'seccompProfile',
    { type: '' },
    ['type: Required value: type is required when seccompProfile is set'],
  ],
  [
    'white space',
    'appArmorProfile',
    localhost(' '),
    ['localhostProfile: Invalid value: " ": must not be padded with whitespace'],
  ],
  [
    'an empty name',
    'appArmorProfile',
    localhost(''),
    ['localhostProfile: Required value: must be set when AppArmor type is Localhost'],
  ],
  [
    'no name',
    'appArmorProfile',
    { type: 'Localhost' },
    ['localhostProfile: Required value: must be set when AppArmor type is Localhost'],
  ],
  [
    'a name too long',
    'appArmorProfile',
    localhost('x'.repeat(4096)),
    ['localhostProfile: Too long: may not be more than 4095 bytes'],
  ],
  [
    'a name of another type',
    'appArmorProfile',
    { type: 'RuntimeDefault', localhostProfile: 'x' },
    ['localhostProfile: Invalid value: "x": can only be set when AppArmor type is Localhost'],
  ],
  ['no known type', 'appArmorProfile', { type: 'Other' }, [`type: Unsupported value: "Other": ${types}`]],
  [
    'an empty type',
    'appArmorProfile',
    { type: '' },
    ['type: Required value: type is required when appArmorProfile is set'],
  ],
]

describe('a pod is not created with', () => {
  it.each(profiles)('%s in %s', async (_, field, profile, faults) => {
    const expected = (at: string) =>
      invalidObject(
        { kind: 'Pod', name: 'p' },
        faults.map((fault) => `${at}.${field}.${fault}`),
      )
    expect((await create({ securityContext: { [field]: profile } })).body).toEqual(expected(context))
    expect((await create({ containers: [container({ [field]: profile })] }, '?dryRun=All')).body).toEqual(expected(own))
  })

  it.each<[what: string, spec: object, ...faults: string[]]>([
    [
      'a sysctl that leads upwards',
      { securityContext: { sysctls: [{ name: '../x', value: '1' }] } },
      `${context}.sysctls[0].name: Invalid value: "../x": ${sysctlForm}`,
    ],
    [
      'a sysctl without a name',
      { securityContext: { sysctls: [{ name: '', value: '1' }] } },
      `${context}.sysctls[0].name: Required value`,
    ],
    [
      'a sysctl twice',
      {
        securityContext: {
          sysctls: [
            { name: 'a.b', value: '1' },
            { name: 'a.b', value: '2' },
          ],
        },
      },
      `${context}.sysctls[1].name: Duplicate value: "a.b"`,
    ],
    [
      "a sysctl of the host's network",
      { hostNetwork: true, securityContext: { sysctls: [{ name: 'net/a', value: '1' }] } },
      `${context}.sysctls[0].name: Invalid value: "net/a": may not be specified when 'hostNetwork' is true`,
    ],
    [
      "a sysctl of the host's IPC",
      { hostIPC: true, securityContext: { sysctls: [{ name: 'kernel.shmmax', value: '1' }] } },
      `${context}.sysctls[0].name: Invalid value: "kernel.shmmax": may not be specified when 'hostIPC' is true`,
    ],
    [
      'procMount of no form',
      { containers: [container({ procMount: 'All' })] },
      `${own}.procMount: Unsupported value: "All": supported values: "Default", "Unmasked"`,
    ],
    [
      "procMount unmasked among the host's users",
      { containers: [container({ procMount: 'Unmasked' })] },
      `${own}.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``,
    ],
    [
      'users of its own in namespaces of the host',
      { hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true },
      'spec.hostNetwork: Forbidden: when `hostUsers` is false',
      'spec.HostPID: Forbidden: when `hostUsers` is false',
      'spec.HostIPC: Forbidden: when `hostUsers` is false',
    ],
    [
      'devices and users of its own',
      {
        hostUsers: false,
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'v' } }],
        containers: [{ ...container(), volumeDevices: [{ name: 'v', devicePath: '/dev/v' }] }],
      },
      'spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false',
    ],
    [
      'groups out of bounds',
      { securityContext: { supplementalGroups: [1, -1, 2_147_483_648] } },
      `${context}.supplementalGroups[1]: Invalid value: -1: ${ids}`,
      `${context}.supplementalGroups[2]: Invalid value: 2147483648: ${ids}`,
    ],
    [
      'identities that no number holds',
      {
        securityContext: {
          supplementalGroups: [exactNumber('9007199254740993')],
          fsGroup: exactNumber('-9007199254740993'),
        },
      },
      `${context}.fsGroup: Invalid value: -9007199254740993: ${ids}`,
      `${context}.supplementalGroups[0]: Invalid value: 9007199254740993: ${ids}`,
    ],
    [
      'identities out of bounds',
      { securityContext: { runAsUser: -1, runAsGroup: -2, fsGroup: 2_147_483_648 } },
      `${context}.runAsUser: Invalid value: -1: ${ids}`,
      `${context}.runAsGroup: Invalid value: -2: ${ids}`,
      `${context}.fsGroup: Invalid value: 2147483648: ${ids}`,
    ],
    [
      "its own and the host's processes",
      { shareProcessNamespace: true, hostPID: true, securityContext: {} },
      `${context}.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled`,
    ],
    [
      'policies of no form',
      {
        securityContext: {
          fsGroupChangePolicy: 'a',
          supplementalGroupsPolicy: 'b',
          seLinuxChangePolicy: 'MountOption',
        },
      },
      `${context}.fsGroupChangePolicy: Unsupported value: "a": supported values: "Always", "OnRootMismatch"`,
      `${context}.supplementalGroupsPolicy: Unsupported value: "b": supported values: "Merge", "Strict"`,
      `${context}.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"`,
    ],
  ])('%s', async (_, spec, ...faults) => {
    expect((await create(spec)).body).toEqual(invalidObject({ kind: 'Pod', name: 'p' }, faults))
  })
})

const because = 'cannot be set for a windows pod'
const seccompOfPod = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompOfMain = 'container.seccomp.security.alpha.kubernetes.io/main'
const appArmorOfMain = 'container.apparmor.security.beta.kubernetes.io/main'

it.each<[what: string, spec: object, ...faults: string[]]>([
  [
    'is for no known system',
    { os: { name: 'plan9' } },
    'spec.os: Unsupported value: "plan9": supported values: "linux", "windows"',
  ],
  ['is for a system without a name', { os: { name: '' } }, 'spec.os.name: Required value'],
  [
    'is for Linux and has options of Windows',
    { os: { name: 'linux' }, securityContext: { windowsOptions: {} }, containers: [container({ windowsOptions: {} })] },
    `${context}.windowsOptions: Forbidden: windows options cannot be set for a linux pod`,
    `${own}.windowsOptions: Forbidden: windows options cannot be set for a linux pod`,
  ],
  [
    'is for Windows and has fields of Linux',
    {
      os: { name: 'windows' },
      hostPID: true,
      shareProcessNamespace: false,
      securityContext: { runAsUser: 1, seLinuxOptions: {} },
      containers: [container({ privileged: false, capabilities: {} })],
    },
    `spec.hostPID: Forbidden: ${because}`,
    `spec.shareProcessNamespace: Forbidden: ${because}`,
    `${context}.seLinuxOptions: Forbidden: ${because}`,
    `${context}.runAsUser: Forbidden: ${because}`,
    `${own}.capabilities: Forbidden: ${because}`,
    `${own}.privileged: Forbidden: ${because}`,
  ],
  [
    'is on a node before its gates are open',
    { nodeName: 'n', schedulingGates: [{ name: 'a' }] },
    'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
  ],
])('a pod is not created that %s', async (_, spec, ...faults) => {
  expect((await create(spec)).body).toEqual(invalidObject({ kind: 'Pod', name: 'p' }, faults))
})

describe('annotations and fields of a new pod and of a template name the same profile:', () => {
  it.each<[what: string, annotations: object, profiles: object, ...faults: string[]]>([
    [
      'one of seccomp',
      { [seccompOfMain]: 'unconfined' },
      { seccompProfile: { type: 'RuntimeDefault' } },
      'seccompProfile.type: Forbidden: seccomp type in annotation and field must match',
    ],
    [
      'a file of seccomp',
      { [seccompOfMain]: 'localhost/a' },
      { seccompProfile: localhost('b') },
      'seccompProfile.localhostProfile: Forbidden: seccomp profile in annotation and field must match',
    ],
    [
      'one of AppArmor',
      { [appArmorOfMain]: 'unconfined' },
      { appArmorProfile: localhost('b') },
      'appArmorProfile.type: Forbidden: apparmor type in annotation and field must match',
    ],
    [
      'a named one of AppArmor',
      { [appArmorOfMain]: 'localhost/a' },
      { appArmorProfile: localhost('b') },
      'appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match',
    ],
  ])('%s', async (_, annotations, profiles, ...faults) => {
    const spec = { containers: [container(profiles)] }
    expect((await wire.call('POST', pods, { metadata: { name: 'p', annotations }, spec })).body).toEqual(
      invalidObject(
        { kind: 'Pod', name: 'p' },
        faults.map((fault) => `${own}.${fault}`),
      ),
    )
    const template = { metadata: { annotations }, spec }
    expect((await wire.call('POST', templates, { metadata: { name: 'p' }, template })).body).toEqual(
      invalidObject(
        { kind: 'PodTemplate', name: 'p' },
        faults.map((fault) => `template.${own}.${fault}`),
      ),
    )
  })

  it('that of the whole pod', async () => {
    const metadata = { name: 'p', annotations: { [seccompOfPod]: 'runtime/default' } }
    const spec = { securityContext: { seccompProfile: { type: 'Unconfined' } }, containers: [container()] }
    expect((await wire.call('POST', pods, { metadata, spec })).body).toEqual(
      invalidObject({ kind: 'Pod', name: 'p' }, [
        `${context}.seccompProfile.type: Forbidden: seccomp type in annotation and field must match`,
      ]),
    )
  })

  it('under its older name as well', async () => {
    const metadata = { name: 'older', annotations: { [seccompOfMain]: 'docker/default' } }
    const spec = { containers: [container({ seccompProfile: { type: 'RuntimeDefault' } })] }
    expect((await wire.call('POST', pods, { metadata, spec })).status).toBe(201)
  })
})

it('the annotations of a template are validated as those of pods', async () => {
  const template = { metadata: { annotations: { [appArmorOfMain]: 'mine' } }, spec: { containers: [container()] } }
  expect((await wire.call('POST', templates, { metadata: { name: 'p' }, template })).body).toEqual(
    invalidObject({ kind: 'PodTemplate', name: 'p' }, [
      `template.annotations[${appArmorOfMain}]: Invalid value: "mine": invalid AppArmor profile name: "mine"`,
    ]),
  )
})

it('a mirror pod gets no ephemeral containers', async () => {
  const metadata = { name: 'mirror', annotations: { 'kubernetes.io/config.mirror': 'h' } }
  await wire.must('POST', pods, { metadata, spec: { nodeName: 'n', containers: [container()] } })
  const change = { spec: { ephemeralContainers: [{ name: 'debug', image: 'busybox' }] } }
  const path = `${pods}/mirror/ephemeralcontainers`
  const { body } = await wire.call('PATCH', path, change, 'application/strategic-merge-patch+json')
  const faults = [': Forbidden: static pods do not support ephemeral containers']
  expect(body).toEqual(invalidObject({ kind: 'Pod', name: 'mirror' }, faults))
})

it('a pod may have what is right', async () => {
  const securityContext = {
    seccompProfile: localhost('a..b/c'),
    appArmorProfile: localhost('x'),
    sysctls: [
      { name: 'net.ipv4.conf/a.b', value: '1' },
      { name: 'kernel.shmmax', value: '1' },
    ],
    supplementalGroups: [0, 2_147_483_647],
    fsGroupChangePolicy: 'OnRootMismatch',
    supplementalGroupsPolicy: 'Strict',
    seLinuxChangePolicy: 'Recursive',
  }
  const own = { procMount: 'Unmasked', seccompProfile: { type: 'Unconfined' }, appArmorProfile: { type: 'Unconfined' } }
  expect((await create({ hostUsers: false, securityContext, containers: [container(own)] })).status).toBe(201)
})

describe('the pods of a template are checked as well, in', () => {
  const spec = { securityContext: { seccompProfile: localhost('..') }, containers: [container()] }
  const labels = { app: 'a' }
  const template = { metadata: { labels }, spec }
  const selector = { matchLabels: labels }
  const batch = { spec: { ...spec, restartPolicy: 'Never' } }
  it.each<[kind: string, path: string, at: string, body: object]>([
    [
      'Deployment.apps',
      '/apis/apps/v1/namespaces/default/deployments',
      'spec.template',
      { spec: { selector, template } },
    ],
    [
      'ReplicaSet.apps',
      '/apis/apps/v1/namespaces/default/replicasets',
      'spec.template',
      { spec: { selector, template } },
    ],
    [
      'DaemonSet.apps',
      '/apis/apps/v1/namespaces/default/daemonsets',
      'spec.template',
      { spec: { selector, template } },
    ],
    ['Job.batch', '/apis/batch/v1/namespaces/default/jobs', 'spec.template', { spec: { template: batch } }],
    [
      'CronJob.batch',
      '/apis/batch/v1/namespaces/default/cronjobs',
      'spec.jobTemplate.spec.template',
      { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: batch } } } },
    ],
    [
      'ReplicationController',
      '/api/v1/namespaces/default/replicationcontrollers',
      'spec.template',
      { spec: { template } },
    ],
    ['PodTemplate', '/api/v1/namespaces/default/podtemplates', 'template', { template }],
  ])('a %s', async (named, path, at, body) => {
    const [kind = '', group] = named.split('.')
    expect((await wire.call('POST', path, { metadata: { name: 'x' }, ...body })).body).toEqual(
      invalidObject({ kind, name: 'x', ...(group ? { group } : {}) }, [
        `${at}.spec.securityContext.seccompProfile.localhostProfile: Invalid value: "..": must not contain '..'`,
      ]),
    )
  })
})

it('what is stored already is not held against a write that leaves it', () => {
  const catalog = loadCatalog()
  const type = catalog.types.find({ group: 'apps', version: 'v1', resource: 'deployments' })
  if (!type) throw new Error('no deployments')
  const deployment = (image: string, path: string): KubeObject => {
    const securityContext = { seccompProfile: localhost(path) }
    const template = {
      metadata: { labels: { app: 'a' } },
      spec: { securityContext, containers: [{ name: 'c', image }] },
    }
    const spec = { selector: { matchLabels: { app: 'a' } }, template }
    return assumeValid(catalog.applyDefaults(type, { metadata: { name: 'a', namespace: 'n' }, spec }))
  }
  const faults = (next: KubeObject) => {
    const context = { subresource: '', now: '2026-11-22T12:00:00Z' }
    return faultsOf(runAtOnce(catalog.strategyOf(type).validate?.(next, deployment('a', '../b'), context) ?? []))
  }
  expect(faults(deployment('b', '../b'))).toEqual([])
  expect(faults(deployment('b', '../c'))).toEqual([
    `spec.template.${context}.seccompProfile.localhostProfile: Invalid value: "../c": must not contain '..'`,
  ])
})
