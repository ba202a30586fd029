/** What becomes of a template in its turn: its finalizer, its status, and when it may go. */
import { beforeEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { GroupResource } from '../../kube/gvk.ts'
import { notFound, StatusError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { compileMatcher } from './match.ts'
import type { PopulationDeps } from './population-deps.ts'
import type { PopulationState } from './population-state.ts'
import type { Halt } from './rollout.ts'
import { TemplateReconciler } from './template-reconciler.ts'
import type { NamespaceTemplate, TemplateStatus } from './types.ts'

const finalizer = 'policy.borough.dev/prune'
const { signal } = new AbortController()
const gone = { deletionTimestamp: '2026-11-24T06:00:00Z' }
const template = (metadata: object = {}, status?: TemplateStatus, spec: object = {}): NamespaceTemplate => ({
  metadata: { name: 't', uid: 'u', generation: 3, resourceVersion: '7', finalizers: [finalizer], ...metadata },
  spec,
  ...(status && { status }),
})

interface Known {
  stored?: NamespaceTemplate | undefined
  unread?: string[]
  isApplying?: boolean
  /** Namespaces that hold objects, or labels and annotations, of it. */
  holds?: string[]
  sets?: string[]
  kindsHeld?: string[]
  namespaces?: Record<string, KubeObject>
  isSurveyed?: boolean
  halt?: Halt
  isPaused?: boolean
  matched?: number
  known?: number
  waiting?: number
  synced?: number
  errors?: Error[]
  /** Of its revisions. */
  keeping?: Error
  /** The revision that is in force. */
  isLost?: boolean
}
let known: Known
let calls: unknown[]
let reconciler: TemplateReconciler

beforeEach(() => {
  known = {}
  calls = []
  const answer = (call: unknown[]): void => {
    calls.push(call)
    const error = known.errors?.shift()
    if (error !== undefined) throw error
  }
  const state = {
    findTemplate: () => known.stored,
    matcherOf: () => known.stored && compileMatcher(known.stored),
    forgetTemplate: (name: string) => calls.push(['forget', name]),
    findNamespace: (name: string) => known.namespaces?.[name],
    countNamespaces: () => 9,
    writesStatus: () => {},
    get isPaused() {
      return known.isPaused ?? false
    },
    kinds: {
      know: async () => {},
      isUnread: (kind: string) => known.unread?.includes(kind) ?? false,
      isRead: (kind: string) => kind !== 'ex.io/v1/Gone',
    },
    activePasses: { isApplying: () => known.isApplying ?? false },
    recordedKinds: {
      forget: (uid: string) => calls.push(['forget kinds', uid]),
      narrowed: (_: object, kinds: string[]) => calls.push(['kinds', ...kinds]),
    },
    index: { holdings: { namespacesOf: () => known.holds ?? [], kindsOf: () => known.kindsHeld ?? [] } },
    metadata: { namespacesOf: () => known.sets ?? [] },
    surveys: { isDone: () => known.isSurveyed ?? true, looked: () => 4 },
    rollouts: { review: () => known.halt, waiting: () => known.waiting ?? 0, heldUpIn: () => undefined },
    matchedNamespaces: { counted: () => known.matched ?? 0 },
    ledger: {
      tally: () => ({
        ...{
          known: known.known ?? known.matched ?? 0,
          synced: known.synced ?? 0,
          failed: 0,
          untried: 0,
          skipped: 0,
          extended: 0,
          failures: [],
        },
      }),
    },
    pendingRevisions: {
      keep: async (_: object, name: string) => {
        calls.push(['revision', name])
        if (known.keeping !== undefined) throw known.keeping
      },
    },
  } as unknown as PopulationState
  const client = {
    get: async (resource: GroupResource, { name }: { name: string }) => {
      if (known.isLost) throw notFound(resource, name)
      return { metadata: { name, ownerReferences: [{ uid: 'u' }] }, revision: 2 }
    },
    patch: async (_: object, { name }: { name: string }, patch: { metadata: object }) =>
      answer(['patch', name, patch.metadata]),
    update: async (_: object, { status }: NamespaceTemplate, options: object) => answer(['status', status, options]),
  }
  const events = {
    record: async ({ reason, message }: { reason: string; message: string }) => void calls.push([reason, message]),
  }
  reconciler = new TemplateReconciler({ client, events, clock: new FakeClock() } as unknown as PopulationDeps, state)
})

async function reconciled(given: Known): Promise<unknown[]> {
  known = given
  calls.length = 0
  await reconciler.reconcile({ namespace: '', name: 't' }, signal)
  return [...calls]
}
const statusIn = (found: unknown[]): TemplateStatus | undefined =>
  found.flatMap((call) => (Array.isArray(call) && call[0] === 'status' ? [call[1] as TemplateStatus] : []))[0]
const progress = (status?: TemplateStatus) => status?.conditions?.find(({ type }) => type === 'Progressing')?.reason

describe('a template', () => {
  test('that is gone is forgotten', async () => expect(await reconciled({})).toEqual([['forget', 't']]))

  test('from before admission is given its finalizer, beside others, and nothing else yet', async () => {
    const patch = { resourceVersion: '7', finalizers: ['a/b', finalizer] }
    expect(await reconciled({ stored: template({ finalizers: ['a/b'] }) })).toEqual([['patch', 't', patch]])
    expect(await reconciled({ stored: template({ finalizers: undefined }) })).toEqual([
      ['patch', 't', { resourceVersion: '7', finalizers: [finalizer] }],
    ])
  })

  test('is told its status, and its revision is kept', async () => {
    const found = await reconciled({ stored: template(), matched: 2, synced: 2 })
    expect(statusIn(found)).toMatchObject({ observedGeneration: 3, matched: 2, synced: 2, kinds: [] })
    expect(found[0]).toEqual(['revision', 't'])
    expect(found.find((call) => Array.isArray(call) && call[0] === 'status')).toMatchObject([
      ...['status', {}, { subresource: 'status', signal }],
    ])
  })

  test('keeps a status that is as it should be', async () => {
    const status = statusIn(await reconciled({ stored: template(), matched: 1, synced: 1 })) as TemplateStatus
    expect(await reconciled({ stored: template({}, status), matched: 1, synced: 1 })).toEqual([['revision', 't']])
  })

  test.each(['Conflict', 'NotFound'] as const)(
    'whose status meets a %s is told again by its next version',
    async (reason) => {
      const found = await reconciled({ stored: template(), errors: [new StatusError('no', { reason })] })
      expect(found.at(-1)).toEqual(['forget kinds', 'u'])
    },
  )

  test('whose revision can not be kept is told its status, and tried again', async () => {
    const error = new StatusError('no', { reason: 'InternalError' })
    await expect(reconciled({ stored: template(), keeping: error })).rejects.toBe(error)
    expect(statusIn(calls)).toMatchObject({ observedGeneration: 3 })
  })

  test('whose status can not be written is tried again', async () => {
    const error = new StatusError('no', { reason: 'InternalError' })
    await expect(reconciled({ stored: template(), errors: [error] })).rejects.toBe(error)
    const patching = reconciled({ stored: template({ finalizers: [] }), errors: [error] })
    await expect(patching).rejects.toBe(error)
    await reconciled({ stored: template({ finalizers: [] }), errors: [new StatusError('no', { reason: 'Conflict' })] })
    await reconciled({ stored: template({ finalizers: [] }), errors: [new StatusError('no', { reason: 'NotFound' })] })
  })
})

describe('its status', () => {
  const before: TemplateStatus = { observedGeneration: 3, matched: 5, synced: 5 }

  test('is believed after a start until all namespaces were looked at', async () => {
    const given: Known = { stored: template({}, before), matched: 5, known: 3, waiting: 1 }
    expect(statusIn(await reconciled(given))).toBeUndefined()
    expect(statusIn(await reconciled({ ...given, waiting: 2 }))).toMatchObject({ matched: 5 })
    const older = template({}, { ...before, observedGeneration: 2 })
    expect(statusIn(await reconciled({ ...given, stored: older }))).toMatchObject({ matched: 5, observedGeneration: 3 })
  })

  test.each([
    { name: 'that reaches its first namespaces', told: {}, known: 1 },
    { name: 'that a process before this one began', told: { synced: 2, failed: 1 }, known: 3 },
    { name: 'of which some waited then', told: { synced: 1, skipped: 1, extended: 1, waiting: 1 }, known: 4 },
  ])('tells how far a rollout has come $name', async ({ told, known }) => {
    const stored = template({}, { observedGeneration: 3, matched: 5, ...told })
    expect(statusIn(await reconciled({ stored, matched: 5, known, synced: known }))).toMatchObject({ synced: known })
    if (Object.keys(told).length > 0)
      expect(statusIn(await reconciled({ stored, matched: 5, known: known - 1, synced: known - 1 }))).toBeUndefined()
  })

  test('tells how far the look at all namespaces has come, of a generation that is new', async () => {
    const status = statusIn(
      await reconciled({ stored: template({}, { ...before, observedGeneration: 2 }), isSurveyed: false }),
    )
    expect(status).toMatchObject({ observedGeneration: 2, matched: 5 })
    expect(progress(status)).toBe('Surveying')
    expect(status?.conditions?.[0]?.message).toMatch(
      /^4 of 9 namespaces have been looked at; generation 3 reaches none/,
    )
    expect(statusIn(await reconciled({ stored: template({}, before), isSurveyed: false }))).toBeUndefined()
  })

  test('is written once, in whatever order a server keeps its fields', async () => {
    const given: Known = { stored: template({}, before), matched: 5, synced: 5 }
    const { conditions, ...figures } = statusIn(await reconciled(given)) as TemplateStatus
    const kept = { conditions, ...Object.fromEntries(Object.entries(figures).reverse()) } as TemplateStatus
    expect(statusIn(await reconciled({ ...given, stored: template({}, kept) }))).toBeUndefined()
  })

  test('tells that all templates are paused, and leaves the figures', async () => {
    const found = await reconciled({ stored: template({}, before), isPaused: true, matched: 7 })
    expect(statusIn(found)).toMatchObject({ matched: 5 })
    expect(progress(statusIn(found))).toBe('PopulationPaused')
    expect(found[1]).toEqual(['RolloutPopulationPaused', expect.stringContaining('all templates are paused')])
  })

  const disabled = { annotations: { 'policy/namespace-template-apply': 'disable' } }
  test('tells that it is switched off, also while all are paused, and no event does', async () => {
    for (const isPaused of [false, true]) {
      const found = await reconciled({ stored: template(disabled), isPaused, matched: 7, synced: 7 })
      expect(progress(statusIn(found))).toBe('Disabled')
      expect(found.filter((call) => String((call as unknown[])[0]).startsWith('Rollout'))).toEqual([])
    }
  })

  test('names kinds that it gives, holds, or held and that can not be read now', async () => {
    const spec = { templates: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }] }
    const old = { ...before, kinds: ['ex.io/v1/Gone', 'v1/Pod'] }
    const given: Known = { stored: template({}, old, spec), kindsHeld: ['v1/ConfigMap'], matched: 5, synced: 5 }
    expect(statusIn(await reconciled(given))?.kinds).toEqual(['ex.io/v1/Gone', 'v1/ConfigMap', 'v1/Secret'])
    const applying = await reconciled({ ...given, isApplying: true })
    expect(statusIn(applying)?.kinds).toEqual(['ex.io/v1/Gone', 'v1/ConfigMap', 'v1/Pod', 'v1/Secret'])
  })
})

describe('what stops a rollout', () => {
  const halt: Halt = { reason: 'TooManyPrunes', message: 'nine' }
  const events = (found: unknown[]): unknown[] =>
    found.filter((call) => String((call as unknown[])[0]).startsWith('Rollout'))

  test('and where the version in force is not kept any more, that is told', async () => {
    const messageOf = async (isLost: boolean): Promise<string | undefined> => {
      const stored = template({}, { observedGeneration: 2 })
      return statusIn(await reconciled({ stored, halt, isLost }))?.conditions?.find((c) => c.type === 'Progressing')
        ?.message
    }
    expect(await messageOf(false)).toBe('nine')
    expect(await messageOf(true)).toBe(
      'nine; generation 2, which is in force, is not kept any more (ControllerRevision ' +
        'kube-system/namespacetemplate-t-2): namespaces that only it selects are given nothing',
    )
  })

  test('is told once of each generation, and again when it had gone on', async () => {
    expect(events(await reconciled({ stored: template(), halt }))).toEqual([['RolloutTooManyPrunes', 'nine']])
    expect(events(await reconciled({ stored: template(), halt: { ...halt, message: 'ten' } }))).toEqual([])
    expect(events(await reconciled({ stored: template({ generation: 4 }), halt }))).toHaveLength(1)
    await reconciled({ stored: template({ generation: 4 }) })
    expect(events(await reconciled({ stored: template({ generation: 4 }), halt }))).toHaveLength(1)
    expect(
      events(await reconciled({ stored: template({ generation: 4 }), halt: { ...halt, reason: 'Paused' } })),
    ).toHaveLength(1)
    await reconciled({})
    expect(
      events(await reconciled({ stored: template({ generation: 4 }), halt: { ...halt, reason: 'Paused' } })),
    ).toHaveLength(1)
  })
})

describe('a template that is being deleted', () => {
  const deleted = (finalizers = [finalizer], status?: TemplateStatus) => template({ ...gone, finalizers }, status)
  const released = [
    ['forget kinds', 'u'],
    ['patch', 't', { resourceVersion: '7', finalizers: [] }],
  ]
  const optedOut: KubeObject = { metadata: { name: 'n', annotations: { 'policy/namespace-template-opt-out': 'true' } } }
  const there: KubeObject = { metadata: { name: 'n' } }
  const patches = (found: unknown[]): unknown[] => found.filter((call) => Array.isArray(call) && call[0] === 'patch')

  test('goes where nothing of it is left', async () =>
    expect(await reconciled({ stored: deleted() })).toEqual(released))
  test('is let go when its status says that nothing is in force any more', async () => {
    const status = { observedGeneration: 3, heldGeneration: 2, matched: 5 }
    const found = await reconciled({ stored: deleted([finalizer], status) })
    expect([statusIn(found), patches(found)]).toEqual([{ observedGeneration: 3, matched: 5 }, []])
  })

  test('leaves the finalizers of others', async () => {
    expect(patches(await reconciled({ stored: deleted(['a/b', finalizer]) }))).toEqual([
      ['patch', 't', { resourceVersion: '7', finalizers: ['a/b'] }],
    ])
  })

  test.each<{ name: string; given: Known; goes: boolean }>([
    { name: 'while a pass applies it', given: { isApplying: true }, goes: false },
    { name: 'while a namespace holds something', given: { holds: ['n'], namespaces: { n: there } }, goes: false },
    { name: 'while a namespace has a label of it', given: { sets: ['n'], namespaces: { n: there } }, goes: false },
    { name: 'where the namespace is gone', given: { holds: ['n'], sets: ['n'] }, goes: true },
    {
      name: 'where the namespace goes',
      given: { holds: ['n'], namespaces: { n: { metadata: { name: 'n', ...gone } } } },
      goes: true,
    },
    { name: 'where the namespace has opted out', given: { holds: ['n'], namespaces: { n: optedOut } }, goes: true },
    {
      name: 'where it has, before all were looked at',
      given: { holds: ['n'], namespaces: { n: optedOut }, isSurveyed: false },
      goes: false,
    },
    {
      name: 'where it has, and there are too many',
      given: { holds: ['n'], namespaces: { n: optedOut }, halt: { reason: 'TooManyPrunes', message: 'nine' } },
      goes: false,
    },
    {
      name: 'where it has, and only a pause is on',
      given: { holds: ['n'], namespaces: { n: optedOut }, halt: { reason: 'Paused', message: 'p' } },
      goes: true,
    },
    {
      name: 'where another holds something',
      given: { holds: ['o', 'n'], namespaces: { o: optedOut, n: there } },
      goes: false,
    },
  ])('$name: $goes', async ({ given, goes }) => {
    const found = await reconciled({ stored: deleted(), ...given })
    expect(patches(found)).toHaveLength(goes ? 1 : 0)
    // What it waits for is told.
    if (!goes) expect(progress(statusIn(found))).toBeDefined()
  })

  test('waits where a kind can not be read, and says which', async () => {
    const stored = deleted([finalizer], { kinds: ['ex.io/v1/Gone', 'v1/Pod'] })
    const message = 'it stays until somebody says what is left of it: ex.io/v1/Gone can not be read'
    await expect(reconciled({ stored, unread: ['ex.io/v1/Gone'] })).rejects.toThrow(message)
    expect(calls).toEqual([['PruneBlocked', message]])
  })
})
