/**
 * What upstream's end-to-end tests of ServiceAccounts ask of a cluster, under their names, as far as no container has
 * to run for it; and what their admission plugin says.
 * @see test/e2e/auth/service_accounts.go, plugin/pkg/admission/serviceaccount of Kubernetes
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { forbidden } from '../support/refusal.ts'
import { waitFor } from '../support/wait-for.ts'
import { type Answer, type AnswerBody, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire
let ns: string
let count = 0

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})
afterAll(() => plane[Symbol.asyncDispose]())
beforeEach(async () => {
  ns = `svcaccounts-${++count}`
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: ns } })
})

const at = (resource: string): string => `/api/v1/namespaces/${ns}/${resource}`
const account = (name: string, more: object = {}): Promise<AnswerBody> =>
  wire.must('POST', at('serviceaccounts'), { metadata: { name }, ...more })
const podOf = (spec: object = {}, metadata: object = {}): object => ({
  metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'test', image: 'busybox' }], ...spec },
})
const pod = (spec?: object, metadata?: object): Promise<Answer> => wire.call('POST', at('pods'), podOf(spec, metadata))

const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount'
interface Container {
  name: string
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[]
}
interface Spec {
  containers: Container[]
  initContainers?: Container[]
  volumes?: { name: string }[]
  [field: string]: unknown
}
const specOf = (answer: Answer): Spec => answer.body.spec as unknown as Spec
const tokenMounts = (containers: readonly Container[] = []): string[] =>
  containers.flatMap((c) => (c.volumeMounts ?? []).filter((m) => m.mountPath === tokenPath).map((m) => m.name))

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

describe('ServiceAccounts', () => {
  it('no secret-based service account token should be auto-generated', async () => {
    expect(await wire.must('GET', at('serviceaccounts/default'))).not.toHaveProperty('secrets')
    expect((await wire.must('GET', at('secrets'))).items).toEqual([])
  })

  it('should mount an API token into pods', async () => {
    await account('mount-test')
    const made = await pod({ serviceAccountName: 'mount-test', initContainers: [{ name: 'first', image: 'busybox' }] })
    const { volumes = [], ...spec } = specOf(made)
    expect(spec).toMatchObject({ serviceAccountName: 'mount-test', serviceAccount: 'mount-test' })
    const [volume] = volumes
    expect(volume).toEqual({
      name: expect.stringMatching(/^kube-api-access-[a-z0-9]{5}$/) as string,
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
      },
    })
    const mount = { name: volume?.name, mountPath: tokenPath, readOnly: true }
    expect([...spec.containers, ...(spec.initContainers ?? [])].map((c) => c.volumeMounts)).toEqual([[mount], [mount]])
    // What a kubelet does with it: the token is good, and says whose it is.
    const { status } = await wire.must('POST', at('serviceaccounts/mount-test/token'), {
      spec: {
        expirationSeconds: 3607,
        boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: made.body.metadata.uid },
      },
    })
    const review = await wire.must('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      spec: { token: (status as { token: string }).token },
    })
    expect(review.status).toMatchObject({
      authenticated: true,
      user: {
        username: `system:serviceaccount:${ns}:mount-test`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${ns}`, 'system:authenticated'],
      },
    })
  })

  describe('should allow opting out of API token automount', () => {
    const rows = [
      { accountSays: undefined, podSays: undefined, mounted: true },
      { accountSays: true, podSays: undefined, mounted: true },
      { accountSays: false, podSays: undefined, mounted: false },
      { accountSays: undefined, podSays: true, mounted: true },
      { accountSays: true, podSays: true, mounted: true },
      { accountSays: false, podSays: true, mounted: true },
      { accountSays: undefined, podSays: false, mounted: false },
      { accountSays: true, podSays: false, mounted: false },
      { accountSays: false, podSays: false, mounted: false },
    ]
    it.each(rows)(
      'the account says $accountSays, the pod $podSays: $mounted',
      async ({ accountSays, podSays, mounted }) => {
        await account('sa', accountSays === undefined ? {} : { automountServiceAccountToken: accountSays })
        const made = await pod({
          serviceAccountName: 'sa',
          ...(podSays === undefined ? {} : { automountServiceAccountToken: podSays }),
        })
        expect(tokenMounts(specOf(made).containers)).toHaveLength(mounted ? 1 : 0)
        expect(specOf(made).volumes ?? []).toHaveLength(mounted ? 1 : 0)
      },
    )
  })

  it('mounts the volume that the pod brings, and nothing where the pod mounts something itself', async () => {
    const own = {
      name: 'kube-api-access-e2e',
      projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 600 } }] },
    }
    const brought = await pod({ volumes: [own] })
    expect(specOf(brought).volumes?.map((v) => v.name)).toEqual(['kube-api-access-e2e'])
    expect(tokenMounts(specOf(brought).containers)).toEqual(['kube-api-access-e2e'])
    const mine = { name: 'mine', emptyDir: {} }
    const containers = [{ name: 'test', image: 'busybox', volumeMounts: [{ name: 'mine', mountPath: tokenPath }] }]
    const kept = await pod({ volumes: [mine], containers }, { name: 'q' })
    expect(specOf(kept).volumes?.map((v) => v.name)).toEqual(['mine'])
    expect(tokenMounts(specOf(kept).containers)).toEqual(['mine'])
  })

  it('should run through the lifecycle of a ServiceAccount', async () => {
    const selector = 'labelSelector=test-serviceaccount-static%3Dtrue'
    const labels = { 'test-serviceaccount-static': 'true' }
    const events = await wire.events(
      `${at('serviceaccounts')}?watch=1&${selector}`,
      (seen) => seen.at(-1)?.type === 'DELETED',
      async () => {
        await wire.must('POST', at('serviceaccounts'), { metadata: { name: 'testserviceaccount', labels } })
        const patch = { automountServiceAccountToken: false }
        await wire.must(
          'PATCH',
          at('serviceaccounts/testserviceaccount'),
          patch,
          'application/strategic-merge-patch+json',
        )
        const listed = await wire.must('GET', `/api/v1/serviceaccounts?${selector}`)
        expect(listed.items).toMatchObject([{ metadata: { namespace: ns }, automountServiceAccountToken: false }])
        await wire.must('DELETE', at('serviceaccounts'))
      },
    )
    expect(events.map((e) => e.type)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
  })

  it('should guarantee kube-root-ca.crt exist in any namespace', async () => {
    const ref = { namespace: ns, name: 'kube-root-ca.crt' }
    const first = await wire.must('GET', at('configmaps/kube-root-ca.crt'))
    const { 'ca.crt': pem } = first['data'] as Record<string, string>
    expect(pem).toMatch(/^-----BEGIN CERTIFICATE-----/)
    await wire.must('DELETE', at('configmaps/kube-root-ca.crt'), { gracePeriodSeconds: 0 })
    await waitFor(plane.client, configMaps, ref, (o) => o !== undefined && o.metadata.uid !== first.metadata.uid)
    await wire.must('PUT', at('configmaps/kube-root-ca.crt'), { metadata: { name: ref.name }, data: { 'ca.crt': '' } })
    await waitFor(plane.client, configMaps, ref, (o) => (o?.['data'] as Record<string, string>)['ca.crt'] === pem)
  })

  it('should update a ServiceAccount', async () => {
    const made = await account('e2e-sa', { automountServiceAccountToken: false })
    const updated = await wire.must('PUT', at('serviceaccounts/e2e-sa'), {
      ...made,
      automountServiceAccountToken: true,
    })
    expect(updated['automountServiceAccountToken']).toBe(true)
  })
})

describe('the admission plugin ServiceAccount', () => {
  it('gives content that is created in the same instant as its namespace the account default', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `instant-${count}-${i}`)
    const made = await Promise.all(
      names.map(async (name) => {
        const born = wire.must('POST', '/api/v1/namespaces', { metadata: { name } })
        // As soon as the namespace can be seen at all: not found, or with its account.
        for (;;) {
          const answer = await wire.call('POST', `/api/v1/namespaces/${name}/pods`, podOf())
          if (answer.status === 404) continue
          await born
          return answer
        }
      }),
    )
    expect(made.map((a) => [a.status, specOf(a)['serviceAccountName']])).toEqual(names.map(() => [201, 'default']))
  })

  it('refuses a pod whose account does not exist', async () => {
    const { body } = await pod({ serviceAccountName: 'nobody' })
    const why = `error looking up service account ${ns}/nobody: serviceaccount "nobody" not found`
    expect(body).toEqual(forbidden({ kind: 'pods', name: 'p' }, why))
  })

  it('gives the pull secrets of the account to pods that bring none', async () => {
    await account('puller', { imagePullSecrets: [{ name: 'registry' }] })
    const given = await pod({ serviceAccountName: 'puller' })
    expect(specOf(given)['imagePullSecrets']).toEqual([{ name: 'registry' }])
    const own = await pod({ serviceAccountName: 'puller', imagePullSecrets: [{ name: 'mine' }] }, { name: 'q' })
    expect(specOf(own)['imagePullSecrets']).toEqual([{ name: 'mine' }])
  })

  const env = (name: string): object => ({ name: 'A', valueFrom: { secretKeyRef: { name, key: 'k' } } })
  const refusals = [
    {
      name: 'a volume',
      spec: { volumes: [{ name: 'v', secret: { secretName: 'other' } }] },
      why:
        'volume with secret.secretName="other" is not allowed because service account strict does not ' +
        'reference that secret',
    },
    {
      name: 'a variable',
      spec: { containers: [{ name: 'c', image: 'x', env: [env('lent'), env('other')] }] },
      why:
        'container c with envVar A referencing secret.secretName="other" is not allowed because service ' +
        'account strict does not reference that secret',
    },
    {
      name: 'all variables of an init container',
      spec: { initContainers: [{ name: 'i', image: 'x', envFrom: [{ secretRef: { name: 'other' } }] }] },
      why:
        'init container i with envFrom referencing secret.secretName="other" is not allowed because service ' +
        'account strict does not reference that secret',
    },
    {
      name: 'a pull secret',
      spec: { imagePullSecrets: [{ name: 'pull' }, { name: 'other' }] },
      why:
        'imagePullSecrets[1].name="other" is not allowed because service account strict does not reference ' +
        'that imagePullSecret',
    },
  ]
  it.each(refusals)(
    'refuses $name of a secret that an account which enforces it does not list',
    async ({ spec, why }) => {
      await account('strict', {
        metadata: { name: 'strict', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
        secrets: [{ name: 'lent' }],
        imagePullSecrets: [{ name: 'pull' }],
      })
      const { status, body } = await pod({ serviceAccountName: 'strict', ...spec })
      expect([status, body.message]).toEqual([403, `pods "p" is forbidden: ${why}`])
      const containers = [{ name: 'c', image: 'x', env: [env('lent')] }]
      expect((await pod({ serviceAccountName: 'strict', containers }, { name: 'q' })).status).toBe(201)
      const debug = { spec: { ephemeralContainers: [{ name: 'd', image: 'x', env: [env('other')] }] } }
      const late = await wire.call(
        'PATCH',
        at('pods/q/ephemeralcontainers'),
        debug,
        'application/strategic-merge-patch+json',
      )
      expect(late.body).toEqual(
        forbidden(
          { kind: 'pods', name: 'q' },
          'ephemeral container d with envVar A referencing secret.secretName="other" is not allowed because ' +
            'service account strict does not reference that secret',
        ),
      )
    },
  )

  const mirrors = [
    {
      name: 'an account',
      spec: { serviceAccountName: 'default' },
      why: 'a mirror pod may not reference service accounts',
    },
    {
      name: 'a secret',
      spec: { volumes: [{ name: 'v', secret: { secretName: 's' } }] },
      why: 'a mirror pod may not reference secrets',
    },
    {
      name: 'a token',
      spec: { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      why: 'a mirror pod may not use ServiceAccountToken volume projections',
    },
  ]
  it.each(mirrors)('refuses a mirror pod with $name', async ({ spec, why }) => {
    const { body } = await pod({ nodeName: 'n', ...spec }, { annotations: { 'kubernetes.io/config.mirror': 'x' } })
    expect(body).toEqual(forbidden({ kind: 'pods', name: 'p' }, why))
  })

  it('leaves a mirror pod as it is', async () => {
    const made = await pod({ nodeName: 'n' }, { annotations: { 'kubernetes.io/config.mirror': 'x' } })
    expect(specOf(made)).not.toHaveProperty('serviceAccountName')
    expect(specOf(made)).not.toHaveProperty('volumes')
  })
})
