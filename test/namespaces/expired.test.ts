/** What becomes of a namespace whose time comes, by a clock that is moved by hand. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { explainNamespace } from '../../src/apis/namespaces/explain.ts'
import type { Client } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure, invalidObject, refusal } from '../support/refusal.ts'
import { SettableClock } from '../support/settable-clock.ts'
import { isGone, waitFor } from '../support/wait-for.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { ...namespaces, resource: 'configmaps' }
const events = { ...namespaces, resource: 'events' }
const policies = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingadmissionpolicies' }
const at = 'borough.dev/expires-at'
const ttl = 'borough.dev/ttl'
const protection = 'borough.dev/deletion-protection'
const wouldHave = `It would have expired at 2026-01-01T01:00:00Z (annotation ${at}, ${ttl} 1h)`
const second = 1000
const minute = 60 * second
const hour = 60 * minute

let clock: SettableClock
let plane: TestControlPlane
let admin: Client

beforeEach(async () => {
  clock = new SettableClock()
  plane = await startControlPlane({ clock })
  admin = plane.client
})
afterEach(() => plane[Symbol.asyncDispose]())

const make = (name: string, annotations: Record<string, string>): Promise<KubeObject> =>
  admin.create(namespaces, { metadata: { name, annotations } })
const annotate = (name: string, annotations: Record<string, string | null>): Promise<KubeObject> =>
  admin.patch(namespaces, { name }, { metadata: { annotations } })
const put = (namespace: string, name: string): Promise<KubeObject> =>
  admin.create(configMaps, { metadata: { namespace, name } })

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}
const expiring = (o: KubeObject | undefined): Condition | undefined =>
  (o?.['status'] as { conditions?: Condition[] } | undefined)?.conditions?.find((c) => c.type === 'Expiring')
/** Once the condition has this reason. */
const said = async (name: string, reason: string): Promise<Condition | undefined> =>
  expiring(await waitFor(admin, namespaces, { name }, (o) => expiring(o)?.reason === reason))
/** Once there is such an Event. */
const told = async (namespace: string, want: object): Promise<unknown> =>
  expect
    .poll(async () => (await admin.list(events, { namespace })).items, { timeout: 30_000 })
    .toContainEqual(expect.objectContaining(want))
const gone = (name: string): Promise<unknown> => waitFor(admin, namespaces, { name }, isGone)
const names = async (): Promise<unknown[]> => (await admin.list(namespaces)).items.map((o) => o.metadata.name)

test('it is warned of, takes no creations from its moment on, and goes with its content', async () => {
  await make('team', { [ttl]: '10h' })
  await put('team', 'early')
  await clock.advance(9 * hour - second)
  expect(expiring(await admin.get(namespaces, { name: 'team' }))).toBeUndefined()
  await clock.advance(second)
  expect(await said('team', 'ExpiresSoon')).toMatchObject({
    status: 'True',
    message:
      `The namespace expires at 2026-01-01T10:00:00Z (annotation ${at}, ${ttl} 10h) and is deleted then; ` +
      'to put that off: ' +
      `kubectl annotate --overwrite namespace team ${at}=<time>`,
  })
  await told('team', { type: 'Warning', reason: 'NamespaceExpiring' })
  await clock.advance(hour - second)
  await put('team', 'late')
  await clock.advance(second)
  await gone('team')
  const message = `namespace team expired at 2026-01-01T10:00:00Z (annotation ${at}, ${ttl} 10h) and is being deleted`
  await told('default', { type: 'Normal', reason: 'NamespaceExpired', message })
})

test('an expired namespace refuses creations before anything marks it', async () => {
  await plane[Symbol.asyncDispose]()
  plane = await startControlPlane({ clock, controllers: (name) => name !== 'namespace-expiry-controller' })
  admin = plane.client
  await make('team', { [ttl]: '1h' })
  await make('kept', { [ttl]: '1h', [protection]: 'true' })
  await clock.advance(hour - 1)
  await put('team', 'in-time')
  await clock.advance(1)
  const why = 'unable to create new content in namespace team because it expired at 2026-01-01T01:00:00Z'
  expect(await refusal(put('team', 'late'))).toEqual(
    failure({
      message: `configmaps "late" is forbidden: ${why}`,
      reason: 'Forbidden',
      details: {
        name: 'late',
        kind: 'configmaps',
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: 'namespace team expired at 2026-01-01T01:00:00Z',
            field: 'metadata.namespace',
          },
        ],
      },
      code: 403,
    }),
  )
  await put('kept', 'late')
  // What is there can still be changed, and the end put off.
  await admin.patch(configMaps, { namespace: 'team', name: 'in-time' }, { data: { a: 'b' } })
  await annotate('team', { [at]: '2026-01-02T00:00:00Z' })
  await put('team', 'later')
})

test('what is put off is said to be, and does not go', async () => {
  await make('team', { [ttl]: '10h' })
  await clock.advance(9.5 * hour)
  await said('team', 'ExpiresSoon')
  await annotate('team', { [at]: '2026-01-03T00:00:00Z' })
  await clock.advance(second)
  expect(await said('team', 'Extended')).toMatchObject({
    status: 'False',
    message: `It expires at 2026-01-03T00:00:00Z (annotation ${at}, ${ttl} 10h)`,
  })
  await clock.advance(10 * hour)
  expect(await names()).toContain('team')
  await clock.advance(28 * hour)
  await said('team', 'ExpiresSoon')
  await annotate('team', { [at]: null, [ttl]: null })
  expect(await said('team', 'Extended')).toMatchObject({ message: 'It does not expire any more' })
  await clock.advance(48 * hour)
  expect(await names()).toContain('team')
})

test('protection keeps it, and the end comes when it is lifted', async () => {
  await make('team', { [ttl]: '1h', [protection]: 'true' })
  await clock.advance(2 * hour)
  expect(await said('team', 'Protected')).toMatchObject({
    status: 'Unknown',
    message: `${wouldHave}: annotation ${protection} keeps it`,
  })
  await put('team', 'one')
  expect(await explainNamespace(admin, 'team', clock, AbortSignal.timeout(60_000))).toMatchObject({
    state: 'Active',
    reports: [{ type: 'Expiring', reason: 'Protected' }],
    notes: [expect.stringContaining('it expires at 2026-01-01T01:00:00Z'), expect.stringContaining('it is protected')],
  })
  await annotate('team', { [protection]: null })
  await clock.advance(second)
  await gone('team')
})

test('finalizers in it hold it as they hold every deletion', async () => {
  await make('team', { [ttl]: '1h' })
  await admin.create(configMaps, { metadata: { namespace: 'team', name: 'held', finalizers: ['ex.io/hold'] } })
  await clock.advance(hour)
  await waitFor(admin, namespaces, { name: 'team' }, (o) => o?.metadata.deletionTimestamp !== undefined)
  const { notes } = await explainNamespace(admin, 'team', clock, AbortSignal.timeout(60_000))
  expect(notes).toEqual([`it expired at 2026-01-01T01:00:00Z (annotation ${at}, ${ttl} 1h)`])
  await admin.patch(configMaps, { namespace: 'team', name: 'held' }, { metadata: { finalizers: null } })
  await gone('team')
})

test('who refuses the deletion is named, and it is tried again', async () => {
  await admin.create(policies, {
    metadata: { name: 'stay' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['namespaces'] }],
      },
      validations: [{ expression: "object == null && oldObject.metadata.name != 'team'", message: 'team stays' }],
    },
  })
  const bindings = { ...policies, resource: 'validatingadmissionpolicybindings' }
  await admin.create(bindings, {
    metadata: { name: 'stay' },
    spec: { policyName: 'stay', validationActions: ['Deny'] },
  })
  await make('team', { [ttl]: '1h' })
  await clock.advance(hour)
  const { message } = (await said('team', 'DeletionRefused')) ?? { message: '' }
  expect(message).toMatch(/^It expired at 2026-01-01T01:00:00Z .*, and its deletion was refused: .*team stays$/)
  await admin.delete(bindings, { name: 'stay' })
  const going = gone('team')
  for (let i = 0; i < 10; i++) await clock.advance(minute)
  await going
})

test('a hundred a second go, the first first', async () => {
  for (let i = 0; i < 250; i++) await make(`n-${String(i).padStart(3, '0')}`, { [ttl]: i < 100 ? '59m' : '1h' })
  const left = async (): Promise<number> => (await names()).filter((name) => String(name).startsWith('n-')).length
  const settled = async (count: number): Promise<void> => {
    await expect.poll(left, { timeout: 30_000 }).toBe(count)
  }
  await clock.advance(59 * minute)
  await settled(150)
  await clock.advance(minute)
  await settled(50)
  await clock.advance(second)
  await settled(0)
})

test.each([
  { name: 'forward', byMs: 61 * second, says: 'the clock of the server was set forward by more than a minute' },
  { name: 'back', byMs: -90 * second, says: 'the clock of the server was set back by more than a minute' },
])('a clock that is set $name suspends expiry, with a condition', async ({ byMs, says }) => {
  await make('team', { [ttl]: '1h' })
  clock.set(byMs)
  await clock.advance(hour + 2 * minute)
  expect(await said('team', 'ClockNotTrusted')).toMatchObject({
    status: 'Unknown',
    message: `${wouldHave}: nothing expires while ${says}`,
  })
  await put('team', 'late')
  clock.set(-byMs)
  const going = gone('team')
  await clock.advance(minute)
  await going
})

test('what is created while the clock is set back lives as long as it says, once it is set right', async () => {
  clock.set(-2 * hour)
  await make('team', { [ttl]: '30m' })
  // By the clock that is shown it would be in the future.
  expect(await refusal(make('dated', { [at]: '2025-12-31T23:00:00Z' }))).toEqual(
    invalidObject({ group: '', kind: 'Namespace', name: 'dated' }, [
      `metadata.annotations[${at}]: Invalid value: "2025-12-31T23:00:00Z": ` +
        'must be in the future: it is 2026-01-01T00:00:00Z',
    ]),
  )
  await clock.advance(10 * minute)
  clock.set(2 * hour)
  await clock.advance(20 * minute - second)
  await put('team', 'late')
  await clock.advance(second)
  await gone('team')
})

test('a clock that was set is believed when it has stood for an hour', async () => {
  await make('team', { [ttl]: '1h' })
  clock.set(10 * hour)
  await clock.advance(minute)
  await said('team', 'ClockNotTrusted')
  await clock.advance(58 * minute)
  await put('team', 'late')
  await clock.advance(2 * minute)
  await gone('team')
})

test('a minute is no difference', async () => {
  await make('team', { [ttl]: '1h' })
  await clock.advance(30 * minute)
  clock.set(minute)
  await clock.advance(28 * minute)
  expect(await names()).toContain('team')
  await clock.advance(minute)
  await gone('team')
})

test('one that is being initialized expires too', async () => {
  await admin.create(
    { group: 'admissionregistration.k8s.io', version: 'v1alpha1', resource: 'namespaceinitializerconfigurations' },
    { metadata: { name: 'slow' }, initializers: [{ name: 'slow.ex.io' }] },
  )
  await admin.create(
    namespaces,
    { metadata: { name: 'team', annotations: { [ttl]: '1h' } } },
    { includeUninitialized: true },
  )
  await clock.advance(hour)
  await gone('team')
})
