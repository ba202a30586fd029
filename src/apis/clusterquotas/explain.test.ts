/** What the creator of a namespace is told of the quotas that count it. */
import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/client.ts'
import { StatusError } from '../../kube/status-error.ts'
import { explainQuotas } from './explain.ts'
import type { ClusterResourceQuota, ClusterResourceQuotaSpec, ClusterResourceQuotaStatus } from './types.ts'

const { signal } = new AbortController()
const namespace = {
  metadata: { name: 'n', labels: { team: 'a' }, annotations: { 'authorization.k8s.io/creator': 'alice' } },
}
const hard = { secrets: '2', pods: '5' }
const quota = (more: ClusterResourceQuotaSpec = {}, status?: ClusterResourceQuotaStatus): ClusterResourceQuota => ({
  metadata: { name: 'q' },
  spec: { selector: { labels: { matchLabels: { team: 'a' } } }, quota: { hard }, ...more },
  ...(status === undefined ? {} : { status }),
})
const used = (figures: object): ClusterResourceQuotaStatus => ({ total: { hard, used: figures as never } })
const all = 'counted over all namespaces that this ClusterResourceQuota selects'
const alices = 'counted over the namespaces of creator "alice" that this ClusterResourceQuota selects'

type Answer = readonly ClusterResourceQuota[] | Error
async function told(applied: Answer, quotas: Answer = [], of: object = namespace): Promise<[string[], unknown[]]> {
  const asked: unknown[] = []
  const client = {
    async list({ resource }: { resource: string }, options: object) {
      asked.push([resource, options])
      const answer = resource === 'appliedclusterresourcequotas' ? applied : quotas
      if (answer instanceof Error) throw answer
      return { items: answer }
    },
  } as unknown as Pick<Client, 'list'>
  return [await explainQuotas(client, of as never, signal), asked]
}

describe('a quota that counts it', () => {
  test.each<{ name: string; of: ClusterResourceQuota; line: string }>([
    {
      name: 'is told with what is used, by name',
      of: quota({}, used({ secrets: '1', pods: '3' })),
      line: `ClusterResourceQuota "q" counts it: pods 3 of 5, secrets 1 of 2, ${all}`,
    },
    {
      name: 'says what is full',
      of: quota({}, used({ secrets: '2', pods: '6' })),
      line: `ClusterResourceQuota "q" counts it: pods 6 of 5 (no more), secrets 2 of 2 (no more), ${all}`,
    },
    {
      name: 'has used nothing of what is not told',
      of: quota({}, used({})),
      line: `ClusterResourceQuota "q" counts it: pods 0 of 5, secrets 0 of 2, ${all}`,
    },
    {
      name: 'is full where nothing is allowed',
      of: quota({ quota: { hard: { secrets: '0' } } }, used({})),
      line: `ClusterResourceQuota "q" counts it: secrets 0 of 0 (no more), ${all}`,
    },
    {
      name: 'that nothing has counted yet',
      of: quota(),
      line: `ClusterResourceQuota "q" counts it, ${all}, which is not among the largest 100 in its status`,
    },
    {
      name: 'tells of its account',
      of: quota(
        { perCreator: true },
        {
          ...used({ pods: '9' }),
          accounts: [
            { name: 'bob', namespaces: 1, used: { pods: '4' } },
            { name: 'alice', namespaces: 1, used: { pods: '1' } },
          ],
        },
      ),
      line: `ClusterResourceQuota "q" counts it: pods 1 of 5, secrets 0 of 2, ${alices}`,
    },
    {
      name: 'tells that its account is not listed',
      of: quota({ perCreator: true }, used({ pods: '9' })),
      line: `ClusterResourceQuota "q" counts it, ${alices}, which is not among the largest 100 in its status`,
    },
  ])('$name', async ({ of, line }) => expect((await told([of]))[0]).toEqual([line]))

  test('does not limit what nobody is recorded of', async () => {
    const bare = { metadata: { name: 'n', labels: { team: 'a' } } }
    const of = (spec: ClusterResourceQuotaSpec) => told([quota(spec, used({ pods: '1' }))], [], bare)
    const line = (per: string): string =>
      `ClusterResourceQuota "q" counts it and does not limit it: no ${per} is recorded`
    expect((await of({ perCreator: true }))[0]).toEqual([line('creator')])
    expect((await of({ perOwner: true }))[0]).toEqual([line('owner')])
  })

  test('one that does not select it is not told', async () => {
    expect((await told([quota({ selector: { labels: { matchLabels: { team: 'b' } } } }, used({}))]))[0]).toEqual([])
  })
})

describe('they are read', () => {
  const refusal = (reason: 'Forbidden' | 'NotFound' | 'InternalError') => new StatusError('no', { reason })
  const inNamespace = ['appliedclusterresourcequotas', { namespace: 'n', signal }]

  test('as the namespace sees them, and nothing else is asked', async () => {
    expect(await told([], [quota({}, used({}))])).toEqual([[], [inNamespace]])
  })

  test.each(['Forbidden', 'NotFound'] as const)('of the cluster where the namespace shows none: %s', async (reason) => {
    const [lines, asked] = await told(refusal(reason), [quota({}, used({}))])
    expect(lines).toHaveLength(1)
    expect(asked).toEqual([inNamespace, ['clusterresourcequotas', { signal }]])
    expect((await told(refusal(reason), refusal(reason)))[0]).toEqual([])
  })

  test('a failure is one', async () => {
    const failure = refusal('InternalError')
    await expect(told(failure)).rejects.toBe(failure)
    await expect(told(refusal('Forbidden'), failure)).rejects.toBe(failure)
  })
})
