/** What `borough populate` has told a cluster stays there, whatever others do to it, until it is taken off. */
import { beforeEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client } from '../../src/client/client.ts'
import { findObject } from '../../src/client/find-object.ts'
import type { GroupVersionResource } from '../../src/kube/gvk.ts'
import { admissionObjects, findAdmission, installAdmission, uninstallAdmission } from '../../src/populate/admission.ts'
import { Keeper, marked } from '../../src/populate/keep-registered.ts'
import { type OtherCluster, otherAdmissions, otherServes, startOtherCluster } from '../support/other-cluster.ts'

const name = 'borough-population'
const resource = (plural: string): GroupVersionResource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: plural,
})
const anchor = resource('mutatingwebhookconfigurations')
const checks = resource('validatingwebhookconfigurations')
const hasPolicies = await otherServes('ValidatingAdmissionPolicy')
const hasAll = (await otherAdmissions()).includes('policies')

interface Registered {
  readonly webhooks?: readonly { readonly clientConfig: { readonly url: string } }[]
}

/** Nothing answers there, and namespaces come unasked. */
const told = (port: number): ReturnType<typeof marked> =>
  marked(
    admissionObjects({
      place: { url: `https://127.0.0.1:${port}` },
      caBundle: '',
      namespace: 'borough-system',
      policies: hasAll ? 'all' : hasPolicies ? 'protection' : 'none',
      hasConditions: hasPolicies,
      failOpen: true,
    }),
  )

/** Told of each call when it is answered. */
function intercepted(client: Client, onAnswer: (method: string) => Promise<void> | void): Client {
  return new Proxy(client, {
    get(_client, key) {
      const member: unknown = Reflect.get(client, key, client)
      if (typeof member !== 'function') return member
      const called = member.bind(client) as (...args: readonly unknown[]) => Promise<unknown>
      return async (...args: readonly unknown[]) => {
        const answer = await called(...args)
        await onAnswer(String(key))
        return answer
      }
    },
  })
}

describe('of what a cluster was told', () => {
  let cluster: OtherCluster
  let looks: boolean[]
  let lines: string[]

  beforeEach(async () => {
    cluster = await startOtherCluster()
    looks = []
    lines = []
    return () => cluster[Symbol.asyncDispose]()
  })

  const say = (fields: Readonly<Record<string, unknown>>, message: string): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  /** After its first look, from which on it knows what is there. */
  async function keeperOf(port: number, client: Client = cluster.client): Promise<Keeper> {
    const objects = told(port)
    await installAdmission(cluster.client, objects)
    const log = { ...silentLog, warn: say, error: say }
    const keeper = new Keeper({ client, clock: new FakeClock(), log, onLook: (isHeld) => looks.push(isHeld) }, objects)
    await keeper.look()
    return keeper
  }
  const putBack = 'policies or webhooks were changed or taken off by another client, and are put back'
  const takenOff =
    'the webhooks were taken off the cluster: what templates ask of namespaces is not asked until a replica starts {}'

  test.runIf(hasPolicies)('policies and bindings that are deleted come back', async () => {
    const keeper = await keeperOf(1)
    const gone = [resource('validatingadmissionpolicies'), resource('validatingadmissionpolicybindings')]
    for (const one of gone) await cluster.client.delete(one, { name })
    await keeper.look()
    for (const one of gone) expect(await findObject(cluster.client, one, { name })).toBeDefined()
    const changed = [`ValidatingAdmissionPolicy/${name}`, `ValidatingAdmissionPolicyBinding/${name}`]
    expect(lines).toEqual([`${putBack} ${JSON.stringify({ changed })}`])
  })

  test.each([anchor, checks])('$resource that are changed are as they were', async (one) => {
    const keeper = await keeperOf(1)
    const before = (await cluster.client.get(one, { name }))['webhooks'] as { failurePolicy: string }[]
    const webhooks = before.map((webhook) => ({ ...webhook, failurePolicy: 'Fail', timeoutSeconds: 1 }))
    await cluster.client.patch(one, { name }, { webhooks })
    await keeper.look()
    expect((await cluster.client.get(one, { name }))['webhooks']).toEqual(before)
    await keeper.look()
    expect([looks, lines.length]).toEqual([[true, true, true], 1])
  })

  test('nothing is written where nothing has changed', async () => {
    const keeper = await keeperOf(1)
    // A controller of the cluster's own writes the status of policies that check.
    const stated = 'ValidatingAdmissionPolicy'
    const versions = async (): Promise<unknown> =>
      (await findAdmission(cluster.client)).map(({ kind, metadata: { uid, generation, resourceVersion } }) =>
        kind === stated ? [uid, generation] : resourceVersion,
      )
    const before = await versions()
    await keeper.look()
    expect([await versions(), lines]).toEqual([before, []])
  })

  test('a look reads each object once, and writes none, where nothing has changed', async () => {
    const asked: string[] = []
    const keeper = await keeperOf(
      1,
      intercepted(cluster.client, (method) => void asked.push(method)),
    )
    const versions = async (): Promise<string> =>
      (await findAdmission(cluster.client)).map(({ metadata }) => metadata.resourceVersion).join()
    // A status that the cluster's own controller writes is looked at once more.
    for (let before = ''; before !== (await versions()); await keeper.look()) before = await versions()
    asked.length = 0
    await keeper.look()
    expect(asked).toEqual(told(1).map(() => 'get'))
  })

  test('nothing comes back once the webhook that changes objects is gone, also not a new certificate', async () => {
    const keeper = await keeperOf(1)
    await uninstallAdmission(cluster.client)
    await keeper.look()
    await keeper.look()
    await keeper.replace(told(2))
    expect([await findAdmission(cluster.client), looks, lines]).toEqual([[], [true, false, false], [takenOff]])
  })

  test('nothing is undone that another version has told since', async () => {
    const keeper = await keeperOf(1)
    await installAdmission(cluster.client, told(2))
    await keeper.look()
    expect(looks).toEqual([true, false])
    const [webhook] = (await cluster.client.get(checks, { name }))['webhooks'] as { clientConfig: { url: string } }[]
    expect(webhook?.clientConfig.url).toContain('127.0.0.1:2')
  })

  test.each([1, 2, 3, 4])(
    'nothing is undone that another version tells during a look, after %d calls',
    async (calls) => {
      let left = Infinity
      const racing = intercepted(cluster.client, async () => {
        left -= 1
        if (left !== 0) return
        await installAdmission(cluster.client, told(2))
      })
      const keeper = await keeperOf(1, racing)
      // To be put back, so that the look writes.
      await cluster.client.patch(anchor, { name }, { metadata: { labels: { 'example.com/team': 'a' } } })
      await cluster.client.patch(checks, { name }, { metadata: { labels: { 'example.com/team': 'a' } } })
      left = calls
      await keeper.look()
      const registered = (await findAdmission(cluster.client)) as readonly Registered[]
      const urls = registered.flatMap(({ webhooks = [] }) => webhooks.map(({ clientConfig }) => clientConfig.url))
      expect(new Set(urls.map((url) => new URL(url).port))).toEqual(new Set(['2']))
    },
  )

  test('nothing is left of what is put back while all is taken off', async () => {
    let isRemoved = true
    const racing = intercepted(cluster.client, async (method) => {
      if (method !== 'get') return
      if (!isRemoved) await uninstallAdmission(cluster.client)
      isRemoved = true
    })
    const keeper = await keeperOf(1, racing)
    // Something of it is to be put back.
    await cluster.client.delete(checks, { name })
    isRemoved = false
    await keeper.look()
    expect(await findAdmission(cluster.client)).toEqual([])
  })
})
