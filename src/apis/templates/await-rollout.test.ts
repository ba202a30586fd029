/** What a client that waits for a template is told of how far it has got. */
import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/client.ts'
import { forbidden, notFound } from '../../kube/status-error.ts'
import { presentGeneration, type RolloutState, rolloutStates } from './await-rollout.ts'
import type { NamespaceTemplate, TemplateStatus } from './types.ts'

const { signal } = new AbortController()
const progressing = (status: string, reason: string): TemplateStatus => ({
  ...{ observedGeneration: 3, matched: 4, synced: 2, failed: 1 },
  conditions: [
    { type: 'Synced', status: 'True', reason: 'Complete', message: 'm', lastTransitionTime: 't' },
    { type: 'Progressing', status, reason, message: 'nine', lastTransitionTime: 't' },
  ],
})
const template = (status?: TemplateStatus, generation = 3): NamespaceTemplate => ({
  metadata: { name: 't', generation },
  ...(status && { status }),
})
const failed = { namespace: 'n', object: 'Role/r', reason: 'Forbidden', message: 'no' }
const figures = { matched: 4, synced: 2, failed: 1 }

/** The first is listed, the others are changes; undefined = deleted. */
async function told(...states: (NamespaceTemplate | undefined)[]): Promise<RolloutState[]> {
  return toldBeside({ paused: 'true' }, ...states)
}

/** @param config the data of the ConfigMap that stops all templates, or why it can't be read */
async function toldBeside(
  config: Record<string, string> | Error,
  ...states: (NamespaceTemplate | undefined)[]
): Promise<RolloutState[]> {
  const [first, ...rest] = states
  const client = {
    async get(_resource: unknown, { namespace, name }: { namespace: string; name: string }) {
      if (config instanceof Error) throw config
      return {
        metadata: { namespace, name },
        data: `${namespace}/${name}` === 'kube-system/borough-population' && config,
      }
    },
    list: async () => ({ items: first === undefined ? [] : [first], metadata: { resourceVersion: '7' } }),
    async *watch() {
      for (const object of rest)
        yield object === undefined ? { type: 'DELETED', object: first } : { type: 'MODIFIED', object }
    },
  } as unknown as Client
  const found: RolloutState[] = []
  for await (const state of rolloutStates(client, 't', 3, signal)) found.push(state)
  return found
}

describe('it is told', () => {
  test.each<{ name: string; of: NamespaceTemplate; state: RolloutState }>([
    {
      name: 'that it is complete',
      of: template(progressing('False', 'Complete')),
      state: { ...figures, outcome: 'complete' },
    },
    {
      name: 'where others have added to it, and where something is left out',
      of: template({ ...progressing('False', 'Complete'), extended: 1, skipped: 2 }),
      state: { ...figures, extended: 1, skipped: 2, outcome: 'complete' },
    },
    {
      name: 'that it is over, with failures',
      of: template({ ...progressing('False', 'CompleteWithFailures'), failures: [failed] }),
      state: { ...figures, failure: failed, outcome: 'failed' },
    },
    {
      name: 'that it has stopped, and why',
      of: template(progressing('False', 'TooManyPrunes')),
      state: { ...figures, outcome: 'stopped', reason: 'TooManyPrunes', message: 'nine' },
    },
    {
      name: 'that another generation has come',
      of: template(progressing('True', 'RollingOut'), 4),
      state: { ...figures, outcome: 'superseded' },
    },
    {
      name: 'that all are paused, though nothing has looked at it',
      of: template({ ...progressing('False', 'PopulationPaused'), observedGeneration: 2 }),
      state: { matched: 4, synced: 0, failed: 0, outcome: 'stopped', reason: 'PopulationPaused', message: 'nine' },
    },
    {
      name: 'that all are paused in the middle of it, and how far it has come',
      of: template(progressing('False', 'PopulationPaused')),
      state: { ...figures, outcome: 'stopped', reason: 'PopulationPaused', message: 'nine' },
    },
    {
      name: 'that another has come, though nothing has looked at any',
      of: template(undefined, 4),
      state: { matched: 0, synced: 0, failed: 0, outcome: 'superseded' },
    },
  ])('$name', async ({ of, state }) => expect(await told(of)).toEqual([state]))

  test('as it goes on: each state that is another', async () => {
    const going = template(progressing('True', 'RollingOut'))
    const further = template({ ...progressing('True', 'RollingOut'), synced: 3 })
    const done = template({ ...progressing('False', 'Complete'), synced: 4 })
    expect(await told(going, going, further, further, done, going)).toEqual([
      figures,
      { ...figures, synced: 3 },
      { ...figures, synced: 4, outcome: 'complete' },
    ])
  })

  describe('nothing of a stop that is over, though the status says it still', () => {
    const done = template({ ...progressing('False', 'Complete'), synced: 4 })
    const complete = [{ ...figures, synced: 4, outcome: 'complete' }]
    const stopped = (reason: string, annotations: Record<string, string>, message = 'nine'): NamespaceTemplate => {
      const { status = {}, metadata } = template(progressing('False', reason))
      const conditions = (status.conditions ?? []).map((condition) => ({ ...condition, message }))
      return { metadata: { ...metadata, annotations }, status: { ...status, conditions } }
    }
    const confirmed = 'policy.borough.dev/confirm-prune'
    const paused = 'policy.borough.dev/pause-rollout'

    test('confirmed', async () => {
      expect(await told(stopped('TooManyPrunes', { [confirmed]: '3' }), done)).toEqual(complete)
      expect(await told(stopped('TooManyPrunes', { [confirmed]: '2' }), done)).toMatchObject([{ outcome: 'stopped' }])
    })

    test('resumed', async () => {
      const why = `it is paused by annotation ${paused}: no other`
      expect(await told(stopped('Paused', {}, why), done)).toEqual(complete)
      expect(await told(stopped('Paused', { [paused]: 'yes' }, why), done)).toMatchObject([{ outcome: 'stopped' }])
      // By `pauseOnFailure`: nothing takes that away but a namespace that is mended.
      expect(await told(stopped('Paused', {}), done)).toMatchObject([{ outcome: 'stopped' }])
    })

    test('the pause of all', async () => {
      const all = stopped('PopulationPaused', {})
      const configMaps = { group: '', resource: 'configmaps' }
      expect(await toldBeside({}, all, done)).toEqual(complete)
      expect(await toldBeside(notFound(configMaps, 'borough-population'), all, done)).toEqual(complete)
      const unreadable = forbidden(configMaps, 'borough-population', 'no')
      expect(await toldBeside(unreadable, all, done)).toMatchObject([{ outcome: 'stopped' }])
    })
  })

  test('nothing until it was looked at', async () => {
    const before = template({ ...progressing('False', 'Complete'), observedGeneration: 2 })
    const done = template(progressing('False', 'Complete'))
    expect(await told(template(), template({ observedGeneration: 3 }), before, done)).toEqual([
      { ...figures, outcome: 'complete' },
    ])
  })

  test('that it is gone', async () => {
    await expect(told(undefined)).rejects.toThrow('template t is gone')
    await expect(told(template(), undefined)).rejects.toThrow('template t is gone')
  })
})

test('the generation to wait for is the present one', async () => {
  const client = (metadata: object) => ({ get: async () => ({ metadata }) }) as unknown as Client
  expect(await presentGeneration(client({ generation: 7 }), 't', signal)).toBe(7)
  expect(await presentGeneration(client({}), 't', signal)).toBe(0)
})
