/** What no request against one healthy server shows: namespaces that come, go and change meanwhile, and old labels. */
import { describe, expect, it } from 'vitest'
import { failure, forbidden, refusal, thrown } from '../../../../test/support/refusal.ts'
import type { Attributes, DecisionView } from '../../../admission/admission.ts'
import { systemClock } from '../../../base/clock.ts'
import type { ResourceType } from '../../../kube/resource-type.ts'
import type { KubeObject } from '../../../kube/types.ts'
import type { Namespace } from '../../namespaces/types.ts'
import { podSecurity } from './admission.ts'
import { defaultPodSecurity } from './pod-security-configuration.ts'

type Labels = Record<string, string>

const typeOf = (group: string, resource: string): ResourceType => ({ group, version: 'v1', resource }) as ResourceType
const pods = typeOf('', 'pods')
const hostile: KubeObject = { metadata: { name: 'p' }, spec: { hostPID: true, containers: [] } }

const namespace = (labels: Labels): Namespace => ({
  metadata: {
    name: 'n',
    labels: Object.fromEntries(Object.entries(labels).map(([k, v]) => [`pod-security.kubernetes.io/${k}`, v])),
  },
})

/** A server whose cache knows `cached` and whose store knows `stored`. */
function world(cached: Namespace | undefined, stored = cached) {
  let known = cached
  const told: string[] = []
  const plugin = podSecurity({
    settings: defaultPodSecurity,
    namespaces: {
      type: typeOf('', 'namespaces'),
      find: () => known,
      async refresh() {
        known = stored
      },
    },
    clock: systemClock,
    podsIn: () => [],
    judged: ({ mode, policy, isAllowed }) =>
      told.push(`${mode} ${policy.level}:${policy.version} ${isAllowed ? 'allow' : 'deny'}`),
    exempted: () => told.push('exempt'),
    failed: ({ isFatal }) => told.push(isFatal ? 'fatal' : 'not fatal'),
  })
  const view: DecisionView = {
    see: <T extends KubeObject>() => ({ key: '/namespaces/n', object: stored as T | undefined, expect: 7 }),
    queuedIn: () => undefined,
  }
  const ask = (given: Partial<Attributes> = {}): Attributes => ({
    operation: 'CREATE',
    type: pods,
    subresource: '',
    namespace: 'n',
    name: 'p',
    object: hostile,
    oldObject: undefined,
    user: { username: 'alice', groups: [] },
    dryRun: false,
    options: {},
    warn: (text) => told.push(`warning: ${text}`),
    annotate: (key, value) => told.push(`${key}=${value}`),
    caller: { signal: new AbortController().signal },
    ...given,
  })
  return {
    told,
    plugin,
    validate: async (given?: Partial<Attributes>): Promise<void> => plugin.validate?.(ask(given)),
    decide: (given?: Partial<Attributes>) => plugin.decide?.(ask(given), view),
  }
}

const why = 'violates PodSecurity "baseline:latest": host namespaces (hostPID=true)'
const strict = namespace({ enforce: 'baseline' })
const lax = namespace({})

describe('a namespace that the cache', () => {
  it('does not know yet is looked for', async () => {
    const { validate, told } = world(undefined, lax)
    await validate()
    expect(told).toEqual([
      'pod-security.kubernetes.io/enforce-policy=privileged:latest',
      'enforce privileged:latest allow',
    ])
  })

  it('knows and the store does not is not there', async () => {
    const { validate, told } = world(undefined)
    expect(await refusal(validate())).toEqual(
      failure({
        message: 'namespaces "n" not found',
        reason: 'NotFound',
        details: { name: 'n', kind: 'namespaces' },
        code: 404,
      }),
    )
    expect(told).toEqual(['fatal'])
  })

  it('knows by an old label refuses nothing', async () => {
    const { validate, told } = world(strict, lax)
    await validate()
    expect(told).toEqual([
      'pod-security.kubernetes.io/enforce-policy=privileged:latest',
      'enforce privileged:latest allow',
    ])
  })

  it('knows without its new label refuses at the commit', async () => {
    const { validate, decide } = world(lax, strict)
    await validate()
    expect(thrown(() => decide())).toEqual(forbidden({ kind: 'pods', name: 'p' }, why))
  })
})

describe('the commit', () => {
  const changed = { ...hostile, spec: { hostPID: true, containers: [{ name: 'a', image: 'new' }] } }
  const before = { ...hostile, spec: { hostPID: true, containers: [{ name: 'a', image: 'old' }] } }

  it('of a pod in which something else runs now holds the namespace', () => {
    const { decide } = world(lax)
    expect(decide({ operation: 'UPDATE', object: changed, oldObject: before })).toEqual({
      guards: [{ key: '/namespaces/n', expect: 7 }],
    })
    expect(decide({ operation: 'UPDATE', object: before, oldObject: before })).toEqual({})
    expect(decide()).toEqual({})
  })

  it('of what makes pods is nobody to stop', () => {
    const { decide } = world(strict)
    const object = { metadata: { name: 'd' }, spec: { template: hostile } }
    expect(decide({ type: typeOf('apps', 'deployments'), object })).toEqual({})
  })
})

describe('labels from before they were looked at', () => {
  const bad = namespace({ enforce: 'strict', warn: 'loud' })
  const faults =
    '[metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of ' +
    'privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn]: Invalid value: ' +
    '"loud": must be one of privileged, baseline, restricted]'

  it('enforce everything, and the audit log says why', async () => {
    const { validate, told } = world(bad)
    expect(await refusal(validate())).toEqual(
      forbidden(
        { kind: 'pods', name: 'p' },
        'violates PodSecurity "restricted:latest": host namespaces (hostPID=true)',
      ),
    )
    expect(told).toEqual([
      `pod-security.kubernetes.io/error=Failed to parse policy: ${faults}`,
      'not fatal',
      'pod-security.kubernetes.io/enforce-policy=restricted:latest',
      'enforce restricted:latest deny',
    ])
  })

  it('do not keep anybody from changing something else', async () => {
    const { validate } = world(bad)
    const about = { type: typeOf('', 'namespaces'), operation: 'UPDATE', name: 'n', oldObject: bad } as const
    await validate({ ...about, object: { ...bad, metadata: { ...bad.metadata, annotations: { a: 'b' } } } })
  })

  it('need no template: there is nothing to judge', async () => {
    const { validate, told } = world(bad)
    await validate({ type: typeOf('', 'replicationcontrollers'), object: { metadata: { name: 'r' }, spec: {} } })
    expect(told).toEqual([])
  })
})

describe('what is looked at', () => {
  const { plugin } = world(lax)
  it.each([
    ['CREATE', '', 'pods', '', true],
    ['UPDATE', '', 'pods', 'ephemeralcontainers', true],
    ['UPDATE', '', 'pods', 'resize', true],
    ['UPDATE', '', 'pods', 'status', false],
    ['CREATE', '', 'pods', 'binding', false],
    ['CREATE', '', 'pods', 'eviction', false],
    ['CONNECT', '', 'pods', 'exec', false],
    ['DELETE', '', 'pods', '', false],
    ['UPDATE', '', 'namespaces', '', ['validate']],
    ['UPDATE', '', 'namespaces', 'finalize', false],
    ['UPDATE', 'apps', 'deployments', '', ['validate']],
    ['UPDATE', 'apps', 'deployments', 'scale', false],
    ['CREATE', 'example.com', 'deployments', '', false],
    ['CREATE', '', 'configmaps', '', false],
  ] as const)('%s %s %s %s', (operation, group, resource, subresource, want) => {
    expect(plugin.handles(operation, typeOf(group, resource), subresource)).toEqual(want)
  })
})
