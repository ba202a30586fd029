/** What pods ask of the kernel of their node: profiles, sysctls, identities and the namespaces of the host. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runAtOnce } from '../../src/base/resumable.ts'
import { loadCatalog } from '../../src/catalog/catalog.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { assumeValid } from '../../src/kube/unvalidated.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { faultsOf, invalidObject } from '../support/refusal.ts'
import { Wire } from '../support/wire.ts'

const pods = '/api/v1/namespaces/default/pods'
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
