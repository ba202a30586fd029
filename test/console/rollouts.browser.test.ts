/** A rollout in a real browser: paused, resumed, halted, and edited by two authors at once. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NamespaceTemplate } from '../../src/apis/templates/types.ts'
import {
  axeFaults,
  type ConsoleWorld,
  noBrowser,
  startBrowser,
  startConsoleWorld,
  type Visit,
  visit,
} from '../support/console-world.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { ...namespaces, resource: 'configmaps' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const bindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' }
const names = ['team-a', 'team-b', 'team-c', 'team-d', 'team-e', 'team-f']
const path = { name: 'default' }

const configMap = (name: string, data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
const rules = [
  { apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
]

describe.skipIf(noBrowser !== undefined)(`rollouts${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`, () => {
  let world: ConsoleWorld
  let browser: Browser
  let admin: Visit
  let page: Page
  let at: (path: string) => string

  beforeAll(async () => {
    ;[world, browser] = await Promise.all([startConsoleWorld(), startBrowser()])
    const { client } = world.plane
    const spec = {
      namespaces: { nameSelector: { include: ['team-*'] } },
      rollout: { maxUnavailable: 2 },
      templates: [configMap('greeting', { text: 'hello' }), configMap('second', { text: 'two' })],
    }
    await client.create(templates, { metadata: path, spec })
    for (const name of names) await client.create(namespaces, { metadata: { name } })
    const role = { ...bindings, resource: 'clusterroles' }
    await client.create(role, { metadata: { name: 'reader' }, rules })
    const roleRef = { apiGroup: bindings.group, kind: 'ClusterRole', name: 'reader' }
    const subjects = [{ apiGroup: bindings.group, kind: 'User', name: 'reader' }]
    await client.create(bindings, { metadata: { name: 'reader' }, roleRef, subjects })
    const served = await world.consoleFor('root', ['system:masters'])
    admin = await visit(browser, served.address)
    page = admin.page
    await admin.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    at = (to) => `${served.origin}${to}`
  })
  afterAll(async () => {
    await browser?.close()
    await world?.[Symbol.asyncDispose]()
  })

  const stored = async () => (await world.plane.client.get(templates, path)) as NamespaceTemplate
  const said = async (text: string): Promise<void> => {
    const { client } = world.plane
    const [, ...others] = (await stored()).spec?.templates ?? []
    const spec = { templates: [configMap('greeting', { text }), ...others] }
    await client.patch(templates, path, { spec })
  }
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()

  const replaceInEditor = async (change: (text: string) => string) => {
    const editor = page.getByRole('textbox', { name: 'Template' })
    await editor.waitFor()
    const shown = async (): Promise<string> => (await page.locator('.cm-line').allTextContents()).join('\n')
    const text = change(await shown())
    await editor.click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    await page.keyboard.press('ControlOrMeta+v')
    // The browser pastes when it has read the clipboard; an edit behind the plan would make it one of another text.
    await expect.poll(shown, { timeout: 30_000 }).toBe(text)
  }

  test('one template is paused by keys: an edit waits, says how far it came, and is resumed', async () => {
    await page.goto(at('/templates/default'))
    const pause = page.getByRole('button', { name: 'Pause the rollout' })
    await pause.focus()
    await page.keyboard.press('Enter')
    // One press: a question would let it go on while it is read.
    await page.getByText('It is paused, and nothing waits.').waitFor()
    // The keyboard stays on the button, which has become its other side.
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Resume the rollout')
    await said('good day')
    await page.getByText('0 of 6 namespaces hold generation 2: no wave of 3 has begun, 2 at a time.').waitFor()
    await page.getByText('The rollout is paused.').waitFor()
    await page.getByRole('heading', { name: 'What to do' }).waitFor()
    await page.getByText('No further namespace is begun').waitFor()
    await page.getByText('6 waiting').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.goto(at('/templates'))
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'default' }) })
    await row.getByText('paused').waitFor()
    // Nothing fails in a namespace, and it is not complete either.
    for (const view of ['/namespaces', '/map']) {
      await page.goto(at(view))
      const one = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'team-a' }) })
      await one.getByText('newer on its way: default 0 of 6').waitFor()
    }
    await page.goto(at('/templates/default'))
    await press('Resume the rollout')
    await page.getByText('6 of 6 namespaces hold generation 2.').waitFor()
    expect((await stored()).metadata.generation).toBe(2)
    await page.goto(at('/namespaces/team-a'))
    await page.getByText('complete', { exact: true }).waitFor()
    await page.goto(at('/templates/default'))
    await page.getByRole('button', { name: 'Pause the rollout' }).waitFor()
  })

  test('a rollout that stands still for failures shows its wave, and goes on live', async () => {
    const { client } = world.plane
    for (const namespace of names) await client.create(configMaps, { metadata: { namespace, name: 'third' } })
    const { spec } = await stored()
    await client.patch(templates, path, {
      spec: {
        rollout: { maxUnavailable: 2, pauseOnFailure: true },
        templates: [...(spec?.templates ?? []), configMap('third', { text: 'three' })],
      },
    })
    await page.getByText('Halted: it failed in a namespace.').waitFor()
    await page.getByText(/0 of 6 namespaces hold generation 3: wave 1 of 3, 2 at a time\./).waitFor()
    await page.getByText('it goes on by itself').waitFor()
    expect(await axeFaults(page)).toEqual([])
    for (const namespace of names) {
      await client.delete(configMaps, { namespace, name: 'third' })
      await client.patch(namespaces, { name: namespace }, { metadata: { annotations: { look: 'again' } } })
    }
    await page.getByText('6 of 6 namespaces hold generation 3.').waitFor()
    await page.getByText('Halted').waitFor({ state: 'detached' })
  })

  test('while all are paused it says where they are resumed', async () => {
    const config = { ...configMaps, resource: 'configmaps' }
    const switchOf = { namespace: 'kube-system', name: 'borough-population' }
    await world.plane.client.create(config, { metadata: switchOf, data: { paused: 'true' } })
    await page.getByText('Halted: all templates are paused.').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Templates' }).last().click()
    await press('Resume all')
    await page.getByRole('button', { name: 'Pause all templates' }).waitFor()
  })

  test('a halted prune is left by going back to the generation before', async () => {
    const { client } = world.plane
    const [greeting] = (await stored()).spec?.templates ?? []
    await client.patch(templates, path, { spec: { rollout: { maxPrune: 1 }, templates: [greeting] } })
    await page.goto(at('/templates/default'))
    await page.getByText('Halted: it would delete in more namespaces than it may.').waitFor()
    await press('Go back to the generation before')
    await press('Yes, go back to the generation before')
    await page.getByText('6 of 6 namespaces hold generation 5.').waitFor()
    await client.get(configMaps, { namespace: 'team-a', name: 'second' })
  })

  test('who may only read templates has no button of a rollout, and is offered no new one', async () => {
    const reader = await visit(browser, (await world.consoleFor('reader')).address)
    await reader.page.getByRole('link', { name: 'Templates' }).click()
    await reader.page.getByRole('link', { name: 'default' }).click()
    await reader.page.getByText('6 of 6 namespaces hold generation 5.').waitFor()
    await reader.page.getByRole('link', { name: 'Which namespaces' }).click()
    await reader.page.getByRole('row').filter({ hasText: 'team-a' }).waitFor()
    await reader.page.getByRole('searchbox').fill('none')
    await reader.page.getByText('Nothing is found for “none”').waitFor()
    const offered = reader.page.getByRole('link', { name: 'New template' })
    await expect.poll(() => offered.count()).toBe(0)
    await reader.page.goBack()
    await reader.page.getByRole('heading', { name: 'Rollout of generation 5' }).waitFor()
    // The page before it may not be gone yet.
    const buttons = reader.page.getByRole('button', { name: /rollout|this template|Go back/ })
    await expect.poll(() => buttons.count()).toBe(0)
    await reader.context.close()
  })

  test('a save whose answer is lost: the page says whether it was stored', async () => {
    const put = /\/namespacetemplates\/default(\?(?!.*dryRun).*)?$/
    await page.goto(at('/templates/default/edit'))
    await replaceInEditor((text) => text.replace(/text: (?!two).*/, 'text: lost'))
    await press('Plan')
    await page.getByRole('heading', { name: /6 namespaces would change/ }).waitFor()
    await page.route(put, (route) => (route.request().method() === 'PUT' ? route.abort() : route.continue()))
    await press('Save')
    const alert = page.getByRole('alert')
    await alert.getByText('It was not saved: plan it again').waitFor()
    await alert.getByText('it was not stored, and can be sent again').waitFor()
    expect((await stored()).spec?.templates?.[0]?.['data']).not.toEqual({ text: 'lost' })
    await page.unroute(put)
    await press('Plan')
    await page.getByRole('heading', { name: /6 namespaces would change/ }).waitFor()
    await page.route(put, async (route) => {
      if (route.request().method() !== 'PUT') return route.continue()
      await route.fetch()
      return route.abort()
    })
    await press('Save')
    await page.getByText(/6 of 6 namespaces hold generation/).waitFor()
    expect((await stored()).spec?.templates?.[0]?.['data']).toEqual({ text: 'lost' })
    await page.unroute(put)
    await said('good day')
    await page.getByText('6 of 6 namespaces hold generation 7.').waitFor()
  })

  test('what another author saved meanwhile is shown, brought together with my text, and planned again', async () => {
    await page.goto(at('/templates/default/edit'))
    await replaceInEditor((text) => text.replace('text: good day', 'text: mine # with a word why'))
    await world.plane.client.patch(templates, path, { spec: { rollout: { maxUnavailable: 3 } } })
    await press('Plan')
    await page.getByRole('heading', { name: /6 namespaces would change/ }).waitFor()
    await press('Save')
    await page.getByRole('heading', { name: 'Another author changed it meanwhile' }).waitFor()
    const panel = page.getByRole('region', { name: 'Another author changed it meanwhile' })
    expect(await panel.locator('del').allTextContents()).toEqual(['-     maxUnavailable: 2\n'])
    expect(await panel.locator('ins').allTextContents()).toEqual(['+     maxUnavailable: 3\n'])
    expect(await axeFaults(page)).toEqual([])
    await press('Bring both together and plan')
    await page.getByRole('heading', { name: /6 namespaces would change/ }).waitFor()
    const text = (await page.locator('.cm-line').allTextContents()).join('\n')
    expect(text).toContain('maxUnavailable: 3')
    expect(text).toContain('text: mine # with a word why')
    await press('Save')
    await page.getByText('6 of 6 namespaces hold generation 9.').waitFor()
    const { spec } = await stored()
    expect(spec?.rollout?.maxUnavailable).toBe(3)
    expect(spec?.templates?.[0]?.['data']).toEqual({ text: 'mine' })
  })

  test('what both changed is marked for a choice; or my text is planned in the place of theirs', async () => {
    await page.goto(at('/templates/default/edit'))
    await replaceInEditor((text) => text.replace(/text: (?!two).*/, 'text: mine again'))
    await said('theirs')
    await press('Plan')
    await page.getByRole('heading', { name: /6 namespaces would change/ }).waitFor()
    await press('Save')
    await press('Bring both together and plan')
    await page.getByText(/Both changed one place: it stands there twice/).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await press('Plan')
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await replaceInEditor((text) => text.replace(/<{7}.*\n([^]*?)={7}\n[^]*?>{7}.*\n/, '$1'))
    await press('Plan')
    await page.getByRole('heading', { name: /6 namespaces would change/ }).waitFor()
    // And once more, before it is saved.
    await said('theirs, later')
    await press('Save')
    await press('Plan my text in its place')
    await page.getByRole('heading', { name: /6 namespaces would change/ }).waitFor()
    await press('Save')
    await page.getByText(/6 of 6 namespaces hold generation/).waitFor()
    expect((await stored()).spec?.templates?.[0]?.['data']).toEqual({ text: 'mine again' })
  })

  test('a plan says that no end changes, and which namespaces could not live as long from now on', async () => {
    const { client } = world.plane
    const annotations = { 'borough.dev/expires-at': '2100-01-01T00:00:00Z' }
    await client.patch(namespaces, { name: 'team-b' }, { metadata: { annotations } })
    await page.goto(at('/templates/default/edit'))
    await replaceInEditor((text) => `${text.trimEnd()}\n  expiry:\n    max: 24h\n`)
    await press('Plan')
    const ends = page.getByRole('region', { name: 'When namespaces end' })
    await ends.getByText('A new namespace that names no end ends 24h after its creation').waitFor()
    await ends.getByText('The end of no namespace changes.').waitFor()
    await ends.getByText('1 namespace would live longer than the 24h').click()
    await ends.getByText('team-b', { exact: true }).waitFor()
    await ends.getByText('5 namespaces have no end').waitFor()
    expect(await axeFaults(page)).toEqual([])
    expect(admin.faults).toEqual([])
  })

  test('a template that was deleted meanwhile is planned as a new one, with my text', async () => {
    const { client } = world.plane
    await client.create(templates, {
      metadata: { name: 'brief' },
      spec: { namespaces: { nameSelector: { include: ['none'] } }, templates: [configMap('one', { a: '1' })] },
    })
    await page.goto(at('/templates/brief/edit'))
    await replaceInEditor((text) => text.replace('a: "1"', 'a: "2"'))
    await press('Plan')
    await page.getByRole('heading', { name: /It selects 0 namespaces/ }).waitFor()
    await client.delete(templates, { name: 'brief' })
    await expect.poll(() => client.get(templates, { name: 'brief' }).catch(String)).toMatch(/not found/)
    await press('Save')
    await page.getByRole('heading', { name: 'It was deleted meanwhile' }).waitFor()
    await press('Plan it as a new one')
    await page.getByRole('heading', { name: /The new template selects 0 namespaces/ }).waitFor()
    await press('Save')
    await page.getByRole('heading', { name: 'Rollout of generation 1' }).waitFor()
  })
})
