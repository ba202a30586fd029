/** PodSecurity through the whole server, in upstream's words. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditEvent } from '../../src/audit/audit.ts'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { forbidden, invalidObject } from '../support/refusal.ts'
import { type Answer, Wire } from '../support/wire.ts'

/** The second in which existing pods are looked at must not depend on this machine. */
const patient: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() / 100 }

let plane: TestControlPlane
let wire: Wire
let count = 0

beforeAll(async () => {
  plane = await startControlPlane({ population: false, clock: patient })
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

type Labels = Record<string, string | null>

const labels = (given: Labels): Labels =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [`pod-security.kubernetes.io/${name}`, value]))

/** A namespace with these labels. Answers its name. */
async function labelled(given: Labels, of: Wire = wire): Promise<string> {
  const name = `secured-${++count}`
  await of.must('POST', '/api/v1/namespaces', { metadata: { name, labels: labels(given) } })
  return name
}

const label = (name: string, given: Labels): Promise<Answer> =>
  wire.call(
    'PATCH',
    `/api/v1/namespaces/${name}`,
    { metadata: { labels: labels(given) } },
    'application/merge-patch+json',
  )

const podsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`

const careless = { containers: [{ name: 'a', image: 'nginx' }] }
const privileged = { containers: [{ name: 'a', image: 'nginx', securityContext: { privileged: true } }] }
const careful = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'a',
      image: 'nginx',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
}
const pod = (spec: object, name = 'p'): object => ({ metadata: { name }, spec })

const carelessness =
  'allowPrivilegeEscalation != false (container "a" must set ' +
  'securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "a" must set ' +
  'securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "a" must set ' +
  'securityContext.runAsNonRoot=true), seccompProfile (pod or container "a" must set ' +
  'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
const isPrivileged = 'privileged (container "a" must not set securityContext.privileged=true)'

const warningsOf = ({ headers }: Answer): string[] =>
  (headers.get('warning') ?? '')
    .split(/, (?=299 )/)
    .filter((text) => text !== '')
    .map((text) => text.replace(/^299 - "(.*)"$/s, '$1').replaceAll(/\\(.)/g, '$1'))

describe('pods', () => {
  it('may do anything where no label says otherwise', async () => {
    const answer = await wire.call('POST', podsIn('default'), pod(privileged))
    expect([answer.status, warningsOf(answer)]).toEqual([201, []])
  })

  it('that violate what is enforced are refused, whatever their kind of name', async () => {
    const namespace = await labelled({ enforce: 'restricted' })
    const refused = await wire.call('POST', podsIn(namespace), pod(careless))
    expect(refused.body).toEqual(
      forbidden({ kind: 'pods', name: 'p' }, `violates PodSecurity "restricted:latest": ${carelessness}`),
    )
    expect([refused.status, warningsOf(refused)]).toEqual([403, []])

    const unnamed = await wire.call('POST', podsIn(namespace), { metadata: { generateName: 'g-' }, spec: careless })
    const { name } = unnamed.body.details ?? {}
    expect(name).toMatch(/^g-.{5}$/)
    expect(unnamed.body.message).toBe(
      `pods "${name}" is forbidden: violates PodSecurity "restricted:latest": ${carelessness}`,
    )

    const dry = await wire.call('POST', `${podsIn(namespace)}?dryRun=All`, pod(careless))
    expect(dry.status).toBe(403)
    expect((await wire.call('POST', podsIn(namespace), pod(careful))).status).toBe(201)
  })

  it('are judged by the version that the label names', async () => {
    const namespace = await labelled({ enforce: 'restricted', 'enforce-version': 'v1.7' })
    const refused = await wire.call('POST', podsIn(namespace), pod(careless))
    expect(refused.body).toEqual(
      forbidden(
        { kind: 'pods', name: 'p' },
        'violates PodSecurity "restricted:v1.7": runAsNonRoot != true (pod or container "a" must set ' +
          'securityContext.runAsNonRoot=true)',
      ),
    )
  })

  it('that would violate more than is enforced come with a warning', async () => {
    const namespace = await labelled({ enforce: 'baseline', warn: 'restricted' })
    const answer = await wire.call('POST', podsIn(namespace), pod(careless))
    expect([answer.status, warningsOf(answer)]).toEqual([
      201,
      [`would violate PodSecurity "restricted:latest": ${carelessness}`],
    ])
  })

  it('are judged again when what runs in them changes, and not before', async () => {
    const namespace = await labelled({})
    const at = `${podsIn(namespace)}/p`
    await wire.must('POST', podsIn(namespace), pod(privileged))
    await label(namespace, { enforce: 'baseline' })

    const patch = (body: object): Promise<Answer> =>
      wire.call('PATCH', at, body, 'application/strategic-merge-patch+json')
    const annotated = await patch({ metadata: { annotations: { a: 'b' } } })
    expect([annotated.status, warningsOf(annotated)]).toEqual([200, []])
    const other = await patch({ spec: { containers: [{ name: 'a', image: 'other' }] } })
    expect(other.body).toEqual(
      forbidden({ kind: 'pods', name: 'p' }, `violates PodSecurity "baseline:latest": ${isPrivileged}`),
    )
    const resized = await wire.call(
      'PATCH',
      `${at}/resize`,
      { spec: { containers: [{ name: 'a', resources: { requests: { cpu: '1' } } }] } },
      'application/strategic-merge-patch+json',
    )
    expect(resized.body.message ?? '').not.toContain('PodSecurity')
    const status = await wire.call(
      'PATCH',
      `${at}/status`,
      { status: { phase: 'Running' } },
      'application/merge-patch+json',
    )
    expect(status.status).toBe(200)
  })

  it('get no ephemeral container that is forbidden', async () => {
    const namespace = await labelled({ enforce: 'baseline' })
    await wire.must('POST', podsIn(namespace), pod(careless))
    const debug = (securityContext: object): Promise<Answer> =>
      wire.call(
        'PATCH',
        `${podsIn(namespace)}/p/ephemeralcontainers`,
        { spec: { ephemeralContainers: [{ name: 'debug', image: 'busybox', securityContext }] } },
        'application/strategic-merge-patch+json',
      )
    expect((await debug({ capabilities: { add: ['SYS_PTRACE'] } })).body).toEqual(
      forbidden(
        { kind: 'pods', name: 'p' },
        'violates PodSecurity "baseline:latest": non-default capabilities (container "debug" must not ' +
          'include "SYS_PTRACE" in securityContext.capabilities.add)',
      ),
    )
    expect((await debug({})).status).toBe(200)
  })

  it('with a volume that says nothing have an empty one, which is allowed', async () => {
    const namespace = await labelled({ enforce: 'restricted' })
    expect((await wire.call('POST', podsIn(namespace), pod({ ...careful, volumes: [{ name: 'v' }] }))).status).toBe(201)
  })
})

describe('what makes pods', () => {
  const template = { metadata: { labels: { app: 'a' } }, spec: careless }
  const spec = { selector: { matchLabels: { app: 'a' } }, template }
  const job = { template: { spec: { ...careless, restartPolicy: 'Never' } } }
  const makers: readonly [path: string, maker: object][] = [
    ['/apis/apps/v1/namespaces/N/deployments', { spec }],
    ['/apis/apps/v1/namespaces/N/replicasets', { spec }],
    ['/apis/apps/v1/namespaces/N/daemonsets', { spec }],
    ['/apis/apps/v1/namespaces/N/statefulsets', { spec: { ...spec, serviceName: 's' } }],
    ['/apis/batch/v1/namespaces/N/jobs', { spec: job }],
    ['/apis/batch/v1/namespaces/N/cronjobs', { spec: { schedule: '* * * * *', jobTemplate: { spec: job } } }],
    ['/api/v1/namespaces/N/replicationcontrollers', { spec: { selector: { app: 'a' }, template } }],
    ['/api/v1/namespaces/N/podtemplates', { template }],
  ]

  for (const [path, maker] of makers) {
    it(`is warned of and never refused: ${path.split('/').at(-1)}`, async () => {
      const namespace = await labelled({ enforce: 'restricted', 'enforce-version': 'v1.30' })
      const at = path.replace('N', namespace)
      const warning = `would violate PodSecurity "restricted:v1.30": ${carelessness}`
      const made = await wire.call('POST', at, { metadata: { name: 'm' }, ...maker })
      expect([made.status, warningsOf(made)]).toEqual([201, [warning]])
      const changed = await wire.call(
        'PATCH',
        `${at}/m`,
        { metadata: { annotations: { a: 'b' } } },
        'application/merge-patch+json',
      )
      expect([changed.status, warningsOf(changed)]).toEqual([200, [warning]])
    })
  }

  it('is not looked at where nobody asked', async () => {
    const namespace = await labelled({ enforce: 'restricted', warn: 'privileged' })
    const made = await wire.call('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
      metadata: { name: 'm' },
      spec,
    })
    expect([made.status, warningsOf(made)]).toEqual([201, []])
    const scaled = await wire.call(
      'PATCH',
      `/apis/apps/v1/namespaces/${namespace}/deployments/m/scale`,
      { spec: { replicas: 2 } },
      'application/merge-patch+json',
    )
    expect([scaled.status, warningsOf(scaled)]).toEqual([200, []])
  })
})

describe('labels of a namespace', () => {
  const field = (name: string): string => `metadata.labels[pod-security.kubernetes.io/${name}]`
  const level = (mode: string, value: string): string =>
    `${field(mode)}: Invalid value: "${value}": must be one of privileged, baseline, restricted`

  it('that say nothing are refused', async () => {
    const name = `secured-${++count}`
    const made = await wire.call('POST', '/api/v1/namespaces', {
      metadata: { name, labels: labels({ enforce: 'strict', 'audit-version': '1.2' }) },
    })
    expect(made.body).toEqual(
      invalidObject({ kind: 'Namespace', name }, [
        level('enforce', 'strict'),
        `${field('audit-version')}: Invalid value: "1.2": must be "latest" or "v1.x"`,
      ]),
    )
    const there = await labelled({ enforce: 'baseline' })
    expect((await label(there, { warn: 'all' })).body).toEqual(
      invalidObject({ kind: 'Namespace', name: there }, [level('warn', 'all')]),
    )
  })

  it('that tighten what is enforced come with a warning of the pods that are there', async () => {
    const namespace = await labelled({})
    const { metadata } = await wire.must('POST', `/apis/apps/v1/namespaces/${namespace}/replicasets`, {
      metadata: { name: 'r' },
      spec: {
        selector: { matchLabels: { app: 'r' } },
        template: { metadata: { labels: { app: 'r' } }, spec: careless },
      },
    })
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: metadata.uid, controller: true }
    const owned = (name: string): object => ({ metadata: { name, ownerReferences: [owner] }, spec: careless })
    for (const body of [owned('r-2'), owned('r-1'), owned('r-3'), pod(privileged, 'b'), pod(careful, 'c')]) {
      await wire.must('POST', podsIn(namespace), body)
    }
    const others = 'allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile'
    const all = [
      `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "restricted:latest"`,
      `b: privileged, ${others}`,
      `r-1 (and 2 other pods): ${others}`,
    ]
    const rehearsed = await wire.call(
      'PATCH',
      `/api/v1/namespaces/${namespace}?dryRun=All`,
      { metadata: { labels: labels({ enforce: 'restricted' }) } },
      'application/merge-patch+json',
    )
    expect([rehearsed.status, warningsOf(rehearsed)]).toEqual([200, all])
    const tightened = await label(namespace, { enforce: 'restricted' })
    expect([tightened.status, warningsOf(tightened)]).toEqual([200, all])

    expect(warningsOf(await label(namespace, { other: 'x' }))).toEqual([])
    expect(warningsOf(await label(namespace, { enforce: 'baseline' }))).toEqual([])
    expect(warningsOf(await label(namespace, { 'enforce-version': 'v1.20' }))).toEqual([
      `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "baseline:v1.20"`,
      'b: privileged',
    ])
    expect(warningsOf(await label(namespace, { enforce: null }))).toEqual([])
  })
})

it('the audit log and the metrics tell what was decided', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'borough-pod-security-'))
  const path = join(directory, 'audit.log')
  let figures = ''
  try {
    {
      await using audited = await startControlPlane({
        population: false,
        audit: { path, maxBytes: 1e9, keep: 1 },
      })
      const own = new Wire(audited)
      // The counters count from the first look on.
      await audited.fetch('/metrics')
      const namespace = await labelled({ enforce: 'baseline', audit: 'restricted', 'audit-version': 'v1.99' }, own)
      await own.call('POST', podsIn(namespace), pod(careless, 'logged'))
      await own.call('POST', podsIn(namespace), pod(privileged, 'refused'))
      await own.call('POST', podsIn('default'), pod(privileged, 'free'))
      figures = await (await audited.fetch('/metrics')).text()
    }
    const events = (await readFile(path, 'utf8'))
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as AuditEvent]))
      .filter(({ verb, objectRef }) => verb === 'create' && objectRef?.resource === 'pods')
    const told = events.map(({ annotations = {} }) =>
      Object.fromEntries(Object.entries(annotations).filter(([key]) => key.startsWith('pod-security.kubernetes.io/'))),
    )
    expect(told).toEqual([
      {
        'pod-security.kubernetes.io/enforce-policy': 'baseline:latest',
        'pod-security.kubernetes.io/audit-violations': `would violate PodSecurity "restricted:v1.99": ${carelessness}`,
      },
      {
        'pod-security.kubernetes.io/enforce-policy': 'baseline:latest',
        'pod-security.kubernetes.io/audit-violations':
          `would violate PodSecurity "restricted:v1.99": ` + `${isPrivileged}, ${carelessness}`,
      },
      { 'pod-security.kubernetes.io/enforce-policy': 'privileged:latest' },
    ])
  } finally {
    await rm(directory, { recursive: true })
  }
  const evaluated = (decision: string, level: string, version: string, mode: string, count: number): string =>
    `pod_security_evaluations_total{decision="${decision}",policy_level="${level}",policy_version="${version}",` +
    `mode="${mode}",request_operation="create",resource="pod",subresource=""} ` +
    `${count}`
  expect(figures.split('\n')).toEqual(
    expect.arrayContaining([
      evaluated('allow', 'privileged', 'latest', 'enforce', 1),
      evaluated('allow', 'baseline', 'latest', 'enforce', 1),
      evaluated('deny', 'baseline', 'latest', 'enforce', 1),
      evaluated('deny', 'restricted', 'future', 'audit', 2),
      'pod_security_exemptions_total{request_operation="update",resource="controller",subresource=""} 0',
    ]),
  )
})
