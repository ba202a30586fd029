/** A tenant that has what a template is to make: an edit goes on to all others, and the status names who has it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { rolloutStates } from '../../src/apis/templates/await-rollout.ts'
import type { JsonObject } from '../../src/kube/types.ts'
import { AnyWorld, anyCluster } from './any-world.ts'
import { conditionOf, configMap, configMapResource } from './population-world.ts'

describe.each(anyCluster)('$where', ({ start }) => {
  let world: AnyWorld
  beforeEach(async () => {
    world = new AnyWorld(await start())
  })
  afterEach(() => world[Symbol.asyncDispose]())

  const before = [{ template: configMap('one') }]
  const after = [{ template: configMap('one', { a: '2' }) }, { template: configMap('about') }]
  const squatted = ['t-0', 't-1', 't-2']
  const all = [...squatted, 't-3', 't-4', 't-5', 't-6']

  const squat = async (namespaces: readonly string[] = squatted): Promise<void> => {
    for (const namespace of namespaces) {
      const metadata = { namespace, name: 'about' }
      await world.admin.create(configMapResource, { metadata, data: { a: 'mine' } })
    }
  }
  const given = async (rollout: JsonObject): Promise<void> => {
    await world.template('t', before, { rollout })
    for (const name of all) await world.namespace(name)
    await world.synced('t', all.length)
    await squat()
  }
  const failing = (status: JsonObject): string[] =>
    (status['failures'] as JsonObject[])
      .map(({ namespace, object, reason }) => `${namespace}: ${object}: ${reason}`)
      .sort()

  test('in more namespaces than maxUnavailable allows: all others are reached, and the rollout is over', async () => {
    await given({ maxUnavailable: 1 })
    await world.edit('t', { objects: after })
    const status = await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'CompleteWithFailures')
    expect(status).toMatchObject({ observedGeneration: 2, matched: 7, synced: 4, failed: 3 })
    expect(status).toHaveProperty('waiting', 0)
    expect(failing(status)).toEqual(squatted.map((name) => `${name}: ConfigMap/about: AlreadyExists`))
    expect(conditionOf(status, 'Progressing')).toMatchObject({
      status: 'False',
      message: expect.stringMatching(
        /^Generation 2 has reached every selected namespace, and failed in 3, first in t-[012]: ConfigMap.about: Al/,
      ),
    })
    expect(conditionOf(status, 'Synced')).toMatchObject({
      ...{ status: 'False', reason: 'AlreadyExists' },
      message: '3 of 7 namespaces differ from the template',
    })
    for (const name of all) await world.data(name, 'one', { a: '2' })
    for (const name of squatted) await world.data(name, 'about', { a: 'mine' })

    const states = rolloutStates(world.admin, 't', 2, AbortSignal.timeout(10_000))
    const failure = { object: 'ConfigMap/about', reason: 'AlreadyExists' }
    const last = { matched: 7, synced: 4, failed: 3, failure, outcome: 'failed' }
    expect((await states.next()).value).toMatchObject(last)
  })

  test('an edit that takes it over is not over before it has been tried everywhere', async () => {
    await given({ maxUnavailable: 2 })
    await world.edit('t', { objects: after })
    await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'CompleteWithFailures')
    await world.edit('t', { objects: after, adopt: true })
    const outcomes: unknown[] = []
    for await (const { outcome } of rolloutStates(world.admin, 't', 3, AbortSignal.timeout(20_000))) {
      outcomes.push(outcome)
      if (outcome !== undefined) break
    }
    expect(outcomes.at(-1)).toBe('complete')
  })

  test('pauseOnFailure counts it', async () => {
    await given({ maxUnavailable: 1, pauseOnFailure: true })
    await squat(all.slice(squatted.length))
    await world.edit('t', { objects: after })
    const paused = await world.status('t', (s) => s['failed'] === 1 && s['waiting'] === 6)
    expect(conditionOf(paused, 'Progressing')).toMatchObject({ status: 'False', reason: 'Paused' })
    expect(conditionOf(paused, 'Progressing')?.['message']).toBe(
      '1 namespaces failed with generation 2; no other is begun until they are mended or the template is edited',
    )
  })

  test('what fails of itself keeps its place, beside it too, and is told first', async () => {
    await given({ maxUnavailable: 2 })
    const template = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } }
    const broken = { template, when: "namespaceObject.metadata.name in ['t-0', 't-3', 't-4']" }
    await world.edit('t', { objects: [...after, broken] })
    const isHeldUp = (s: JsonObject): boolean =>
      String(conditionOf(s, 'Progressing')?.['message']).includes('keep all places')
    const stuck = await world.status('t', isHeldUp)
    expect(conditionOf(stuck, 'Progressing')?.['message']).toMatch(
      /; 2 that failed keep all places of .*, and [1-5] wait; first t-[034]: Widget.w: UnknownKind$/,
    )
    expect((stuck['failures'] as JsonObject[])[0]).toMatchObject({ reason: 'UnknownKind' })
    await world.edit('t', { objects: after })
    const over = await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'CompleteWithFailures')
    expect(over).toMatchObject({ observedGeneration: 3, synced: 4, failed: 3 })
  })
})
