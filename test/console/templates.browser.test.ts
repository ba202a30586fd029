/** Templates in a real browser: planned before they are saved, followed while they roll out, stopped and taken back. */
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
const names = ['team-a', 'team-b', 'team-c']

const configMap = (name: string, data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
const spec = (...objects: object[]) => ({
  namespaces: { nameSelector: { include: ['team-*'] } },
  driftPolicy: 'Report',
  rollout: { maxPrune: 1 },
  templates: objects,
})

describe.skipIf(noBrowser !== undefined)(
  `templates${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    let world: ConsoleWorld
    let browser: Browser
    let admin: Visit
    let page: Page
    let at: (path: string) => string

    beforeAll(async () => {
      ;[world, browser] = await Promise.all([startConsoleWorld(), startBrowser()])
      const { client } = world.plane
      await client.create(templates, {
        metadata: { name: 'default' },
        spec: spec(configMap('greeting', { text: 'hello' }), configMap('second', { text: 'two' })),
      })
      for (const name of [...names, 'other']) await client.create(namespaces, { metadata: { name } })
      const served = await world.consoleFor('root', ['system:masters'])
      admin = await visit(browser, served.address)
      page = admin.page
      await admin.context.grantPermissions(['clipboard-read', 'clipboard-write'])
      at = (path) => `${served.origin}${path}`
    })
    afterAll(async () => {
      await browser?.close()
      await world?.[Symbol.asyncDispose]()
    })

    const stored = async () => (await world.plane.client.get(templates, { name: 'default' })) as NamespaceTemplate

    const edit = async (change: (text: string) => string) => {
      const editor = page.getByRole('textbox', { name: 'Template' })
      await editor.waitFor()
      const lines: string[] = await page.locator('.cm-line').allTextContents()
      await editor.click()
      await page.keyboard.press('ControlOrMeta+a')
      // As people replace a text: by pasting.
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(change(lines.join('\n')))})`)
      await page.keyboard.press('ControlOrMeta+v')
    }

    test('the list says how far each is, and the map which namespaces it reaches', async () => {
      await page.goto(at('/templates'))
      const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'default' }) })
      await row.getByText('complete').waitFor()
      await row.getByText('3 done').waitFor()
      await page.getByRole('link', { name: 'Which reach which namespaces' }).click()
      await page.getByRole('row').filter({ hasText: 'other' }).getByText('none').waitFor()
      await page.getByRole('combobox', { name: 'Template' }).selectOption('default')
      await page.getByRole('row').filter({ hasText: 'other' }).waitFor({ state: 'detached' })
      expect(await page.getByRole('grid').getByRole('link').allTextContents()).toEqual(names)
      expect(page.url()).toBe(at('/map?template=default'))
    })

    test('an edit is planned over all namespaces before it can be saved, then rolls out', async () => {
      await page.goto(at('/templates/default/edit'))
      await edit((text) => text.replace('text: hello', 'text: good day'))
      const save = page.getByRole('button', { name: 'Save' })
      expect(await save.isDisabled()).toBe(true)
      await page.getByRole('button', { name: 'Plan' }).click()
      await page.getByRole('heading', { name: 'It selects 3 namespaces, and 3 namespaces would change' }).waitFor()
      await page.getByRole('heading', { name: 'In 3 namespaces: team-a, team-b, team-c' }).waitFor()
      const change = page.getByRole('listitem').filter({ hasText: 'change ConfigMap/greeting' })
      expect(await change.locator('del').textContent()).toBe('"hello"')
      expect(await change.locator('ins').textContent()).toBe('"good day"')
      expect(await axeFaults(page)).toEqual([])
      expect((await stored()).metadata.generation).toBe(1)
      await save.click()
      await page.getByRole('heading', { name: 'Rollout of generation 2' }).waitFor()
      await page.getByText('Generation 2 has reached every selected namespace').waitFor()
      const greeting = await world.plane.client.get(configMaps, { namespace: 'team-b', name: 'greeting' })
      expect(greeting['data']).toEqual({ text: 'good day' })
    })

    test('while it is planned the page says how far it is', async () => {
      await page.goto(at('/templates/default/edit'))
      // The server answers, but only when it was seen that the page waits.
      const { promise: seen, resolve: go } = Promise.withResolvers<void>()
      await page.route(/\/namespaces\/team-a\/configmaps/, async (route) => {
        await seen
        await route.continue()
      })
      await edit((text) => text.replace(/text: .*/, 'text: once more'))
      await page.getByRole('button', { name: 'Plan', exact: true }).click()
      await page
        .getByRole('progressbar', { name: 'Planned' })
        .filter({ hasText: /[0-3] of 3 namespaces/ })
        .waitFor()
      go()
      await page.getByRole('progressbar', { name: 'Planned' }).waitFor({ state: 'detached' })
      await page.getByText('3 namespaces would change').waitFor()
      await page.unrouteAll()
    })

    test('the plan of a text that was edited meanwhile, and planned anew, is shown nowhere and not saved', async () => {
      await page.goto(at('/templates/default/edit'))
      // Of each plan the dry run of the template itself, which comes first.
      const held: (() => Promise<void>)[] = []
      await page.route(/\/namespacetemplates\/default\?.*dryRun=All/, (route) => {
        held.push(() => route.continue())
      })
      await edit((text) => text.replace(/text: .*/, 'text: of the first plan'))
      await page.getByRole('button', { name: 'Plan', exact: true }).click()
      await expect.poll(() => held.length).toBe(1)
      await edit((text) => text.replace(/text: .*/, 'text: of the second plan'))
      await page.getByRole('button', { name: 'Plan', exact: true }).click()
      await expect.poll(() => held.length).toBe(2)
      const answered = page.waitForResponse(/\/namespaces\/team-c\/configmaps/)
      await held[0]?.()
      await answered
      await held[1]?.()
      await page.getByRole('heading', { name: /3 namespaces would change/ }).waitFor()
      expect(await page.locator('ins').allTextContents()).toEqual(['"of the second plan"'])
      await page.unrouteAll()
    })

    test('an edit after the plan must be planned again', async () => {
      await page.goto(at('/templates/default/edit'))
      await edit((text) => text.replace('text: good day', 'text: good night'))
      await page.getByRole('button', { name: 'Plan' }).click()
      const save = page.getByRole('button', { name: 'Save' })
      await expect.poll(() => save.isEnabled()).toBe(true)
      await page.getByRole('textbox', { name: 'Template' }).press('ControlOrMeta+End')
      await page.keyboard.type('#')
      expect(await save.isDisabled()).toBe(true)
    })

    test('what the server refuses is said in its words, at its line; the schema completes', async () => {
      await page.goto(at('/templates/default/edit'))
      await edit((text) => text.replace('kind: ConfigMap', 'kind: Namespace'))
      await page.getByRole('button', { name: 'Plan' }).click()
      await page
        .getByRole('alert')
        .getByText(/is invalid: spec\.templates\[0\]/)
        .waitFor()
      const marked = page.locator('.cm-lintRange-error').first()
      await marked.waitFor()
      // The last edit has left the view at the end of a long text, and the fault stands far above it.
      await edit((text) => `${text}${Array.from({ length: 200 }, (_, i) => `# ${i}\n`).join('')}`)
      await page.keyboard.press('ControlOrMeta+End')
      await marked.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Plan' }).click()
      await marked.waitFor()
      await edit(() => 'spec:\n  drift')
      await page.keyboard.press('ControlOrMeta+End')
      await page.keyboard.press('Control+Space')
      await page.getByRole('option', { name: 'driftPolicy' }).waitFor()
      expect(admin.faults).toEqual([])
    })

    test('drift that is only reported is shown by namespace', async () => {
      const { client } = world.plane
      await client.patch(configMaps, { namespace: 'team-a', name: 'second' }, { data: { text: 'changed' } })
      await page.goto(at('/templates/default'))
      const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'team-a' }) })
      await row.getByText('Drift', { exact: true }).waitFor()
      await row.getByText('ConfigMap/second').waitFor()
      await row.getByText(/^data\.text by \S+$/).waitFor()
      await page.getByText('2 done, 1 failed').waitFor()
      // And on the page of the namespace, from where it leads back.
      await row.getByRole('link', { name: 'team-a' }).click()
      const standing = page.getByRole('region', { name: 'Templates' }).getByRole('row')
      await standing
        .filter({ hasText: 'ConfigMap/second' })
        .getByText(/^data\.text by \S+$/)
        .waitFor()
      expect(await axeFaults(page)).toEqual([])
      await standing.getByRole('link', { name: 'default' }).click()
      expect(page.url()).toBe(at('/templates/default?q=team-a'))
      await client.patch(configMaps, { namespace: 'team-a', name: 'second' }, { data: { text: 'two' } })
      await row.waitFor({ state: 'detached' })
    })

    test('drift that was corrected is shown by namespace, with the field and its manager', async () => {
      const { client } = world.plane
      const spec = {
        namespaces: { nameSelector: { include: ['kept-*'] } },
        templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' }, data: { text: 'ours' } }],
      }
      await client.create(templates, { metadata: { name: 'kept' }, spec })
      await client.create(namespaces, { metadata: { name: 'kept-a' } })
      const options = { fieldManager: 'a-tenants-editor' }
      await client.patch(configMaps, { namespace: 'kept-a', name: 'kept' }, { data: { text: 'theirs' } }, options)
      await page.goto(at('/templates/kept?q=tenants-editor'))
      const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'kept-a' }) })
      await row.getByText('Corrected').waitFor()
      await row.getByText('data.text by a-tenants-editor').waitFor()
      await row.getByRole('link', { name: 'kept-a' }).click()
      const standing = page.getByRole('region', { name: 'Templates' })
      await standing.getByText('data.text by a-tenants-editor').waitFor()
      expect((await client.get(configMaps, { namespace: 'kept-a', name: 'kept' }))['data']).toEqual({ text: 'ours' })
      await client.delete(templates, { name: 'kept' })
      await standing.getByText('No template selects it.').waitFor()
    })

    test('all namespaces that differ are shown and searched, more than the status names', async () => {
      const { client } = world.plane
      const many = Array.from({ length: 14 }, (_, i) => `team-many-${String(i).padStart(2, '0')}`)
      for (const name of many) await client.create(namespaces, { metadata: { name } })
      for (const namespace of many) {
        await client.patch(configMaps, { namespace, name: 'second' }, { data: { text: 'changed' } })
      }
      await page.goto(at('/templates/default'))
      const grid = page.getByRole('grid', { name: 'What stands in its way' })
      await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('15')
      expect(await axeFaults(page)).toEqual([])
      await page.getByRole('searchbox').fill('many-13 drift')
      await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('2')
      await grid.getByRole('link', { name: 'team-many-13' }).waitFor()
      expect(page.url()).toBe(at('/templates/default?q=many-13+drift'))
      for (const name of many) await client.delete(namespaces, { name })
      await page.getByText('3 done').waitFor()
    })

    test('a halted prune says how many, is confirmed by a button, and taken back by a rollback', async () => {
      await page.goto(at('/templates/default/edit'))
      await edit((text) => text.slice(0, text.lastIndexOf('    - apiVersion: v1')))
      await page.getByRole('button', { name: 'Plan' }).click()
      await page.getByText(/It would stop before all of this.*it would delete objects in 3 of 3 namespaces/).waitFor()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('stopped').waitFor()
      await page
        .getByText(/would delete objects in 3 of 3 namespaces/)
        .first()
        .waitFor()
      await page.getByRole('button', { name: 'Delete these objects: confirm generation 3' }).click()
      await page.getByRole('button', { name: 'Yes, delete these objects: confirm generation 3' }).click()
      await page.getByText('Generation 3 has reached every selected namespace').waitFor()
      const second = { namespace: 'team-a', name: 'second' }
      await expect(world.plane.client.get(configMaps, second)).rejects.toThrow('not found')
      await page.getByRole('button', { name: 'Roll back to 2' }).click()
      await page.getByRole('button', { name: 'Yes, roll back to 2' }).click()
      await page.getByText('Generation 4 has reached every selected namespace').waitFor()
      expect((await world.plane.client.get(configMaps, second))['data']).toEqual({ text: 'two' })
    })

    test('one template is disabled, which says what becomes of namespaces, and all of them are paused', async () => {
      await page.goto(at('/templates/default'))
      await page.getByRole('button', { name: 'Disable this template' }).click()
      await page.getByText('new ones get nothing from it.').waitFor()
      await page.getByRole('button', { name: 'Yes, disable this template' }).click()
      await page.getByText('It is disabled.').waitFor()
      await page.getByText('new ones get nothing from it.').waitFor()
      // Of its figures none says anything by now.
      expect(await page.getByText('every selected namespace').count()).toBe(0)
      expect(await page.getByText('it selects no namespace').count()).toBe(0)
      await page.getByRole('button', { name: 'Enable this template' }).click()
      await page.getByRole('button', { name: 'Disable this template' }).waitFor()
      await page.goto(at('/templates'))
      await page.getByRole('button', { name: 'Pause all templates' }).click()
      await page.getByRole('button', { name: 'Yes, pause all templates' }).click()
      await page.getByText('All templates are paused.').waitFor()
      await page.getByText('stopped').waitFor()
      await page.getByRole('button', { name: 'Resume all' }).click()
      await page.getByRole('button', { name: 'Pause all templates' }).waitFor()
    })

    test('a user who may not see templates is told so in the words of the server', async () => {
      const other = await visit(browser, (await world.consoleFor('nobody')).address)
      await other.page.getByRole('link', { name: 'Templates' }).click()
      await other.page.getByText('User "nobody" cannot list resource "namespacetemplates"').waitFor()
      expect(await other.page.getByRole('button', { name: 'Pause all templates' }).count()).toBe(0)
      expect(await other.page.getByRole('link', { name: 'New template' }).count()).toBe(0)
      await other.context.close()
    })
  },
)
