/** Where volumes of a pod may come from: each refusal in the words of upstream. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exactNumber } from '../../src/kube/json-value.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { notLabel, notSubdomain } from '../support/name-faults.ts'
import { invalidObject } from '../support/refusal.ts'
import { Wire } from '../support/wire.ts'

const pods = '/api/v1/namespaces/default/pods'
const templates = '/api/v1/namespaces/default/podtemplates'
const containers = [{ name: 'c', image: 'nginx' }]

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

const target = { targetPortal: '127.0.0.1', iqn: 'iqn.2015-02.example.com:test', lun: 1 }
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const outOfLuns = 'must be between 0 and 255, inclusive'
const reserved = 'kubernetes.io and k8s.io namespaces are reserved'
const notPairs = 'must be a host:port pair or multiple pairs separated by commas'
const twice = 'conflicting duplicate paths'
const files = (...items: object[]) => ({ items })
const named = (path: string) => ({ path, fieldRef: { fieldPath: 'metadata.name' } })

const wrong: [source: string, given: object, ...faults: string[]][] = [
  [
    'gitRepo',
    { repository: '', directory: '../x' },
    '.repository: Required value',
    '.directory: Invalid value: "../x": must not contain \'..\'',
  ],
  ['gitRepo', { repository: 'r', directory: '/x' }, '.directory: Invalid value: "/x": must be a relative path'],
  [
    'iscsi',
    { targetPortal: '', iqn: '', lun: 256, chapAuthSession: true, initiatorName: 'x' },
    '.targetPortal: Required value',
    '.iqn: Required value',
    `.lun: Invalid value: 256: ${outOfLuns}`,
    '.secretRef: Required value',
    '.initiatorname: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
  ],
  [
    'iscsi',
    { ...target, iqn: 'iqn.x', initiatorName: 'eui.0' },
    '.iqn: Invalid value: "iqn.x": must be valid format',
    '.initiatorname: Invalid value: "eui.0": must be valid format',
  ],
  ['fc', { lun: 1 }, '.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both'],
  ['fc', { targetWWNs: ['w'] }, '.lun: Required value: lun is required if targetWWNs is specified'],
  [
    'fc',
    { targetWWNs: ['w'], wwids: ['w'], lun: -1 },
    '.targetWWNs: Invalid value: ["w"]: targetWWNs and wwids can not be specified simultaneously',
    `.lun: Invalid value: -1: ${outOfLuns}`,
  ],
  ['flocker', {}, ': Required value: one of datasetName and datasetUUID is required'],
  [
    'flocker',
    { datasetName: 'a/b', datasetUUID: 'u' },
    ': Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
    '.datasetName: Invalid value: "a/b": must not contain \'/\'',
  ],
  ['quobyte', { registry: '', volume: '' }, `.registry: Required value: ${notPairs}`, '.volume: Required value'],
  ['quobyte', { registry: 'a:1,b', volume: 'v' }, `.registry: Invalid value: "a:1,b": ${notPairs}`],
  [
    'quobyte',
    { registry: 'a:1', volume: 'v', tenant: 't'.repeat(65) },
    '.tenant: Required value: must be a UUID and may not exceed a length of 64 characters',
  ],
  ['glusterfs', { endpoints: '', path: '' }, '.endpoints: Required value', '.path: Required value'],
  ['rbd', { monitors: [], image: '' }, '.monitors: Required value', '.image: Required value'],
  ['cephfs', { monitors: [] }, '.monitors: Required value'],
  ['cinder', { volumeID: '', secretRef: {} }, '.volumeID: Required value', '.secretRef.name: Required value'],
  [
    'awsElasticBlockStore',
    { volumeID: '', partition: 256 },
    '.volumeID: Required value',
    '.partition: Invalid value: 256: must be between 1 and 255, inclusive',
  ],
  ['azureFile', { secretName: '', shareName: '' }, '.secretName: Required value', '.shareName: Required value'],
  ['vsphereVolume', { volumePath: '' }, '.volumePath: Required value'],
  ['photonPersistentDisk', { pdID: '' }, '.pdID: Required value'],
  ['portworxVolume', { volumeID: '' }, '.volumeID: Required value'],
  [
    'scaleIO',
    { gateway: '', system: '', volumeName: '', secretRef: {} },
    '.gateway: Required value',
    '.system: Required value',
    '.volumeName: Required value',
  ],
  [
    'flexVolume',
    { driver: '', options: { 'a.K8s.io/b': '', 'kubernetes.io': '', ok: '' } },
    '.driver: Required value',
    `.options[a.K8s.io/b]: Invalid value: "a.K8s.io/b": ${reserved}`,
    `.options[kubernetes.io]: Invalid value: "kubernetes.io": ${reserved}`,
  ],
  [
    'azureDisk',
    { diskName: '', diskURI: '', cachingMode: 'Some', kind: 'Some' },
    '.diskName: Required value',
    '.diskURI: Required value',
    '.cachingMode: Unsupported value: "Some": supported values: "None", "ReadOnly", "ReadWrite"',
    '.kind: Unsupported value: "Some": supported values: "Dedicated", "Managed", "Shared"',
    '.diskURI: Unsupported value: "": supported values: ' +
      '"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"',
  ],
  [
    'azureDisk',
    { diskName: 'd', diskURI: 'https://b/d', kind: 'Managed' },
    '.diskURI: Unsupported value: "https://b/d": supported values: "/subscriptions/{sub-id}/resourcegroups/' +
      '{group-name}/providers/microsoft.compute/disks/{disk-id}"',
  ],
  ['storageos', {}, '.volumeName: Required value'],
  [
    'storageos',
    { volumeName: 'A', volumeNamespace: 'B', secretRef: { name: '' } },
    `.volumeName: Invalid value: "A": ${notLabel}`,
    `.volumeNamespace: Invalid value: "B": ${notLabel}`,
    '.secretRef.name: Required value',
  ],
  ['csi', { driver: 'd', nodePublishSecretRef: {} }, '.nodePublishSecretRef.name: Required value'],
  ['csi', { driver: 'd', nodePublishSecretRef: { name: 'A' } }, `.name: Invalid value: "A": ${notSubdomain}`],
  [
    'secret',
    { secretName: 's', items: [{ key: 'k', path: '..data' }] },
    '.items[0].path: Invalid value: "..data": must not start with \'..\'',
  ],
  [
    'downwardAPI',
    files({ path: 'a', fieldRef: { fieldPath: 'spec.nodeName' } }),
    '.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", ' +
      '"metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
  ],
  [
    'downwardAPI',
    files({ path: 'a', resourceFieldRef: { resource: 'limits.cpu' } }),
    '.resourceFieldRef.containerName: Required value',
  ],
  [
    'projected',
    {
      sources: [
        { secret: { name: 's', items: [{ key: 'k', path: 'a' }] } },
        { configMap: { name: 'c', items: [{ key: 'k', path: 'a' }] } },
        { downwardAPI: files(named('a')) },
      ],
    },
    `: Invalid value: "c": ${twice}`,
    `: Invalid value: "a": ${twice}`,
  ],
  [
    'projected',
    { sources: [{ serviceAccountToken: { path: '../t', expirationSeconds: exactNumber('9007199254740993') } }] },
    '.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 9007199254740993: may not specify a duration ' +
      'larger than 2^32 seconds',
    '.path: Invalid value: "../t": must not contain \'..\'',
  ],
  ['ephemeral', {}, '.volumeClaimTemplate: Required value'],
  [
    'ephemeral',
    { volumeClaimTemplate: { metadata: { name: 'n', labels: { a: 'b b' } }, spec: { ...claim, accessModes: [] } } },
    '.volumeClaimTemplate.metadata.labels: Invalid value: "b b": a valid label must be an empty string or consist of ' +
      "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. " +
      "'MyValue',  " +
      "or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    '.volumeClaimTemplate.metadata.name: Forbidden: cannot be set',
    '.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required',
  ],
]

const create = (name: string, volumes: object[]) =>
  wire.call('POST', `${pods}?dryRun=All`, { metadata: { name }, spec: { containers, volumes } })

describe('a volume is not taken that is', () => {
  it.each(wrong)('%s %j', async (source, given, ...faults) => {
    const volumes = [{ name: 'v', [source]: given }]
    const at = `spec.volumes[0].${source}`
    const expected = (before: string) => faults.map((fault) => `${before}${at}${fault}`)
    expect((await create('p', volumes)).body).toEqual(invalidObject({ kind: 'Pod', name: 'p' }, expected('')))
    const template = { metadata: {}, spec: { containers, volumes } }
    expect((await wire.call('POST', `${templates}?dryRun=All`, { metadata: { name: 'p' }, template })).body).toEqual(
      invalidObject({ kind: 'PodTemplate', name: 'p' }, expected('template.')),
    )
  })

  it('a disk that has no name, called as upstream calls it', async () => {
    const { body } = await create('p', [{ name: 'v', gcePersistentDisk: { pdName: '', partition: -1 } }])
    expect(body).toEqual(
      invalidObject({ kind: 'Pod', name: 'p' }, [
        'spec.volumes[0].persistentDisk.pdName: Required value',
        'spec.volumes[0].persistentDisk.partition: Invalid value: -1: must be between 1 and 255, inclusive',
      ]),
    )
  })

  it('of a name too long for who asks', async () => {
    const name = 'v'.repeat(60)
    const iscsi = { ...target, initiatorName: 'iqn.2015-02.example.com:init' }
    expect((await create('p', [{ name, iscsi }])).body).toEqual(
      invalidObject({ kind: 'Pod', name: 'p' }, [
        `spec.volumes[0].name: Invalid value: "${name}": Total length of <volume name>:<iscsi.targetPortal> must be ` +
          'under 64 characters if iscsi.initiatorName is specified.',
      ]),
    )
  })

  it('a claim that is made for another, or can not be made', async () => {
    const ephemeral = { volumeClaimTemplate: { spec: claim } }
    const long = 'p'.repeat(252)
    expect(
      (
        await create('p', [
          { name: 'v', ephemeral },
          { name: 'w', persistentVolumeClaim: { claimName: 'p-v' } },
        ])
      ).body,
    ).toEqual(
      invalidObject({ kind: 'Pod', name: 'p' }, [
        'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "p-v": must not reference a PVC that gets ' +
          'created for an ephemeral volume',
      ]),
    )
    expect((await create(long, [{ name: 'v', ephemeral }])).body).toEqual(
      invalidObject({ kind: 'Pod', name: long }, [
        `spec.volumes[0].name: Invalid value: "v": PVC name "${long}-v": must be no more than 253 characters`,
      ]),
    )
  })
})

it('a volume may be what is right', async () => {
  const volumes = [
    { name: 'a', iscsi: { ...target, initiatorName: `eui.${'0'.repeat(16)}` } },
    { name: 'b', quobyte: { registry: '[::1]:7861,h:7861', volume: 'v' } },
    { name: 'c', azureDisk: { diskName: 'd', diskURI: '/subscriptions/s', kind: 'Managed' } },
    { name: 'd', fc: { wwids: ['w'] } },
    { name: 'e', downwardAPI: files({ path: 'a', fieldRef: { fieldPath: "metadata.labels['a.io/b']" } }) },
    { name: 'f', ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: 'b' } }, spec: claim } } },
    { name: 'g', gitRepo: { repository: 'r' } },
  ]
  expect((await create('right', volumes)).body).toMatchObject({ kind: 'Pod' })
})
