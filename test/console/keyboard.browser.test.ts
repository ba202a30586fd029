/** Whole tasks with the keyboard alone: each stop of the focus is seen, and after each step it is where one goes on. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NamespaceTemplate } from '../../src/apis/templates/types.ts'
import {
  type ConsoleWorld,
  noBrowser,
  startBrowser,
  startConsoleWorld,
  type Visit,
  visit,
} from '../support/console-world.ts'

type Role = Parameters<Page['getByRole']>[0]

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { ...namespaces, resource: 'configmaps' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const mostStops = 60

describe.skipIf(noBrowser !== undefined)(
  `by keys alone${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    let world: ConsoleWorld
    let browser: Browser
    let admin: Visit
    let page: Page

    beforeAll(async () => {
      ;[world, browser] = await Promise.all([startConsoleWorld(), startBrowser()])
      const { client } = world.plane
      await client.create(templates, {
        metadata: { name: 'project' },
        spec: {
          namespaces: { labelSelector: { matchLabels: { kind: 'project' } } },
          parameters: [{ name: 'size', fromLabel: 'example.com/size', enum: ['small', 'large'], required: true }],
          templates: [
            {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: 'about' },
              data: { size: '$(size)', text: 'one' },
            },
          ],
        },
      })
      const served = await world.consoleFor('root', ['system:masters'])
      admin = await visit(browser, served.address)
      page = admin.page
    })
    afterAll(async () => {
      await browser?.close()
      await world?.[Symbol.asyncDispose]()
    })

    /** A ring around what has the focus; a view that was gone to has none, nor the lines of an editor. */
    const isFocusSeen = (): Promise<boolean> =>
      page.evaluate(`(() => {
        let at = document.activeElement
        if (at.id === 'main' || at.shadowRoot !== null || at === document.body) return true
        const { outlineStyle, outlineWidth } = getComputedStyle(at)
        const box = at.getBoundingClientRect()
        return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && box.bottom > 0 && box.top < innerHeight
      })()`)

    /** Tab after Tab until it is reached, as a person would. */
    const tabTo = async (role: Role, name: string | RegExp, key = 'Tab'): Promise<void> => {
      const wanted = page.getByRole(role, { name, exact: true }).and(page.locator(':focus'))
      for (let stops = 0; stops < mostStops; stops++) {
        await page.keyboard.press(key)
        expect(await isFocusSeen()).toBe(true)
        if ((await wanted.count()) > 0) return
      }
      throw new Error(`${role} ${String(name)} was not reached by ${mostStops} stops`)
    }
    const isFocused = (selector: string): Promise<void> => page.locator(selector).and(page.locator(':focus')).waitFor()

    test('a namespace is made from the form, and its birth is followed', async () => {
      await page.keyboard.press('Tab')
      await isFocused('.skip')
      await tabTo('link', 'Create namespace')
      await page.keyboard.press('Enter')
      await page.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor()
      await page.keyboard.type('shop')
      await tabTo('combobox', 'Template')
      await page.keyboard.type('project')
      await page.getByRole('combobox', { name: 'size (required)' }).waitFor()
      await tabTo('combobox', 'size (required)')
      await page.keyboard.type('large')
      await page.getByRole('region', { name: 'What will be in it' }).getByText('ConfigMap about').waitFor()
      await tabTo('button', 'Create')
      await page.keyboard.press('Enter')
      await page.getByText('It is ready, done').waitFor()
      await isFocused('#main')
      expect(await page.getByRole('region', { name: 'How it comes to be' }).getAttribute('aria-live')).toBe('polite')
      await tabTo('link', 'Open shop')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor()
      await isFocused('#main')
      await tabTo('link', 'Objects')
      await page.keyboard.press('Enter')
      await page.getByRole('region', { name: 'Template project' }).getByText('about', { exact: true }).waitFor()
      const made = await world.plane.client.get(configMaps, { namespace: 'shop', name: 'about' })
      expect(made['data']).toEqual({ size: 'large', text: 'one' })
    })

    test('why a namespace is stuck is found, and the button that helps is pressed', async () => {
      const { client } = world.plane
      await client.create(namespaces, { metadata: { name: 'stuck' } })
      const held = { namespace: 'stuck', name: 'held', finalizers: ['backup.example.com/done'] }
      await client.create(configMaps, { metadata: held })
      await client.delete(namespaces, { name: 'stuck' })
      await tabTo('link', 'Namespaces', 'Shift+Tab')
      await page.keyboard.press('Enter')
      await page.getByRole('row').filter({ hasText: 'stuck' }).getByText('Terminating').waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('phase:terminating')
      await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('2')
      await tabTo('grid', 'My namespaces')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'finalizer backup.example.com/done holds configmaps/held' }).waitFor()
      await tabTo('button', 'Remove finalizer backup.example.com/done')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Yes, remove finalizer backup.example.com/done' }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('status').getByText('stuck is gone,').waitFor()
      // The button is gone: what comes next is the view, not the top of the page.
      await isFocused('#main')
    })

    test('an edit of a template is planned, saved and followed; the template is paused and resumed', async () => {
      const stored = async () => (await world.plane.client.get(templates, { name: 'project' })) as NamespaceTemplate
      await tabTo('link', 'Templates', 'Shift+Tab')
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'project' }).waitFor()
      await tabTo('link', 'project')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Rollout of generation 1' }).waitFor()
      await tabTo('link', 'Edit and plan')
      await page.keyboard.press('Enter')
      await page.getByRole('textbox', { name: 'Template' }).waitFor()
      await tabTo('textbox', 'Template')
      await page.keyboard.press('ControlOrMeta+End')
      // The last line is empty; the one before says `text: one`.
      await page.keyboard.press('ArrowUp')
      await page.keyboard.press('End')
      await page.keyboard.type('-more')
      await tabTo('button', 'Plan')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'It selects 1 namespace, and 1 namespace would change' }).waitFor()
      await page.getByRole('button', { name: 'Plan' }).and(page.locator(':focus')).waitFor()
      await tabTo('button', 'Save')
      await page.keyboard.press('Enter')
      await page.getByText('Generation 2 has reached every selected namespace').waitFor()
      await isFocused('#main')
      await tabTo('button', 'Disable this template')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Enter')
      const enable = page.getByRole('button', { name: 'Enable this template' })
      await enable.and(page.locator(':focus')).waitFor()
      await page.getByText('disabled', { exact: true }).waitFor()
      expect((await stored()).metadata.annotations).toMatchObject({ 'policy/namespace-template-apply': 'disable' })
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Disable this template' }).and(page.locator(':focus')).waitFor()
      expect(Object.keys((await stored()).metadata.annotations ?? {})).not.toContain('policy/namespace-template-apply')
      expect(admin.faults).toEqual([])
    })
  },
)
