/** What a pod as a whole may ask for, and be made of: each refusal in the words of upstream. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exactNumber } from '../../src/kube/json-value.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { notLabel, notLabelValue, notQualified, notSubdomain } from '../support/name-faults.ts'
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
const node = (terms: object) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
})
const near = (term: object) => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k', ...term }] } },
})
const spread = (constraint: object) => ({
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'k', whenUnsatisfiable: 'ScheduleAnyway', ...constraint }],
})
const ofHost = (hostProcess: boolean) => ({ securityContext: { windowsOptions: { hostProcess } } })
const nodes = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]'
const others = 'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]'
const spreads = 'spec.topologySpreadConstraints[0]'
const notIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
const notUnderscored =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must " +
  'start ' +
  "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"
const searches = Array.from({ length: 33 }, () => 'a'.repeat(62))

const wrong: [what: string, spec: object, ...faults: string[]][] = [
  [
    'claims to devices that can not be told apart',
    { resourceClaims: [{ name: '' }, { name: 'A', resourceClaimName: 'B' }, { name: 'a', resourceClaimName: 'a' }] },
    'spec.resourceClaims[0].name: Required value',
    'spec.resourceClaims[0]: Invalid value: ' +
      '{"Name":"","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must ' +
      'specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
    `spec.resourceClaims[1].name: Invalid value: "A": ${notLabel}`,
    `spec.resourceClaims[1].resourceClaimName: Invalid value: "B": ${notSubdomain}`,
  ],
  [
    'a claim to two devices',
    {
      resourceClaims: [
        { name: 'a', resourceClaimName: 'a', resourceClaimTemplateName: 'b' },
        { name: 'a', resourceClaimName: 'a' },
      ],
    },
    'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":"a","ResourceClaimTemplateName":"b"}: at ' +
      'most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
    'spec.resourceClaims[1].name: Duplicate value: "a"',
  ],
  [
    'less for all than for one',
    {
      resources: { requests: { cpu: '1', x: '1' }, limits: { cpu: '2', 'hugepages-2Mi': '2Mi', x: '1' }, claims: [] },
      initContainers: [
        { name: 's', image: 'i', restartPolicy: 'Always', resources: { requests: { cpu: '500m' } } },
        { name: 'i', image: 'i', resources: { requests: { cpu: '1500m' } } },
      ],
      containers: [
        container({
          resources: { requests: { cpu: '1', 'hugepages-2Mi': '4Mi' }, limits: { cpu: '3', 'hugepages-2Mi': '4Mi' } },
        }),
      ],
    },
    'spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level',
    'spec.resources.limits[x]: Invalid value: "x": must be a standard resource type or fully qualified',
    'spec.resources.requests[x]: Invalid value: "x": must be a standard resource type or fully qualified',
    'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container ' +
      'requests of 2',
    'spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate ' +
      'container ' +
      'limits of 4Mi',
    'spec.resources.containers[0][cpu].limits: Invalid value: "3": must be less than or equal to pod limits of 2',
    'spec.resources.containers[0][hugepages-2Mi].limits: Invalid value: "4Mi": must be less than or equal to pod ' +
      'limits ' +
      'of 2Mi',
  ],
  [
    'a whole of what has none',
    { resources: { limits: { 'a.io/b': '1' } } },
    'spec.resources.limits[a.io/b]: Unsupported value: "a.io/b": supported values: "cpu", "hugepages-", "memory"',
  ],
  [
    'a whole on Windows',
    { os: { name: 'windows' }, resources: { limits: { cpu: '1' } } },
    'spec.resources: Forbidden: may not be set for a windows pod',
  ],
  [
    'an overhead of less than nothing',
    { overhead: { cpu: '-1', x: '1' } },
    'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    'spec.overhead.limits[x]: Invalid value: "x": must be a standard resource type or fully qualified',
    'spec.overhead.limits[x]: Invalid value: "x": must be a standard resource for containers',
  ],
  [
    'no names, and no way to find any',
    { dnsPolicy: 'None' },
    'spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None',
  ],
  [
    'no servers to ask for names',
    { dnsPolicy: 'None', dnsConfig: { searches: ['A'] } },
    'spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
  ],
  [
    'names that are none, and too many of them',
    {
      dnsConfig: {
        nameservers: ['x', '1.1.1.1', '1.1.1.2', '1.1.1.3'],
        searches: [...searches.slice(1), 'A_.', '.'],
        options: [{ name: '' }],
      },
    },
    'spec.dnsConfig.nameservers: Invalid value: ["x","1.1.1.1","1.1.1.2","1.1.1.3"]: must not have more than 3 ' +
      'nameservers',
    `spec.dnsConfig.nameservers[0]: Invalid value: "x": ${notIp}`,
    `spec.dnsConfig.searches: Invalid value: ${JSON.stringify([...searches.slice(1), 'A_.', '.'])}: must not ` +
      `have more ` +
      'than 32 search paths',
    `spec.dnsConfig.searches[32]: Invalid value: "A_": ${notUnderscored}`,
    'spec.dnsConfig.options[0]: Required value: must not be empty',
  ],
  [
    'more names to look in than anybody reads',
    { dnsConfig: { searches: ['a'.repeat(254), ...searches.slice(3)] } },
    `spec.dnsConfig.searches: Invalid value: ${JSON.stringify(['a'.repeat(254), ...searches.slice(3)])}: must ` +
      `not have ` +
      'more than 2048 characters (including spaces) in the search list',
    `spec.dnsConfig.searches[0]: Invalid value: "${'a'.repeat(254)}": must be no more than 253 characters`,
  ],
  [
    'a gate without a name',
    { readinessGates: [{ conditionType: 'a b' }] },
    `spec.readinessGates[0].conditionType: Invalid value: "a b": ${notQualified}`,
  ],
  [
    'a name beside the name',
    { hostnameOverride: `A${'a'.repeat(64)}`, setHostnameAsFQDN: true, hostNetwork: true },
    'spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true',
    'spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true',
    'spec.hostnameOverride: Too long: may not be more than 64 bytes',
    `spec.hostnameOverride: Invalid value: "A${'a'.repeat(64)}": ${notSubdomain}`,
  ],
  ['a runtime of no class', { runtimeClassName: '' }, `spec.runtimeClassName: Invalid value: "": ${notSubdomain}`],
  [
    'a deadline that no number holds',
    { activeDeadlineSeconds: exactNumber('9007199254740993') },
    'spec.activeDeadlineSeconds: Invalid value: 9007199254740993: must be between 1 and 2147483647, inclusive',
  ],
  [
    'a toleration that compares numbers',
    { tolerations: [{ key: 'k', operator: 'Gt', value: '1' }] },
    'spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"',
  ],
  [
    'a node by another field than its name',
    node({
      nodeSelectorTerms: [
        {
          matchExpressions: [{ key: 'k', operator: 'In', values: ['a b'] }],
          matchFields: [
            { key: 'metadata.uid', operator: 'Exists' },
            { key: 'metadata.name', operator: 'In', values: ['A', 'b'] },
          ],
        },
      ],
    }),
    `${nodes}.matchExpressions[0].values[0]: Invalid value: "a b": ${notLabelValue}`,
    `${nodes}.matchFields[0].operator: Invalid value: "Exists": not a valid selector operator`,
    `${nodes}.matchFields[0].key: Invalid value: "metadata.uid": not a valid field selector key`,
    `${nodes}.matchFields[1].values: Required value: must be only one value when \`operator\` is 'In' or 'NotIn' for ` +
      'node field selector',
    `${nodes}.matchFields[1].values[0]: Invalid value: "A": ${notSubdomain}`,
  ],
  [
    'a wish to be near others of no namespace',
    near({ namespaces: ['A'], matchLabelKeys: ['a'] }),
    `${others}.namespace: Invalid value: "A": ${notLabel}`,
    `${others}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
  ],
  [
    'a wish to be near others that are like it and are not',
    near({
      labelSelector: { matchLabels: { a: '1' }, matchExpressions: [{ key: 'a', operator: 'Exists' }] },
      matchLabelKeys: ['b b', 'a'],
      mismatchLabelKeys: ['a', 'c c'],
    }),
    `${others}.matchLabelKeys[0]: Invalid value: "b b": ${notQualified}`,
    `${others}.mismatchLabelKeys[1]: Invalid value: "c c": ${notQualified}`,
    `${others}[1]: Invalid value: "a": exists in both matchLabelKeys and labelSelector`,
    `${others}.matchLabelKeys[1]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys`,
  ],
  [
    'a spread over fewer places than one',
    spread({ minDomains: 0, nodeAffinityPolicy: 'Some', nodeTaintsPolicy: 'Some', matchLabelKeys: ['a'] }),
    `${spreads}.minDomains: Invalid value: 0: must be greater than zero`,
    `${spreads}.minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ` +
      'ScheduleAnyway',
    `${spreads}.nodeAffinityPolicy: Unsupported value: "Some": supported values: "Honor", "Ignore"`,
    `${spreads}.nodeTaintsPolicy: Unsupported value: "Some": supported values: "Honor", "Ignore"`,
    `${spreads}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
  ],
  [
    'processes of the host in some containers',
    {
      containers: [container(ofHost(true)), container({ name: 'd' }), container({ name: 'e', ...ofHost(false) })],
    },
    'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess ' +
      'containers',
    'spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
  ],
  [
    'processes of the host for all but one',
    { ...ofHost(true), hostNetwork: true, containers: [container(ofHost(false)), container({ name: 'd' })] },
    'spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value ' +
      'must be ' +
      'identical if both are specified, was true',
    'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess ' +
      'containers',
  ],
]

describe('a pod is not taken that has', () => {
  it.each(wrong)('%s', async (_, fields, ...faults) => {
    const spec = { containers: [container()], ...fields }
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
})

it('a template says how its pods push others aside, or says nothing', async () => {
  const template = { metadata: {}, spec: { containers: [container()], preemptionPolicy: '' } }
  expect((await wire.call('POST', templates, { metadata: { name: 'p' }, template })).body).toEqual(
    invalidObject({ kind: 'PodTemplate', name: 'p' }, ['template.spec.preemptionPolicy: Required value']),
  )
})

it('a pod may have what is right', async () => {
  const spec = {
    ...node({ nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }] }),
    ...spread({
      topologyKey: 'any key',
      whenUnsatisfiable: 'DoNotSchedule',
      minDomains: 2,
      nodeTaintsPolicy: 'Honor',
      labelSelector: {},
      matchLabelKeys: ['a'],
    }),
    resources: { requests: { cpu: '2' }, limits: { cpu: '2' } },
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['1.1.1.1'], searches: ['.', '_tcp.a.b.'] },
    readinessGates: [{ conditionType: 'a.io/B' }],
    hostnameOverride: 'a.b',
    containers: [container({ resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } })],
  }
  const { body } = await wire.call('POST', pods, { metadata: { name: 'right', labels: { a: '1' } }, spec })
  expect(body).toMatchObject({ kind: 'Pod' })
})
