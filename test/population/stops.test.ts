/**
 * What `maxPrune` stops is stopped whatever else held the template when it was edited, and by the next controller too:
 * an annotation makes no generation, so no edit comes that would be looked at.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { explainNamespace } from '../../src/apis/namespaces/explain.ts'
import { planTemplates } from '../../src/apis/templates/plan.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { JsonObject } from '../../src/kube/types.ts'
import { waitFor } from '../support/wait-for.ts'
import { conditionOf, configMap, namespaceResource, PopulationWorld, templateResource } from './population-world.ts'

const names = ['ns-0', 'ns-1', 'ns-2']
const tier = (value: string): JsonObject => ({ labelSelector: { matchLabels: { tier: value } } })
const disabled = { 'policy/namespace-template-apply': 'disable' }
const beyond = { 'policy.borough.dev/feature-level': '99' }

/** A server of which the next controller is begun, or is not. */
class Steps {
  readonly #dataDir: string
  world: PopulationWorld

  private constructor(dataDir: string, world: PopulationWorld) {
    this.#dataDir = dataDir
    this.world = world
  }

  /** With three namespaces that hold a ConfigMap of the template; one of them may lose it by an edit. */
  static async start(): Promise<Steps> {
    const dataDir = await mkdtemp(join(tmpdir(), 'borough-stops-'))
    const steps = new Steps(dataDir, await PopulationWorld.start(dataDir))
    onTestFinished(async () => {
      await steps.world[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true })
    })
    await steps.world.template('t', [configMap('one')], { namespaces: tier('a'), rollout: { maxPrune: 1 } })
    await steps.world.namespaces(names.length, { labels: { tier: 'a' } })
    await steps.world.status('t', (s) => s['synced'] === names.length)
    return steps
  }

  async restart(): Promise<void> {
    await this.world[Symbol.asyncDispose]()
    this.world = await PopulationWorld.start(this.#dataDir)
  }

  annotate(annotations: Readonly<Record<string, string | null>>): Promise<unknown> {
    return this.world.admin.patch(templateResource, { name: 't' }, { metadata: { annotations } })
  }

  async annotateNamespaces(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    for (const name of names) await this.world.admin.patch(namespaceResource, { name }, { metadata: { annotations } })
  }

  async relabel(labels: Readonly<Record<string, string>>): Promise<void> {
    for (const name of names) await this.world.admin.patch(namespaceResource, { name }, { metadata: { labels } })
  }

  /** It stopped, all is there, and goes when the generation is named. */
  async expectStopped(generation: number): Promise<void> {
    await this.world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    for (const name of names) expect(await this.world.data(name, 'one')).toEqual({ a: '1' })
    await this.annotate({ 'policy.borough.dev/confirm-prune': String(generation) })
    await this.world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'Complete')
    for (const name of names) expect(await this.world.data(name, 'one')).toBeUndefined()
  }
}

const none = (annotations: object): Record<string, null> =>
  Object.fromEntries(Object.keys(annotations).map((key) => [key, null]))

const cases = [
  { what: 'disabled', annotations: disabled, reason: 'Disabled' },
  { what: 'of a newer version', annotations: beyond, reason: 'NewerTemplate' },
].flatMap((held) =>
  [
    { edit: 'selects none of them', spec: { namespaces: tier('typo') } },
    { edit: 'drops an object', spec: { templates: [configMap('two')] } },
  ].flatMap((edit) => [false, true].map((isRestarted) => ({ ...held, ...edit, isRestarted }))),
)

test.each(cases)(
  'an edit that $edit, of a template that is $what: next controller $isRestarted',
  async ({ annotations, reason, spec, isRestarted }) => {
    const steps = await Steps.start()
    await steps.annotate(annotations)
    await steps.world.edit('t', spec)
    const status = await steps.world.status('t', (s) => s['observedGeneration'] === 2)
    expect(conditionOf(status, 'Progressing')).toMatchObject({ status: 'False', reason })
    if (isRestarted) await steps.restart()
    await steps.annotate(none(annotations))
    await steps.expectStopped(2)
  },
)

test('why a disabled template does nothing is in its status', async () => {
  const steps = await Steps.start()
  await steps.annotate(disabled)
  const status = await steps.world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'Disabled')
  expect(conditionOf(status, 'Progressing')?.['message']).toBe(
    'annotation policy/namespace-template-apply disables it: what it made stays, and nothing is applied or deleted',
  )
})

test.each([false, true])('namespaces that leave a disabled template: next controller %s', async (isRestarted) => {
  const steps = await Steps.start()
  await steps.annotate(disabled)
  await steps.world.status('t', (s) => s['matched'] === 0)
  await steps.relabel({ tier: 'x' })
  if (isRestarted) await steps.restart()
  await steps.annotate(none(disabled))
  await steps.expectStopped(1)
})

const optOut = { 'policy/namespace-template-opt-out': 'true' }

describe('namespaces that have opted out, and are opted in again by a script', () => {
  test.each(
    [
      { edit: 'selects none of them', spec: { namespaces: tier('typo') } },
      { edit: 'drops an object', spec: { templates: [configMap('two')] } },
    ].flatMap((each) => [false, true].map((isRestarted) => ({ ...each, isRestarted }))),
  )('an edit meanwhile that $edit: next controller $isRestarted', async ({ spec, isRestarted }) => {
    const steps = await Steps.start()
    await steps.annotateNamespaces(optOut)
    await steps.world.status('t', (s) => s['matched'] === 0)
    const { admin } = steps.world
    const stored = await admin.get(templateResource, { name: 't' })
    const edited = { ...stored, spec: { ...(stored['spec'] as JsonObject), ...spec } }
    const signal = new AbortController().signal
    const [plan] = await planTemplates({ client: admin, clock: systemClock, signal }, [edited])
    expect(plan?.stop).toBe('it would delete objects in 3 of 3 namespaces, spec.rollout.maxPrune allows 1')
    await admin.update(templateResource, edited)
    await steps.world.status('t', (s) => s['observedGeneration'] === 2)
    if (isRestarted) await steps.restart()
    await steps.annotateNamespaces(none(optOut))
    await steps.expectStopped(2)
  })

  test('a deletion of the template meanwhile', async () => {
    const steps = await Steps.start()
    await steps.annotateNamespaces(optOut)
    await steps.world.status('t', (s) => s['matched'] === 0)
    await steps.world.admin.delete(templateResource, { name: 't' })
    await steps.world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    await steps.annotateNamespaces(none(optOut))
    await steps.world.status('t', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    for (const name of names) expect(await steps.world.data(name, 'one')).toEqual({ a: '1' })
    await steps.annotateNamespaces(optOut)
    await steps.annotate({ 'policy.borough.dev/confirm-prune': '2' })
    await waitFor(steps.world.admin, templateResource, { name: 't' }, (template) => template === undefined)
    for (const name of names) expect(await steps.world.data(name, 'one')).toEqual({ a: '1' })
  })

  test('nothing stops an edit that takes nothing from them', async () => {
    const steps = await Steps.start()
    await steps.annotateNamespaces(optOut)
    await steps.world.edit('t', { templates: [configMap('one'), configMap('two')] })
    await steps.world.status(
      't',
      (s) => s['observedGeneration'] === 2 && conditionOf(s, 'Progressing')?.['reason'] === 'Complete',
    )
    await steps.annotateNamespaces(none(optOut))
    await steps.world.status('t', (s) => s['synced'] === names.length)
    for (const name of names) expect(await steps.world.data(name, 'two')).toEqual({ a: '1' })
  })
})

test.each([false, true])('an object dropped with a new required value: next controller %s', async (isRestarted) => {
  const steps = await Steps.start()
  await steps.world.edit('t', {
    parameters: [{ name: 'cost', fromLabel: 'cost', required: true }],
    templates: [configMap('two', { a: '$(cost)' })],
  })
  await steps.world.status('t', (s) => s['observedGeneration'] === 2 && s['failed'] === names.length)
  if (isRestarted) await steps.restart()
  await steps.relabel({ cost: '1234' })
  await steps.expectStopped(2)
})

test('an object whose name has a parameter in it is not thought to be dropped with a new required value', async () => {
  const steps = await Steps.start()
  const size = { name: 'size', fromLabel: 'size', enum: ['small', 'large'] }
  await steps.world.edit('t', {
    parameters: [{ ...size, default: 'small' }],
    templates: [configMap('one'), configMap('of-$(size)')],
    namespaceMetadata: { labels: { 'example.com/size': 'is-$(size)' } },
  })
  await steps.world.status('t', (s) => s['observedGeneration'] === 2 && s['synced'] === names.length)
  await steps.world.edit('t', { parameters: [{ name: 'size', fromLabel: 'size', enum: ['small'], required: true }] })
  const status = await steps.world.status('t', (s) => s['observedGeneration'] === 3 && s['failed'] === names.length)
  expect(conditionOf(status, 'Progressing')).toMatchObject({ reason: 'CompleteWithFailures' })
})

test('why of a namespace says which of its templates stand still, and how to go on', async () => {
  const steps = await Steps.start()
  const { admin } = steps.world
  const notes = async (name = 'ns-0', client = admin): Promise<readonly string[]> =>
    (await explainNamespace(client, name, systemClock, AbortSignal.timeout(30_000))).notes
  const told = (want: readonly unknown[]): Promise<void> =>
    expect.poll(() => notes(), { timeout: 20_000 }).toEqual(want)
  await steps.world.template('other', [configMap('two')], { namespaces: tier('b') })
  await told([])
  await steps.world.edit('t', { templates: [] })
  const stopped = `NamespaceTemplate "t" is stopped: generation 2 would delete objects in 3 of 3 namespaces, `
  await told([
    expect.stringMatching(
      new RegExp(`^${stopped}.*confirm-prune=2; if not, go back to generation 1, the one before, with: `),
    ),
  ])
  await steps.world.edit('t', { templates: [configMap('one')] })
  await told([])
  await steps.annotate(disabled)
  await told([
    expect.stringMatching(/^NamespaceTemplate "t" is disabled: annotation policy\/namespace-template-apply /),
  ])
  await steps.annotate({ ...beyond, 'policy/namespace-template-apply': null })
  await told([expect.stringMatching(/^NamespaceTemplate "t" is not applied: the template /)])
  // Who may not read templates, or is in another namespace, is told nothing.
  expect(await notes('default')).toEqual([])
  const reader = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dora' }
  const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
  const rules = [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'delete'] }]
  await admin.create(rbac('clusterroles'), { metadata: { name: 'reader' }, rules })
  await admin.create(rbac('clusterrolebindings'), {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: reader.apiGroup, kind: 'ClusterRole', name: 'reader' },
    subjects: [reader],
  })
  expect(await notes('ns-0', steps.world.clientAs('dora'))).toEqual([])
})
