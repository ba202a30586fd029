/** Addresses of namespaces: of the birth of one, and of namespaces that are named as pages and paths are. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  axeFaults,
  type ConsoleWorld,
  cutOff,
  noBrowser,
  startBrowser,
  startConsoleWorld,
  type Visit,
  visit,
} from '../support/console-world.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const initializers = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
}

/** As areas, views, paths of the API and what every object of the language has. */
const names = [
  ...['new', 'map', 'templates', 'namespaces', 'birth', 'objects', 'delete', 'proxy', 'exec', 'assets', 'live'],
  ...['session', 'api', 'apis', 'constructor', 'tostring', '0', 'x'.repeat(63)],
]

describe.skipIf(noBrowser !== undefined)(
  `addresses${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    const opened = new AsyncDisposableStack()
    let world: ConsoleWorld
    let browser: Browser
    let admin: Visit
    let page: Page
    let at: (path: string) => string

    beforeAll(async () => {
      browser = await startBrowser()
      opened.defer(() => browser.close())
      world = opened.use(await startConsoleWorld())
      for (const [name, timeoutSeconds] of Object.entries({ slow: 1800, brief: 2 })) {
        const namespaceSelector = { matchLabels: { wait: name } }
        await world.plane.client.create(initializers, {
          metadata: { name },
          initializers: [{ name: `${name}.example.com`, namespaceSelector, timeoutSeconds }],
        })
      }
      const served = await world.consoleFor('root', ['system:masters'])
      admin = await visit(browser, served.address)
      page = admin.page
      at = (path) => `${served.origin}${path}`
    })
    afterAll(() => opened.disposeAsync())

    const fillForm = async (name: string, label: string): Promise<void> => {
      await page.goto(at('/new/namespace'))
      await page.getByRole('textbox', { name: 'Name' }).fill(name)
      await page.getByText('Labels and annotations').click()
      await page.getByRole('textbox', { name: 'Labels' }).fill(label)
      await page.getByRole('button', { name: 'Create', exact: true }).click()
    }

    test('the preview of a create names whom it would wait for, and for how long', async () => {
      await page.goto(at('/new/namespace'))
      await page.getByRole('textbox', { name: 'Name' }).fill('previewed')
      await page.getByText('Labels and annotations').click()
      await page.getByRole('textbox', { name: 'Labels' }).fill('wait=slow')
      const preview = page.getByRole('region', { name: 'What will be in it' })
      await preview.getByText('slow.example.com').waitFor()
      await preview.getByText('at most 1800 s, then it is deleted').waitFor()
      expect(await axeFaults(page)).toEqual([])
    })

    test('a birth is at an address that is reloaded, and opened by another person', async () => {
      await fillForm('newborn', 'wait=slow')
      await page.waitForURL(at('/namespaces/newborn/birth'))
      const awaited = 'It waits for slow.example.com'
      await page.getByText(awaited).waitFor()
      expect(await axeFaults(page)).toEqual([])
      await page.reload()
      await page.getByText(awaited).waitFor()
      await page.getByRole('listitem').filter({ hasText: 'kube-root-ca.crt' }).waitFor()
      expect(await page.title()).toBe('newborn comes to be · Borough')

      const other = await world.consoleFor('other', ['system:masters'])
      await using theirs = await visit(browser, other.address)
      await theirs.page.goto(`${other.origin}/namespaces/newborn/birth`)
      await theirs.page.getByText(awaited).waitFor()
      const stranger = await world.consoleFor('stranger')
      await using strangers = await visit(browser, stranger.address)
      await strangers.page.goto(`${stranger.origin}/namespaces/newborn/birth`)
      await strangers.page.getByRole('alert').getByText('namespaces "newborn" not found').waitFor()
      expect(await axeFaults(strangers.page)).toEqual([])

      await world.plane.client.patch(namespaces, { name: 'newborn' }, { spec: { initializers: { pending: [] } } })
      for (const who of [page, theirs.page]) await who.getByText('It is ready, done').waitFor()
      await page.setViewportSize({ width: 360, height: 740 })
      expect(await cutOff(page)).toEqual([])
      await page.setViewportSize({ width: 1280, height: 800 })
      expect([...admin.faults, ...theirs.faults]).toEqual([])
    })

    test('a birth that fails leads back to the form, with what was typed and the server’s words', async () => {
      await fillForm('stillborn', 'wait=brief')
      await page.waitForURL(at('/namespaces/stillborn/birth'))
      await page.waitForURL(at('/new/namespace'))
      await page.getByRole('alert').getByText('brief.example.com').waitFor()
      expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('stillborn')
      expect(await page.getByRole('textbox', { name: 'Labels' }).inputValue()).toBe('wait=brief')
      // Of a name that no namespace can have there is no such address.
      await page.getByRole('textbox', { name: 'Name' }).fill('Not_A_Name')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByRole('alert').getByText('Namespace "Not_A_Name" is invalid').waitFor()
      expect(page.url()).toBe(at('/new/namespace'))
      expect(await page.getByRole('textbox', { name: 'Labels' }).inputValue()).toBe('wait=brief')
    })

    test.each(names)('a namespace named %s has pages of its own', async (name) => {
      await world.plane.client.create(namespaces, { metadata: { name } })
      await page.goto(at('/namespaces'))
      await page.getByRole('searchbox').fill(name)
      await page.getByRole('grid').getByRole('link', { name, exact: true }).click()
      await page.waitForURL(at(`/namespaces/${name}`))
      await page.getByText('Nothing holds it up').waitFor()
      for (const [title, shows] of Object.entries({ Objects: 'kube-root-ca.crt', Delete: 'Everything else' })) {
        await page.getByRole('link', { name: title, exact: true }).click()
        await page.reload()
        await page.getByText(shows, { exact: true }).or(page.getByText(shows)).first().waitFor()
        expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(name)
      }
      await page.goto(at(`/namespaces/${name}/birth`))
      await page.getByText('It is ready, done').waitFor()
      expect(await page.getByRole('navigation', { name: 'Areas' }).locator('[aria-current]').textContent()).toBe(
        'Namespaces',
      )
      expect(admin.faults).toEqual([])
    })
  },
)
