/** How an edit of a template reaches the namespaces that exist, and how it is taken back. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { rollbackTemplate } from '../../src/apis/templates/rollback.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { waitFor } from '../support/wait-for.ts'
import {
  conditionOf,
  configMap,
  configMapResource,
  namespaceResource,
  PopulationWorld,
  refusal,
  templateResource,
} from './population-world.ts'

let world: PopulationWorld
beforeEach(async () => {
  world = await PopulationWorld.start()
})
afterEach(() => world[Symbol.asyncDispose]())

const policies = (resource: string) => ({ group: 'admissionregistration.k8s.io', version: 'v1', resource })

/** A policy keeps a ConfigMap of this name out of these namespaces, which is none of their doing. */
async function refuse(name: string, namespaces: readonly string[], { admin }: PopulationWorld = world): Promise<void> {
  const metadata = { name: `no-${name}` }
  const matchConstraints = {
    namespaceSelector: { matchLabels: { refuses: name } },
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
  }
  const validations = [{ expression: `object.metadata.name != '${name}'`, message: 'refused', reason: 'Forbidden' }]
  await admin.create(policies('validatingadmissionpolicies'), { metadata, spec: { matchConstraints, validations } })
  const binding = { policyName: metadata.name, validationActions: ['Deny'] }
  await admin.create(policies('validatingadmissionpolicybindings'), { metadata, spec: binding })
  for (const namespace of namespaces) {
    await admin.patch(namespaceResource, { name: namespace }, { metadata: { labels: { refuses: name } } })
    const probe = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } }
    const isRefused = () => admin.create(configMapResource, probe, { dryRun: true }).catch(({ reason }) => reason)
    await expect.poll(isRefused).toBe('Forbidden')
  }
}

/** Nothing is refused there any more, which the controller sees by the label. */
const mend = (namespace: string): Promise<unknown> =>
  world.admin.patch(namespaceResource, { name: namespace }, { metadata: { labels: { refuses: null } } })

const annotate = (template: string, annotations: Record<string, string>): Promise<unknown> =>
  world.admin.patch(templateResource, { name: template }, { metadata: { annotations } })

const confirm = (template: string, generation: string): Promise<unknown> =>
  annotate(template, { 'policy.borough.dev/confirm-prune': generation })

const holders = async (names: readonly string[], object: string, value: string): Promise<string[]> => {
  const data = await Promise.all(names.map((n) => world.data(n, object)))
  return names.filter((_, i) => JSON.stringify(data[i]) === JSON.stringify({ a: value }))
}

describe('waves', () => {
  test('a change reaches everybody, and the status follows it', async () => {
    await world.template('t', [configMap('one')], { rollout: { maxUnavailable: 1 } })
    const names = await world.namespaces(5)
    await world.edit('t', { templates: [configMap('one', { a: '2' })] })
    const status = await world.status('t', (s) => s['observedGeneration'] === 2 && s['synced'] === 5)
    expect(status).toMatchObject({ matched: 5, failed: 0, waiting: 0 })
    expect(conditionOf(status, 'Progressing')).toMatchObject({ status: 'False', reason: 'Complete' })
    expect(conditionOf(status, 'Synced')).toMatchObject({ status: 'True' })
    expect(await holders(names, 'one', '2')).toEqual(names)
  })

  test('no more namespaces than maxUnavailable are under way or failed; the others keep what they have', async () => {
    await world.template('t', [configMap('one')], { rollout: { maxUnavailable: '40%' } })
    const names = await world.namespaces(5)
    await refuse('two', names)
    await world.edit('t', { templates: [configMap('one', { a: '2' }), configMap('two')] })
    const stuck = await world.status('t', (s) => s['failed'] === 2 && s['waiting'] === 3)
    expect(stuck).toMatchObject({ matched: 5, synced: 0 })
    const [first] = stuck['failures'] as JsonObject[]
    expect(conditionOf(stuck, 'Progressing')).toMatchObject({
      ...{ status: 'True', reason: 'RollingOut' },
      message:
        '0 of 5 namespaces hold generation 2; 2 that failed keep all places of spec.rollout.maxUnavailable until ' +
        `they are mended, and 3 wait; first ${first?.['namespace']}: ConfigMap/two: Forbidden`,
    })
    const begun = await holders(names, 'one', '2')
    expect(begun).toHaveLength(2)
    // A place that becomes free is taken by the next.
    await mend(begun[0] ?? '')
    await world.status('t', (s) => s['synced'] === 1 && s['failed'] === 2 && s['waiting'] === 2)
    expect(await holders(names, 'one', '2')).toHaveLength(3)
  })

  test('a namespace that waits is kept at the version it has', async () => {
    await world.template('t', [configMap('one'), configMap('old')], { rollout: { maxUnavailable: 1 } })
    const names = await world.namespaces(2)
    await refuse('two', names)
    await world.edit('t', { templates: [configMap('one', { a: '2' }), configMap('two')] })
    await world.status('t', (s) => s['failed'] === 1 && s['waiting'] === 1)
    const [waiting = ''] = await holders(names, 'one', '1')
    await world.admin.delete(configMapResource, { namespace: waiting, name: 'one' })
    const back = await waitFor(
      world.admin,
      configMapResource,
      { namespace: waiting, name: 'one' },
      (o) => o?.['data'] !== undefined,
    )
    expect(back?.['data']).toEqual({ a: '1' })
    expect(await world.data(waiting, 'old')).toEqual({ a: '1' })
  })

  test('a new namespace does not wait for a rollout', async () => {
    await world.template('t', [configMap('one')], { rollout: { maxUnavailable: 1 } })
    const names = await world.namespaces(2)
    await refuse('two', names)
    await world.edit('t', { templates: [configMap('one', { a: '2' }), configMap('two')] })
    await world.status('t', (s) => s['failed'] === 1 && s['waiting'] === 1)
    await world.namespace('fresh')
    expect(await world.data('fresh', 'one')).toEqual({ a: '2' })
  })

  test('a paused rollout begins no namespace; what is there is kept, and a new one is given the newest', async () => {
    await world.template('t', [configMap('one')], { rollout: { maxUnavailable: 1 } })
    const names = await world.namespaces(3)
    await annotate('t', { 'policy.borough.dev/pause-rollout': 'yes' })
    await world.edit('t', { templates: [configMap('one', { a: '2' })] })
    // It may be told before all of them were looked at.
    const paused = await world.status(
      't',
      (s) => conditionOf(s, 'Progressing')?.['reason'] === 'Paused' && s['waiting'] === 3,
    )
    expect(paused).toMatchObject({ observedGeneration: 2, matched: 3, synced: 0, waiting: 3 })
    expect(conditionOf(paused, 'Progressing')?.['message']).toContain(
      'namespacetemplate t policy.borough.dev/pause-rollout-',
    )
    expect(await world.eventsAbout('NamespaceTemplate', 'RolloutPaused', 'default')).toHaveLength(1)
    await world.admin.delete(configMapResource, { namespace: 'ns-0', name: 'one' })
    const one = { namespace: 'ns-0', name: 'one' }
    const back = await waitFor(world.admin, configMapResource, one, (o) => o?.['data'] !== undefined)
    expect(back?.['data']).toEqual({ a: '1' })
    await world.namespace('fresh')
    expect(await world.data('fresh', 'one')).toEqual({ a: '2' })
    expect(await holders(names, 'one', '1')).toEqual(names)
    await annotate('t', { 'policy.borough.dev/pause-rollout': 'false' })
    await world.status('t', (s) => s['synced'] === 4)
    expect(await holders(names, 'one', '2')).toEqual(names)
  })

  test('a rollout that is paused on its way begins no other where a place becomes free', async () => {
    await world.template('t', [configMap('one')], { rollout: { maxUnavailable: 2 } })
    const names = await world.namespaces(5)
    await refuse('two', names)
    await world.edit('t', { templates: [configMap('one', { a: '2' }), configMap('two')] })
    await world.status('t', (s) => s['failed'] === 2 && s['waiting'] === 3)
    const begun = await holders(names, 'one', '2')
    await annotate('t', { 'policy.borough.dev/pause-rollout': 'true' })
    await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'Paused')
    await mend(begun[0] ?? '')
    const held = await world.status('t', (s) => s['synced'] === 1)
    expect(held).toMatchObject({ failed: 1, waiting: 3 })
    expect(await holders(names, 'one', '2')).toEqual(begun)
    const now = await world.admin.get(templateResource, { name: 't' })
    expect(now.metadata.generation).toBe(2)
    await world.admin.patch(
      templateResource,
      { name: 't' },
      {
        metadata: { annotations: { 'policy.borough.dev/pause-rollout': null } },
      },
    )
    await world.status('t', (s) => s['failed'] === 2 && s['waiting'] === 2)
  })

  test('the deletion of a paused template goes on', async () => {
    await world.template('t', [configMap('one')])
    await world.namespaces(1)
    await annotate('t', { 'policy.borough.dev/pause-rollout': 'true' })
    await world.admin.delete(templateResource, { name: 't' })
    await waitFor(world.admin, templateResource, { name: 't' }, (o) => o === undefined)
  })

  test('pauseOnFailure begins no other namespace after a failure, and goes on when it is mended', async () => {
    await world.template('t', [configMap('one')], { rollout: { maxUnavailable: 1, pauseOnFailure: true } })
    // So many that it is not among the last, in which nothing would be left to wait: who comes first is not fixed.
    const names = await world.namespaces(8)
    await refuse('two', ['ns-0'])
    await world.edit('t', {
      templates: [configMap('one', { a: '2' }), configMap('two')],
      rollout: { maxUnavailable: 2 },
    })
    const paused = await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'Paused')
    expect(conditionOf(paused, 'Progressing')).toMatchObject({ status: 'False' })
    expect((paused['failures'] as JsonObject[])[0]).toMatchObject({ namespace: 'ns-0', object: 'ConfigMap/two' })
    expect(await world.eventsAbout('NamespaceTemplate', 'RolloutPaused', 'default')).toHaveLength(1)
    expect((await holders(names, 'one', '2')).length).toBeLessThan(8)
    await mend('ns-0')
    await world.status('t', (s) => s['synced'] === 8)
    expect(await holders(names, 'one', '2')).toEqual(names)
  })

  test('pauseOnFailure goes on when the namespace that failed is deleted', async () => {
    await world.template('t', [configMap('one')], { rollout: { maxUnavailable: 1, pauseOnFailure: true } })
    await refuse('two', await world.namespaces(3))
    await world.edit('t', { templates: [configMap('one'), configMap('two')] })
    const paused = await world.status('t', (s) => s['failed'] === 1 && s['waiting'] === 2)
    const failed = (paused['failures'] as JsonObject[])[0]?.['namespace']
    await world.admin.delete(namespaceResource, { name: String(failed) })
    await world.status('t', (s) => s['matched'] === 2 && s['failed'] === 1 && s['waiting'] === 1)
  })

  test('pauseOnFailure lets go on who edits the template', async () => {
    await world.template('t', [configMap('one')], { rollout: { maxUnavailable: 1, pauseOnFailure: true } })
    // In whichever comes first it fails: where only the last one did, nothing would be left to wait.
    await refuse('two', await world.namespaces(3))
    await world.edit('t', { templates: [configMap('one'), configMap('two')] })
    await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'Paused')
    await world.edit('t', { templates: [configMap('one'), configMap('three')] })
    await world.status('t', (s) => s['synced'] === 3)
  })

  test.each([
    { maxUnavailable: 0 },
    { maxUnavailable: 'some' },
    { maxUnavailable: '101%' },
    { maxPrune: -1 },
    { maxPrune: '-1%' },
  ])('%j is refused when the template is written', async (rollout) => {
    expect((await refusal(world.template('t', [], { rollout }))).details?.causes?.[0]?.field).toBe(
      `spec.rollout.${Object.keys(rollout)[0]}`,
    )
  })
})

describe('maxPrune', () => {
  const tier = (value: string): JsonObject => ({ labelSelector: { matchLabels: { tier: value } } })

  test('a selector mistake that would prune in more namespaces stops and says so', async () => {
    await world.template('t', [configMap('one')], { namespaces: tier('a'), rollout: { maxPrune: 2 } })
    const names = await world.namespaces(3, { labels: { tier: 'a' } })
    await world.edit('t', { namespaces: tier('typo') })
    const status = await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    expect(conditionOf(status, 'Progressing')?.['message']).toContain(
      'generation 2 would delete objects in 3 of 3 namespaces, spec.rollout.maxPrune allows 2: ns-0, ns-1, ns-2; ' +
        'nothing is changed',
    )
    expect(conditionOf(status, 'Synced')).toMatchObject({
      status: 'False',
      reason: 'TooManyPrunes',
      message: '3 namespaces that it no longer selects hold its objects still',
    })
    expect(await world.eventsAbout('NamespaceTemplate', 'RolloutTooManyPrunes', 'default')).toHaveLength(1)
    expect(await holders(names, 'one', '1')).toEqual(names)
    // Back to what was meant: nothing was lost.
    await world.edit('t', { namespaces: tier('a') })
    await world.status('t', (s) => s['observedGeneration'] === 3 && s['synced'] === 3)
    expect(await holders(names, 'one', '1')).toEqual(names)
  })

  test('a change that drops an object counts as well', async () => {
    await world.template('t', [configMap('one'), configMap('two')], { rollout: { maxPrune: '50%' } })
    const names = await world.namespaces(3)
    await world.edit('t', { templates: [configMap('one', { a: '2' })] })
    await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    expect(await holders(names, 'one', '1')).toEqual(names)
    expect(await holders(names, 'two', '1')).toEqual(names)
  })

  test('up to the limit it prunes, and a raised limit lets it go on', async () => {
    await world.template('t', [configMap('one')], { namespaces: tier('a'), rollout: { maxPrune: 1 } })
    const names = await world.namespaces(2, { labels: { tier: 'a' } })
    await world.edit('t', { namespaces: tier('b') })
    await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    await world.edit('t', { rollout: { maxPrune: 2 } })
    await world.status('t', (s) => s['observedGeneration'] === 3 && s['matched'] === 0)
    for (const name of names) {
      await waitFor(world.admin, configMapResource, { namespace: name, name: 'one' }, (o) => o === undefined)
    }
  })

  const keeping =
    'keep what it made, and create it again with spec.adopt: true: ' +
    `kubectl patch namespacetemplate t --type=merge -p '{"spec":{"deletionPolicy":"Orphan"}}'`

  test('a deletion beyond the limit stops, corrects drift meanwhile, and goes on when it is confirmed', async () => {
    await world.template('t', [configMap('one')], { rollout: { maxPrune: 1 } })
    const names = await world.namespaces(2)
    await world.admin.delete(templateResource, { name: 't' })
    const status = await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    expect(conditionOf(status, 'Progressing')).toMatchObject({
      status: 'False',
      message:
        'deleting the template would delete objects in 2 of 2 namespaces, spec.rollout.maxPrune allows 1: ns-0, ' +
        'ns-1; nothing is changed. If it is meant, confirm it with: ' +
        'kubectl annotate --overwrite namespacetemplate t policy.borough.dev/confirm-prune=2; ' +
        `if not, ${keeping}`,
    })
    expect(conditionOf(status, 'Synced')).toMatchObject({ status: 'False', reason: 'TooManyPrunes' })
    await expect(
      rollbackTemplate(world.admin, { name: 't', dryRun: false }, AbortSignal.timeout(5_000)),
    ).rejects.toThrow(`t is being deleted, and no rollback ends that; if it is not meant, ${keeping}`)
    expect(await world.eventsAbout('NamespaceTemplate', 'RolloutTooManyPrunes', 'default')).toHaveLength(1)
    await world.admin.delete(configMapResource, { namespace: 'ns-0', name: 'one' })
    const one = { namespace: 'ns-0', name: 'one' }
    await waitFor(world.admin, configMapResource, one, (o) => o !== undefined)
    expect(await holders(names, 'one', '1')).toEqual(names)
    // Another generation's word does not count.
    await confirm('t', '1')
    await world.namespace('later')
    expect(await holders(names, 'one', '1')).toEqual(names)
    await confirm('t', '2')
    await waitFor(world.admin, templateResource, { name: 't' }, (o) => o === undefined)
    expect(await holders(names, 'one', '1')).toEqual([])
  })

  test('a deletion that was not meant keeps what was made, as its condition says, and is taken up again', async () => {
    await world.template('t', [configMap('one')], { rollout: { maxPrune: 1 } })
    const names = await world.namespaces(2)
    await world.admin.delete(templateResource, { name: 't' })
    await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    await world.admin.patch(templateResource, { name: 't' }, { spec: { deletionPolicy: 'Orphan' } })
    await waitFor(world.admin, templateResource, { name: 't' }, (o) => o === undefined)
    expect(await holders(names, 'one', '1')).toEqual(names)
    await world.template('t', [configMap('one', { a: '2' })], { adopt: true })
    await world.status('t', (s) => s['synced'] === 2)
    expect(await holders(names, 'one', '2')).toEqual(names)
  })

  test('a deletion up to the limit is not asked about', async () => {
    await world.template('t', [configMap('one')])
    await world.namespaces(5)
    await world.admin.delete(templateResource, { name: 't' })
    await waitFor(world.admin, templateResource, { name: 't' }, (o) => o === undefined)
    expect(await world.data('ns-0', 'one')).toBeUndefined()
  })

  test('a template that is switched off and deleted is no way around it', async () => {
    await world.template('t', [configMap('one')], { rollout: { maxPrune: 0 } })
    await world.namespaces(1)
    await annotate('t', { 'policy/namespace-template-apply': 'disable' })
    await world.admin.delete(templateResource, { name: 't' })
    await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    expect(await world.data('ns-0', 'one')).toEqual({ a: '1' })
  })

  test('a deleted template that orphans destroys nothing, and is not stopped', async () => {
    await world.template('t', [configMap('one')], { deletionPolicy: 'Orphan', rollout: { maxPrune: 0 } })
    await world.namespaces(1)
    await world.admin.delete(templateResource, { name: 't' })
    await waitFor(world.admin, templateResource, { name: 't' }, (o) => o === undefined)
    expect(await world.data('ns-0', 'one')).toEqual({ a: '1' })
  })

  test('without a word from the template an edit may strip five namespaces and not six', async () => {
    await world.template('t', [configMap('one')], { namespaces: tier('a') })
    const names = await world.namespaces(6, { labels: { tier: 'a' } })
    await world.edit('t', { namespaces: tier('typo') })
    const status = await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    expect(conditionOf(status, 'Progressing')?.['message']).toBe(
      'generation 2 would delete objects in 6 of 6 namespaces, spec.rollout.maxPrune allows 5 (the default): ' +
        'ns-0, ns-1, ns-2, ns-3, ns-4, ...; nothing is changed. If it is meant, confirm it with: ' +
        'kubectl annotate --overwrite namespacetemplate t policy.borough.dev/confirm-prune=2; ' +
        'if not, go back to generation 1, the one before, with: borough template rollback t --to-generation 1',
    )
    expect(await holders(names, 'one', '1')).toEqual(names)
    await confirm('t', '2')
    await world.status('t', (s) => s['observedGeneration'] === 2 && conditionOf(s, 'Synced')?.['status'] === 'True')
    expect(await holders(names, 'one', '1')).toEqual([])
  })
})

test('what a template took away is in its events, by name, after the template has gone too', async () => {
  await world.template('t', [configMap('one'), configMap('two')])
  await world.namespaces(2)
  await world.edit('t', { templates: [configMap('one')] })
  const told = (): Promise<string[]> => world.eventsAbout('NamespaceTemplate', 'PopulationPruned', 'default')
  const edited = ['deleted in namespace ns-0: ConfigMap/two', 'deleted in namespace ns-1: ConfigMap/two']
  await expect.poll(async () => (await told()).sort()).toEqual(edited)
  await world.admin.delete(templateResource, { name: 't' })
  const deleted = ['deleted in namespace ns-0: ConfigMap/one', 'deleted in namespace ns-1: ConfigMap/one']
  await expect.poll(async () => (await told()).sort()).toEqual([...edited, ...deleted].sort())
})

describe('pause', () => {
  const config = { namespace: 'kube-system', name: 'borough-population' }
  const pause = (paused: string): Promise<unknown> =>
    world.admin.apply(
      configMapResource,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: config, data: { paused } },
      {
        fieldManager: 'test',
      },
    )
  const isPaused = (s: JsonObject): boolean => conditionOf(s, 'Progressing')?.['reason'] === 'PopulationPaused'

  test('leaves namespaces as they are, populates new ones, and what changed is made up for afterwards', async () => {
    await world.template('t', [configMap('one'), configMap('two')])
    await world.template('going', [configMap('three')])
    const names = await world.namespaces(2)
    await world.status('t', (s) => s['synced'] === 2)
    await pause('true')
    const paused = await world.status('t', isPaused)
    expect(paused).toMatchObject({ matched: 2, synced: 2 })
    expect(conditionOf(paused, 'Progressing')).toMatchObject({
      status: 'False',
      message:
        'all templates are paused by key paused of ConfigMap kube-system/borough-population: ' +
        'namespaces that exist are left as they are',
    })
    expect(await world.eventsAbout('NamespaceTemplate', 'RolloutPopulationPaused', 'default')).toHaveLength(2)
    await world.edit('t', { templates: [configMap('one', { a: '2' })] })
    await world.admin.delete(templateResource, { name: 'going' })
    await world.admin.delete(configMapResource, { namespace: 'ns-1', name: 'one' })
    // Given what the template says now, so the controller has seen the edit; and nothing of the deleted one.
    await world.namespace('fresh')
    expect(await world.data('fresh', 'one')).toEqual({ a: '2' })
    expect(await world.data('fresh', 'three')).toBeUndefined()
    await world.status('going', isPaused)
    expect(await holders(names, 'one', '1')).toEqual(['ns-0'])
    expect(await holders(names, 'two', '1')).toEqual(names)
    expect(await holders(names, 'three', '1')).toEqual(names)
    await pause('false')
    await world.status('t', (s) => s['observedGeneration'] === 2 && s['synced'] === 3)
    await waitFor(world.admin, templateResource, { name: 'going' }, (o) => o === undefined)
    expect(await holders(names, 'one', '2')).toEqual(names)
    expect(await holders(names, 'two', '1')).toEqual([])
    expect(await holders(names, 'three', '1')).toEqual([])
  })

  test('holds over a restart of the controllers, whatever its value but false', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'borough-pause-'))
    try {
      {
        await using first = await PopulationWorld.start(dataDir)
        await first.template('t', [configMap('one')])
        await first.namespaces(1)
        await first.status('t', (s) => s['synced'] === 1)
        await first.admin.create(configMapResource, { metadata: config, data: { paused: 'yes' } })
        await first.status('t', isPaused)
        await first.edit('t', { templates: [] })
      }
      await using second = await PopulationWorld.start(dataDir)
      await second.template('other', [configMap('two')])
      await second.status('other', isPaused)
      expect(await second.data('ns-0', 'one')).toEqual({ a: '1' })
      expect(await second.data('ns-0', 'two')).toBeUndefined()
      await second.admin.delete(configMapResource, config)
      await second.status('t', (s) => s['observedGeneration'] === 2)
      await waitFor(second.admin, configMapResource, { namespace: 'ns-0', name: 'one' }, (o) => o === undefined)
      expect(await second.data('ns-0', 'two')).toEqual({ a: '1' })
    } finally {
      await rm(dataDir, { recursive: true })
    }
  })
})

describe('maxUnavailable', () => {
  test('without a word from the template five namespaces may have failed, and the sixth waits', async () => {
    await world.template('t', [configMap('one')])
    const names = await world.namespaces(6)
    await refuse('two', names)
    await world.edit('t', { templates: [configMap('one', { a: '2' }), configMap('two')] })
    await world.status('t', (s) => s['failed'] === 5 && s['waiting'] === 1)
    expect(await holders(names, 'one', '2')).toHaveLength(5)
  })
})

describe('status.kinds', () => {
  test('names a kind before the first object of it, and no longer than one is left', async () => {
    await world.template('t', [configMap('one')])
    await world.namespace('team')
    // The create was held until the object was there, so by now the kind must stand in the status.
    const early = await world.admin.get(templateResource, { name: 't' })
    expect(early['status']).toMatchObject({ kinds: ['v1/ConfigMap'] })
    await world.edit('t', { templates: [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' } }] })
    await waitFor(world.admin, configMapResource, { namespace: 'team', name: 'one' }, (o) => o === undefined)
    await world.status('t', (s) => JSON.stringify(s['kinds']) === '["v1/ServiceAccount"]')
  })
})

test('a template still prunes what it dropped where another one holds an object of it', async () => {
  const tiers = (...values: string[]): JsonObject => ({
    namespaces: { labelSelector: { matchExpressions: [{ key: 'tier', operator: 'In', values }] } },
  })
  await world.template('a', [configMap('shared')], tiers('x', 'a'))
  await world.template('b', [configMap('shared'), configMap('dropped')], tiers('x', 'b'))
  await world.namespace('team', { labels: { tier: 'x' } })
  expect(await world.data('team', 'dropped')).toEqual({ a: '1' })
  await world.edit('b', { templates: [configMap('shared')] })
  await waitFor(world.admin, configMapResource, { namespace: 'team', name: 'dropped' }, (o) => o === undefined)
})

describe('restart', () => {
  test('a rollout that was under way goes on, and a stopped one stays stopped', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'borough-rollout-'))
    try {
      {
        await using first = await PopulationWorld.start(dataDir)
        await first.template('stopped', [configMap('one')], { rollout: { maxPrune: 1 } })
        await first.template('stuck', [configMap('x')], { rollout: { maxUnavailable: 1 } })
        await refuse('y', await first.namespaces(3), first)
        await first.edit('stopped', { templates: [] })
        await first.edit('stuck', { templates: [configMap('x', { a: '2' }), configMap('y')] })
        await first.status('stopped', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
        await first.status('stuck', (s) => s['failed'] === 1 && s['waiting'] === 2)
      }
      await using second = await PopulationWorld.start(dataDir)
      await second.admin.delete(policies('validatingadmissionpolicybindings'), { name: 'no-y' })
      await second.admin.patch(templateResource, { name: 'stuck' }, { spec: { rollout: { maxUnavailable: 2 } } })
      await second.status('stuck', (s) => s['observedGeneration'] === 3 && s['synced'] === 3)
      await second.status('stopped', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
      for (const n of [0, 1, 2]) {
        expect(await second.data(`ns-${n}`, 'x')).toEqual({ a: '2' })
        expect(await second.data(`ns-${n}`, 'one')).toEqual({ a: '1' })
      }
    } finally {
      await rm(dataDir, { recursive: true })
    }
  })

  const stops: { how: string; stop(world: PopulationWorld): Promise<unknown> }[] = [
    { how: 'an edit that would prune too much', stop: (w) => w.edit('t', { templates: [configMap('other')] }) },
    { how: 'an edit of what another edit made', stop: (w) => w.edit('t', { templates: [] }) },
    { how: 'a deletion that would prune too much', stop: (w) => w.admin.delete(templateResource, { name: 't' }) },
  ]
  test.each(stops)('a namespace that waits is kept at what an earlier process applied: $how', async ({ how, stop }) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'borough-kept-'))
    try {
      {
        await using first = await PopulationWorld.start(dataDir)
        await first.template('t', [configMap('one'), configMap('two')], { rollout: { maxPrune: 0 } })
        await first.template('beside', [configMap('three')])
        await first.namespaces(1)
        if (how.includes('another')) {
          await first.edit('t', { templates: [configMap('one'), configMap('two', { a: '2' })] })
          await first.status('t', (s) => s['observedGeneration'] === 2 && s['synced'] === 1)
        }
        await stop(first)
        await first.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
      }
      await using second = await PopulationWorld.start(dataDir)
      for (const name of ['one', 'two', 'three']) {
        const was = await second.data('ns-0', name)
        const { uid } = (await second.admin.get(configMapResource, { namespace: 'ns-0', name })).metadata
        await second.admin.delete(configMapResource, { namespace: 'ns-0', name })
        const isBack = (o?: KubeObject) => o !== undefined && o.metadata.uid !== uid
        const back = await waitFor(second.admin, configMapResource, { namespace: 'ns-0', name }, isBack)
        expect(back?.['data']).toEqual(was)
      }
    } finally {
      await rm(dataDir, { recursive: true })
    }
  })
})
