/** What a status says of the namespaces of a template: when it is synced, when a rollout is over, and why not. */
import { describe, expect, test } from 'vitest'
import { compileMatcher } from './match.ts'
import { type Findings, pausedStatusOf, rolledOut, statusOf } from './status.ts'
import type { NamespaceTemplate, TemplateCondition, TemplateStatus } from './types.ts'

const nowMs = Date.parse('2026-11-24T06:00:00Z')
const now = '2026-11-24T06:00:00Z'
const before = '2026-11-20T06:00:00Z'

const none: Findings = {
  ...{ matched: 0, synced: 0, failed: 0, untried: 0, skipped: 0, extended: 0, waiting: 0, known: 0 },
  ...{ failures: [], kinds: [], halt: undefined, extendedIn: [] },
}
const template = (more: Partial<NamespaceTemplate> = {}, metadata: object = {}): NamespaceTemplate => ({
  metadata: { name: 't', generation: 3, ...metadata },
  ...more,
})
const status = (found: Partial<Findings>, of: NamespaceTemplate = template()): TemplateStatus =>
  statusOf(compileMatcher(of), { ...none, ...found }, nowMs)
const failure = { namespace: 'n', object: 'ConfigMap/a', reason: 'Invalid', message: 'no' }
const halt: Findings['halt'] = { reason: 'TooManyPrunes', message: 'it would delete in 9 namespaces' }
const deleted = template({}, { deletionTimestamp: before })

const said = ({ conditions = [] }: TemplateStatus) =>
  Object.fromEntries(conditions.map(({ type, status: is, reason, message }) => [type, [is, reason, message]]))

const reached = ['False', 'Complete', 'Generation 3 has reached every selected namespace']
const failedIn = (namespaces: number) => [
  ...['False', 'CompleteWithFailures'],
  `Generation 3 has reached every selected namespace, and failed in ${namespaces}, first in n: ConfigMap/a: Invalid`,
]
const rolling = (synced: number, matched: number) => [
  ...['True', 'RollingOut'],
  `${synced} of ${matched} namespaces hold generation 3`,
]
const differ = (behind: number, matched: number) => `${behind} of ${matched} namespaces differ from the template`

describe('the generation in force is named', () => {
  const held = (found: Partial<Findings>, was?: TemplateStatus, beyond?: true): number | undefined =>
    status(found, template({ ...(was && { status: was }), spec: (beyond ? { next: 'x' } : {}) as object }))
      .heldGeneration
  const rests = { reason: 'Disabled', message: 'off' } as const
  test.each<{ name: string; found: Partial<Findings>; before?: TemplateStatus; beyond?: true; is: number | undefined }>(
    [
      { name: 'while an edit is stopped', found: { halt }, before: { observedGeneration: 2 }, is: 2 },
      {
        name: 'as before, while an edit on top of it is',
        found: { halt },
        before: { observedGeneration: 2, heldGeneration: 1 },
        is: 1,
      },
      {
        name: 'while a template rests that was edited',
        found: { halt: rests },
        before: { observedGeneration: 2 },
        is: 2,
      },
      {
        name: 'not of one that rests as it was',
        found: { halt: rests },
        before: { observedGeneration: 3 },
        is: undefined,
      },
      {
        name: 'while one is edited that only a newer version understands',
        found: { halt: { reason: 'NewerTemplate', message: 'new' } },
        before: { observedGeneration: 2 },
        beyond: true,
        is: 2,
      },
      {
        name: 'as that left it, while it stays as it was',
        found: { halt: { reason: 'NewerTemplate', message: 'new' } },
        before: { observedGeneration: 3 },
        beyond: true,
        is: undefined,
      },
      {
        name: 'as none yet, while a draft is edited',
        found: { halt: rests },
        before: { observedGeneration: 2, heldGeneration: 0 },
        is: 0,
      },
      { name: 'as the first, where no status was before', found: { halt }, is: 1 },
      {
        name: 'not once the newest goes on',
        found: {},
        before: { observedGeneration: 3, heldGeneration: 2 },
        is: undefined,
      },
      {
        name: 'nor where its rollout is paused: new ones are given the newest',
        found: { halt: { reason: 'Paused', message: 'wait' } },
        before: { observedGeneration: 2 },
        is: undefined,
      },
    ],
  )('$name', ({ found, before, beyond, is }) => expect(held(found, before, beyond)).toBe(is))
})

describe('conditions', () => {
  test.each<{
    name: string
    found: Partial<Findings>
    of?: NamespaceTemplate
    synced: readonly string[]
    progressing: readonly string[]
  }>([
    {
      name: 'it selects none',
      found: {},
      synced: ['True', 'Synced', 'Every selected namespace holds what the template says'],
      progressing: reached,
    },
    {
      name: 'all hold what it says',
      found: { matched: 2, synced: 2 },
      synced: ['True', 'Synced', 'Every selected namespace holds what the template says'],
      progressing: reached,
    },
    {
      name: 'it can not be read, and so selects none',
      found: { halt: { reason: 'NewerTemplate', message: 'the template can not be read: spec.namespaces: no' } },
      synced: [
        ...['False', 'NewerTemplate'],
        'What it gives can not be told: the template can not be read: spec.namespaces: no',
      ],
      progressing: ['False', 'NewerTemplate', 'the template can not be read: spec.namespaces: no'],
    },
    {
      name: 'of some no creator is recorded',
      found: { matched: 3, synced: 2, skipped: 1 },
      synced: [
        ...['True', 'Synced'],
        'Every selected namespace holds what the template says; in 1 of them what names a creator or owner is left ' +
          'out, for none is recorded',
      ],
      progressing: reached,
    },
    {
      name: 'one has not been reached',
      found: { matched: 3, synced: 2 },
      synced: ['False', 'RollingOut', differ(1, 3)],
      progressing: rolling(2, 3),
    },
    {
      name: 'one failed: it is tried again, and the rollout is over all the same',
      found: { matched: 3, synced: 2, failed: 1, failures: [failure] },
      synced: ['False', 'Invalid', differ(1, 3)],
      progressing: failedIn(1),
    },
    {
      name: 'one failed with the version before, and has not been tried again: it is not over',
      found: { matched: 3, synced: 1, failed: 2, untried: 1, failures: [failure] },
      synced: ['False', 'Invalid', differ(2, 3)],
      progressing: rolling(1, 3),
    },
    {
      name: 'what failed has all places, and others wait',
      found: { matched: 7, synced: 1, failed: 4, waiting: 2, heldUpIn: 4, failures: [failure] },
      synced: ['False', 'Invalid', differ(6, 7)],
      progressing: [
        ...['True', 'RollingOut'],
        '1 of 7 namespaces hold generation 3; 4 that failed keep all places of spec.rollout.maxUnavailable until ' +
          'they are mended, and 2 wait; first n: ConfigMap/a: Invalid',
      ],
    },
    {
      name: 'one failed, which it selects no more',
      found: { matched: 2, synced: 2, failed: 1, failures: [failure] },
      synced: ['False', 'Invalid', differ(1, 2)],
      progressing: failedIn(1),
    },
    {
      name: 'more failed than it selects: its selector was mistyped',
      found: { failed: 5, waiting: 7, failures: [failure], halt },
      synced: ['False', 'Invalid', '5 namespaces differ from the template, which selects 0'],
      progressing: ['False', halt.reason, halt.message],
    },
    {
      name: 'others have added to one',
      found: { matched: 3, synced: 2, extended: 1, extendedIn: ['a'] },
      synced: ['False', 'Extended', 'In 1 of 3 namespaces others have added to what the template says: a'],
      progressing: reached,
    },
    {
      name: 'others have added to more than are named',
      found: { matched: 9, synced: 4, extended: 5, extendedIn: ['a', 'b', 'c'] },
      synced: [
        'False',
        'Extended',
        'In 5 of 9 namespaces others have added to what the template says: a, b, c and 2 more',
      ],
      progressing: reached,
    },
    {
      name: 'others have added to one, and another has not been reached',
      found: { matched: 3, synced: 1, extended: 1 },
      synced: ['False', 'RollingOut', differ(1, 3)],
      progressing: rolling(1, 3),
    },
    {
      name: 'some that it selects no more hold its objects',
      found: { matched: 2, synced: 2, waiting: 4 },
      synced: ['False', 'RollingOut', '4 namespaces that it no longer selects hold its objects still'],
      progressing: rolling(2, 2),
    },
    {
      name: 'it waits for a confirmation',
      found: { matched: 2, synced: 1, waiting: 1, halt },
      synced: ['False', halt.reason, differ(1, 2)],
      progressing: ['False', halt.reason, halt.message],
    },
    {
      name: 'what failed is told before what it waits for',
      found: { matched: 2, synced: 1, failed: 1, failures: [failure], halt },
      synced: ['False', 'Invalid', differ(1, 2)],
      progressing: ['False', halt.reason, halt.message],
    },
    {
      name: 'it is being deleted',
      found: { matched: 1, synced: 1 },
      of: deleted,
      synced: ['False', 'Deleting', 'The template is being deleted, and objects of it are still there'],
      progressing: ['True', 'Deleting', 'What it made is being deleted'],
    },
    {
      name: 'it is being deleted, and leaves what it made',
      found: { matched: 1, synced: 1 },
      of: template({ spec: { deletionPolicy: 'Orphan' } }, { deletionTimestamp: before }),
      synced: ['False', 'Deleting', 'The template is being deleted, and objects of it are still there'],
      progressing: ['True', 'Deleting', 'It lets go of what it made, which stays'],
    },
    {
      name: 'its deletion waits for a confirmation',
      found: { halt },
      of: deleted,
      synced: ['False', halt.reason, 'The template is being deleted, and objects of it are still there'],
      progressing: ['False', halt.reason, halt.message],
    },
  ])('$name', ({ found, of, synced, progressing }) => {
    expect(said(status(found, of))).toEqual({ Synced: synced, Progressing: progressing })
  })
})

test('numbers that are 0 are told, for columns of other clusters show only what is there', () => {
  expect(status({ matched: 1, synced: 1, kinds: ['v1/ConfigMap'] })).toEqual({
    ...{ observedGeneration: 3, matched: 1, synced: 1, failed: 0, skipped: 0, extended: 0, waiting: 0 },
    kinds: ['v1/ConfigMap'],
    conditions: expect.any(Array),
  })
  expect(status({ extended: 1, waiting: 2, failed: 1, failures: [failure] })).toMatchObject({
    ...{ extended: 1, waiting: 2, failures: [failure] },
  })
})

describe('since when', () => {
  const condition = (type: string, is: 'True' | 'False'): TemplateCondition =>
    ({ type, status: is, reason: 'r', message: 'm', lastTransitionTime: before }) as TemplateCondition
  const times = (of: TemplateStatus) => of.conditions?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])

  test('a condition that stays what it was keeps its time, also with another reason', () => {
    const old = template({ status: { conditions: [condition('Synced', 'True'), condition('Progressing', 'True')] } })
    expect(times(status({ matched: 1, synced: 1 }, old))).toEqual([
      ['Synced', before],
      ['Progressing', now],
    ])
  })

  test('a pause is told beside what was said before', () => {
    const synced = condition('Synced', 'True')
    const old = template({
      status: { observedGeneration: 3, matched: 1, conditions: [synced, condition('Progressing', 'True')] },
    })
    expect(pausedStatusOf(old, nowMs)).toEqual({
      observedGeneration: 3,
      matched: 1,
      conditions: [
        synced,
        {
          ...{ type: 'Progressing', status: 'False', reason: 'PopulationPaused', lastTransitionTime: now },
          message:
            'all templates are paused by key paused of ConfigMap kube-system/borough-population: ' +
            'namespaces that exist are left as they are',
        },
      ],
    })
    expect(pausedStatusOf(template(), nowMs).conditions).toHaveLength(1)
  })
})

test.each<{ name: string; status: TemplateStatus | undefined; share: number }>([
  { name: 'a template that was never looked at', status: undefined, share: 0 },
  { name: 'one whose newest generation was not', status: { observedGeneration: 2, matched: 1, synced: 1 }, share: 0 },
  { name: 'one that selects none', status: { observedGeneration: 3, matched: 0 }, share: 1 },
  {
    name: 'one that has reached three of four, each in a way of its own',
    status: { observedGeneration: 3, matched: 4, synced: 1, skipped: 1, extended: 1, failed: 1 },
    share: 0.75,
  },
])('the share that is rolled out of $name', ({ status: is, share }) => {
  expect(rolledOut(template(is === undefined ? {} : { status: is }))).toBe(share)
})
