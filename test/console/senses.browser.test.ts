/** For eyes, ears and hands of every kind: zoom, forced colours, no motion, landmarks, exact times by keys. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  axeFaults,
  type ConsoleWorld,
  cutOff,
  noBrowser,
  startBrowser,
  startConsoleWorld,
  visit,
} from '../support/console-world.ts'

const core = { group: '', version: 'v1' }
const namespaces = { ...core, resource: 'namespaces' }
const greeting = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'greeting' }, data: { text: 'hello' } }
const iso = /\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\)/

const tabs = ['', '/objects', '/access', '/events', '/delete']
/** With what is on each when it is there. */
const views: readonly { readonly path: string; readonly shows: string }[] = [
  { path: '/namespaces', shows: 'shop' },
  ...tabs.map((tab) => ({ path: `/namespaces/shop${tab}`, shows: 'shop' })),
  { path: '/namespaces/slow/birth', shows: 'It waits for' },
  { path: '/templates', shows: 'tidy' },
  { path: '/templates/tidy', shows: 'has reached every selected namespace' },
  { path: '/templates/tidy/edit', shows: 'It is saved after it was planned' },
  { path: '/map', shows: 'shop' },
]

describe.skipIf(noBrowser !== undefined)(
  `every sense${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    const opened = new AsyncDisposableStack()
    let world: ConsoleWorld
    let browser: Browser

    beforeAll(async () => {
      browser = await startBrowser()
      opened.defer(() => browser.close())
      world = opened.use(await startConsoleWorld())
      const { client } = world.plane
      const annotations = { 'borough.dev/expires-at': '2091-05-01T12:00:00Z' }
      await client.create(namespaces, { metadata: { name: 'shop', annotations } })
      const hard = { configmaps: '4', secrets: '0', 'requests.memory': '64Gi' }
      await client.create(
        { ...core, resource: 'resourcequotas' },
        { metadata: { namespace: 'shop', name: 'q' }, spec: { hard } },
      )
      await client.create(
        { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' },
        {
          metadata: { name: 'tidy' },
          spec: { namespaces: { nameSelector: { include: ['shop'] } }, templates: [greeting] },
        },
      )
      // With a generation to go back to.
      await client.patch(
        { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' },
        { name: 'tidy' },
        { spec: { objects: [{ template: { ...greeting, metadata: { name: 'second' } } }] } },
      )
      const container = { cpu: '500m', memory: '512Mi' }
      const limits = [
        { type: 'Container', default: container, defaultRequest: container, min: container, max: container },
      ]
      await client.create(
        { ...core, resource: 'limitranges' },
        { metadata: { namespace: 'shop', name: 'l' }, spec: { limits } },
      )
      for (const name of ['e1', 'e2']) {
        await client.create(
          { ...core, resource: 'events' },
          {
            metadata: { namespace: 'shop', name },
            involvedObject: { namespace: 'shop', kind: 'ConfigMap', name: 'c' },
            reason: 'Said',
            message: name,
            lastTimestamp: '2026-11-22T10:00:00Z',
          },
        )
      }
      await client.create(
        { group: 'admissionregistration.k8s.io', version: 'v1alpha1', resource: 'namespaceinitializerconfigurations' },
        {
          metadata: { name: 'slow' },
          initializers: [
            { name: 'slow.example.com', namespaceSelector: { matchLabels: { slow: 'yes' } }, timeoutSeconds: 1800 },
          ],
        },
      )
      const slow = { metadata: { name: 'slow', labels: { slow: 'yes' } } }
      await client.create(namespaces, slow, { includeUninitialized: true })
    })
    afterAll(() => opened.disposeAsync())

    const open = async (options: Parameters<typeof visit>[2] = {}) => {
      const served = await world.consoleFor('root', ['system:masters'])
      return { ...(await visit(browser, served.address, options)), at: (path: string) => `${served.origin}${path}` }
    }

    test.each([
      { name: 'at 200 % zoom', options: { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 } },
      { name: '320 wide, as 1280 at 400 %', options: { viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 } },
      { name: 'in forced colours', options: { forcedColors: 'active', colorScheme: 'dark' } },
    ] as const)('$name every view is whole', { timeout: 600_000 }, async ({ options }) => {
      const { page, context, at, faults } = await open(options)
      for (const { path, shows } of views) {
        await page.goto(at(path))
        await page.getByText(shows).first().waitFor()
        const found = [...(await axeFaults(page)), ...(await cutOff(page))]
        expect({ path, found }).toEqual({ path, found: [] })
      }
      expect(faults).toEqual([])
      await context.close()
    })

    test('320 wide, what a table tells is named, and no resource of a quota is cut off', async () => {
      const { page, context, at } = await open({ viewport: { width: 320, height: 700 } })
      await page.goto(at('/namespaces/shop'))
      await page.getByRole('meter', { name: 'requests.memory' }).waitFor()
      const cut = `[...document.querySelectorAll('.usage-name')].filter((e) => e.scrollWidth > e.clientWidth).length`
      expect(await page.evaluate<number>(cut)).toBe(0)
      const title = `getComputedStyle(document.querySelector('.stacked td'), '::before').content`
      await page.locator('.stacked td').first().waitFor()
      expect(await page.evaluate<string>(title)).toContain('Request by default')
      await page.goto(at('/templates/tidy'))
      // Those of `objects` are counted with those of `templates`.
      await expect.poll(() => page.locator('.stacked td[data-title="Objects"]').allTextContents()).toEqual(['2', '1'])
      await context.close()
    })

    test('in forced colours a meter, the row that is meant and where one is are still to be seen', async () => {
      const { page, context, at } = await open({ forcedColors: 'active' })
      await page.getByRole('grid').focus()
      const look = (selector: string, property: string) =>
        page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}'))['${property}']`)
      await expect.poll(() => look('[aria-selected="true"]', 'outlineStyle')).toBe('solid')
      await page.goto(at('/namespaces/shop'))
      await page.getByRole('meter', { name: 'configmaps' }).waitFor()
      expect(await look('.bar > span', 'backgroundColor')).not.toBe(await look('.panel', 'backgroundColor'))
      const [here, there] = ['[aria-current]', ':not([aria-current])'].map((is) => `.tabs a${is}`)
      expect(await look(here ?? '', 'borderBottomColor')).not.toBe(await look(there ?? '', 'borderBottomColor'))
      await context.close()
    })

    test('what turns while it waits stands still where less motion is asked for', async () => {
      const { page, context, at } = await open()
      await page.goto(at('/namespaces/slow/birth'))
      await page.getByText('Initializing').first().waitFor()
      const moving = () => page.evaluate<number>('document.getAnimations().length')
      await expect.poll(moving).toBeGreaterThan(0)
      await page.emulateMedia({ reducedMotion: 'reduce' })
      await expect.poll(moving).toBe(0)
      await context.close()
    })

    test('landmarks and live regions are there from the start, each with its name', async () => {
      const { page, context, at } = await open()
      await page.goto(at('/namespaces/shop'))
      await page.getByRole('meter').first().waitFor()
      for (const role of ['banner', 'main'] as const) expect(await page.getByRole(role).count()).toBe(1)
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('shop')
      for (const name of ['Areas', 'Back', 'Views of shop']) {
        expect(await page.getByRole('navigation', { name, exact: true }).count()).toBe(1)
      }
      for (const name of ['Ready', 'Usage', 'Settings', 'Latest events']) {
        expect(await page.getByRole('region', { name, exact: true }).count()).toBe(1)
      }
      // What speaks must be there before it says something.
      expect(await page.getByRole('status').count()).toBe(1)
      expect(await page.getByRole('region', { name: 'Ready' }).getAttribute('aria-live')).toBe('polite')
      await context.close()
    })

    test('the exact time is there on hover and on focus: in the list, the head, the events and the tree', async () => {
      const { page, context, at } = await open()
      await page.getByRole('link', { name: 'shop' }).waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('shop')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      await page.getByRole('grid').and(page.locator(':focus')).waitFor()
      await page.getByText(/shop created .*Z\), expires .*\(2091-05-01T12:00:00Z\)/).waitFor()

      await page.goto(at('/namespaces/shop/events'))
      const event = page.getByRole('row').filter({ hasText: 'e1' }).locator('time')
      await event.waitFor()
      expect(await event.getAttribute('title')).toMatch(iso)
      await page.getByRole('link', { name: 'Delete', exact: true }).focus()
      const told = () =>
        page.evaluate<string>(
          `document.activeElement.tagName + getComputedStyle(document.activeElement, '::after').content`,
        )
      const before = await told()
      expect(before).not.toMatch(iso)
      // What scrolls is a stop of its own.
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      await expect.poll(told).toMatch(/^TIME.*\(2026-11-22T10:00:00Z\)/)
      // One stop of the tab key for the table: arrows go on.
      await page.keyboard.press('ArrowDown')
      await expect.poll(told).toMatch(/^TIME.*\(2026-11-22T10:00:00Z\)/)
      expect(await page.evaluate('document.activeElement.closest("tr").rowIndex')).toBe(2)
      await page.keyboard.press('Tab')
      await expect.poll(told).not.toMatch(/^TIME/)

      await page.goto(at('/namespaces/shop/objects'))
      await page.getByText('kube-root-ca.crt', { exact: true }).click()
      await page
        .getByText(/^Created .*Z\)$/)
        .filter({ visible: true })
        .first()
        .waitFor()
      expect(await axeFaults(page)).toEqual([])
      await context.close()
    })
  },
)
