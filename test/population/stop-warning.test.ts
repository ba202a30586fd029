/** Who writes or deletes a template that `maxPrune` stops is told at once what condition, Event and plan say of it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { explainNamespace } from '../../src/apis/namespaces/explain.ts'
import { planTemplates } from '../../src/apis/templates/plan.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { JsonObject } from '../../src/kube/types.ts'
import { conditionOf, configMap, namespaceResource, PopulationWorld, templateResource } from './population-world.ts'

let world: PopulationWorld
beforeEach(async () => {
  world = await PopulationWorld.start()
})
afterEach(() => world[Symbol.asyncDispose]())

const collection = '/apis/policy.borough.dev/v1alpha1/namespacetemplates'
const path = `${collection}/t`
const tier = (value: string): JsonObject => ({ labelSelector: { matchLabels: { tier: value } } })
const typo = { spec: { namespaces: tier('typo') } }
const signal = AbortSignal.timeout(60_000)

/** A template `t` of `tier: a`, all there. */
async function given(count: number, spec: JsonObject = {}, objects = [configMap('one')]): Promise<void> {
  await world.template('t', objects, { namespaces: tier('a'), ...spec })
  await world.namespaces(count, { labels: { tier: 'a' } })
  await world.status('t', (s) => s['synced'] === count && conditionOf(s, 'Progressing')?.['reason'] === 'Complete')
}

const stopped = (generation: number, says: string, would = 'is', what = `generation ${generation}`): string =>
  `NamespaceTemplate "t" ${would} stopped: ${what} would delete objects in ${says}; nothing is changed. If it is ` +
  `meant, confirm it with: kubectl annotate --overwrite namespacetemplate t policy.borough.dev/confirm-prune=` +
  `${generation}; if not, ` +
  (what.startsWith('deleting')
    ? 'keep what it made, and create it again with spec.adopt: true: ' +
      `kubectl patch namespacetemplate t --type=merge -p '{"spec":{"deletionPolicy":"Orphan"}}'`
    : `go back to generation ${generation - 1}, the one before, with: borough template rollback t --to-generation ` +
      String(generation - 1))

const sixOfSix = '6 of 6 namespaces, spec.rollout.maxPrune allows 5 (the default): ns-0, ns-1, ns-2, ns-3, ns-4, ...'

test('a selector with a mistake in it: warning, plan, condition and Event say the same of it', async () => {
  await given(6)
  const stored = await world.admin.get(templateResource, { name: 't' })
  const edited = { ...stored, spec: { ...(stored['spec'] as JsonObject), ...typo.spec } }
  const apply = JSON.stringify({ apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', ...typo })
  const would = [stopped(2, sixOfSix, 'would be')]
  expect(await world.warnings(`${path}?dryRun=All`, 'PUT', edited)).toEqual(would)
  expect(await world.warnings(`${path}?dryRun=All`, 'PATCH', typo)).toEqual(would)
  const applied = `${path}?dryRun=All&fieldManager=f&force=true`
  expect(await world.warnings(applied, 'PATCH', JSON.parse(apply), 'application/apply-patch+yaml')).toEqual(would)
  const [plan] = await planTemplates({ client: world.admin, clock: systemClock, signal }, [edited])
  expect(plan?.stop).toBe('it would delete objects in 6 of 6 namespaces, spec.rollout.maxPrune allows 5 (the default)')
  // By the other name of its group, too.
  expect(await world.warnings('/apis/policy/v1alpha1/namespacetemplates/t', 'PATCH', typo)).toEqual([
    stopped(2, sixOfSix),
  ])
  const status = await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
  const message = stopped(2, sixOfSix).replace('NamespaceTemplate "t" is stopped: ', '')
  expect(conditionOf(status, 'Progressing')).toMatchObject({ status: 'False', message })
  expect(await world.eventsAbout('NamespaceTemplate', 'RolloutTooManyPrunes', 'default')).toEqual([message])
})

test('a deletion: its warning, plan, condition and Event say the same of it, and so does a second one', async () => {
  await given(6)
  const [plan] = await planTemplates({ client: world.admin, clock: systemClock, signal }, [], ['t'])
  expect(plan?.stop).toBe('it would delete objects in 6 of 6 namespaces, spec.rollout.maxPrune allows 5 (the default)')
  const says = (would: string): string[] => [stopped(2, sixOfSix, would, 'deleting the template')]
  expect(await world.warnings(`${path}?dryRun=All`, 'DELETE')).toEqual(says('would be'))
  expect(await world.warnings(path, 'DELETE')).toEqual(says('is'))
  const status = await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
  const message = says('is')[0]?.replace('NamespaceTemplate "t" is stopped: ', '')
  expect(conditionOf(status, 'Progressing')).toMatchObject({ status: 'False', message })
  expect(await world.eventsAbout('NamespaceTemplate', 'RolloutTooManyPrunes', 'default')).toEqual([message])
  expect(await world.warnings(path, 'DELETE')).toEqual(says('is'))
  expect(await world.warnings(collection, 'DELETE')).toEqual(says('is'))
})

describe('what an edit would take counts, whatever takes it', () => {
  const size = { name: 'size', fromLabel: 'size', enum: ['small', 'large'], default: 'small' }
  const held = (name: string, when: string): JsonObject => ({ when, template: configMap(name) })
  const cases: {
    name: string
    from?: JsonObject
    objects?: JsonObject[]
    edit: JsonObject
    says: string | undefined
  }[] = [
    { name: 'an object that is left out', edit: { templates: [configMap('two')] }, says: '2 of 2' },
    { name: 'an object that changes', edit: { templates: [configMap('one', { a: '2' })] }, says: undefined },
    { name: 'an object more', edit: { templates: [configMap('one'), configMap('two')] }, says: undefined },
    {
      name: 'a condition that is true of none of them',
      from: { objects: [held('if', 'true')] },
      edit: { objects: [held('if', "namespaceObject.metadata.name == 'x'")] },
      says: '2 of 2',
    },
    {
      name: 'a condition that is true of one of them',
      from: { objects: [held('if', 'true')] },
      edit: { objects: [held('if', "namespaceObject.metadata.name == 'ns-1'")] },
      says: '1 of 2',
    },
    {
      name: 'a parameter with another default, in a name',
      from: { parameters: [size] },
      objects: [configMap('of-$(size)')],
      edit: { parameters: [{ ...size, default: 'large' }] },
      says: '2 of 2',
    },
    {
      name: 'a label of the namespace itself',
      from: { namespaceMetadata: { labels: { 'example.com/env': 'prod' } } },
      edit: { namespaceMetadata: null },
      says: '2 of 2',
    },
    { name: 'a selector of all', edit: { namespaces: { nameSelector: { include: ['ns-*'] } } }, says: undefined },
    {
      name: 'a selector of others, of which there are more',
      edit: {
        namespaces: {
          labelSelector: { matchLabels: null, matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['a'] }] },
        },
      },
      says: '2 of 3',
    },
    { name: 'nothing that it makes', edit: { deletionPolicy: 'Orphan', templates: [] }, says: undefined },
    { name: 'as much as it says', edit: { rollout: { maxPrune: '100%' }, templates: [] }, says: undefined },
  ]
  test.each(cases)('$name', async ({ from, objects, edit, says }) => {
    await given(2, { rollout: { maxPrune: 0 }, ...from }, objects)
    const [warning, ...others] = await world.warnings(`${path}?dryRun=All`, 'PATCH', { spec: edit })
    expect(others).toEqual([])
    expect(warning?.match(/delete objects in (.*) namespaces, spec/)?.[1]).toBe(says)
    await world.edit('t', edit)
    const status = await world.status(
      't',
      (s) =>
        s['observedGeneration'] === 2 &&
        ['TooManyPrunes', 'Complete'].includes(String(conditionOf(s, 'Progressing')?.['reason'])),
    )
    const { reason, message } = conditionOf(status, 'Progressing') ?? {}
    if (says === undefined) expect(reason).toBe('Complete')
    else expect(`NamespaceTemplate "t" would be stopped: ${String(message)}`).toBe(warning)
  })
})

test('nothing is said of what will not be stopped, or is no edit', async () => {
  await given(6)
  const confirmed = { metadata: { annotations: { 'policy.borough.dev/confirm-prune': '2' } } }
  expect(await world.warnings(`${path}?dryRun=All`, 'PATCH', { ...confirmed, ...typo })).toEqual([])
  await world.patchWarnings(path, typo)
  expect(await world.warnings(path, 'PATCH', { metadata: { labels: { a: 'b' } } })).toEqual([])
  expect(await world.warnings(path, 'PATCH', confirmed)).toEqual([])
})

test('of an edit of a template that is disabled it is said when the template is enabled', async () => {
  await given(6)
  const key = 'policy/namespace-template-apply'
  await world.patchWarnings(path, { metadata: { annotations: { [key]: 'disable' } } })
  expect(await world.warnings(path, 'PATCH', typo)).toEqual([])
  const enabled = { metadata: { annotations: { [key]: null } } }
  expect(await world.warnings(path, 'PATCH', enabled)).toEqual([stopped(2, sixOfSix)])
})

test('namespaces that have opted out count, those that are being deleted do not', async () => {
  await given(3, { rollout: { maxPrune: 0 } })
  const optOut = { 'policy/namespace-template-opt-out': 'true' }
  await world.admin.patch(namespaceResource, { name: 'ns-0' }, { metadata: { annotations: optOut } })
  await world.admin.patch(namespaceResource, { name: 'ns-1' }, { spec: {}, metadata: { finalizers: ['a.test/b'] } })
  await world.admin.delete(namespaceResource, { name: 'ns-1' })
  const [warning] = await world.warnings(path, 'PATCH', typo)
  await world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
  expect(warning).toMatch(/delete objects in 2 of \d namespaces, spec.rollout.maxPrune allows 0: ns-0, ns-2; /)
})

test('why of a namespace that a stopped edit no longer selects names the template, and how to go on', async () => {
  await given(6)
  const notes = async (name: string): Promise<readonly string[]> =>
    (await explainNamespace(world.admin, name, systemClock, signal)).notes
  await world.patchWarnings(path, typo)
  const why = stopped(2, sixOfSix).replace(
    '"t" is stopped:',
    '"t", which no longer selects this namespace, is stopped, so what it gave stays:',
  )
  await expect.poll(() => notes('ns-5'), { timeout: 20_000 }).toEqual([why])
  await world.namespace('other', { labels: { tier: 'b' } })
  expect(await notes('other')).toEqual([])
})
