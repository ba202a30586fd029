/** A view that is opened while the server is down, and a view that fails: neither leaves an empty page. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRemote } from '../../src/client/remote.ts'
import { adminKubeconfigPath } from '../../src/datadir/data-dir.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import { axeFaults, consoleOf, noBrowser, startBrowser, startConsoleWorld, visit } from '../support/console-world.ts'

const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const greeting = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'greeting' }, data: { text: 'hello' } }
const spec = { namespaces: { nameSelector: { include: ['none-*'] } }, templates: [greeting] }

describe.skipIf(noBrowser !== undefined)(
  `what can't be shown${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await startBrowser()
    })
    afterAll(() => browser?.close())

    test('while the server is down a view shows what was there, or that it is down, and fills later', async () => {
      await using server = await BoroughProcess.start()
      const kubeconfigPath = adminKubeconfigPath(server.dataDir)
      const { client } = openRemote({ kubeconfigPath, userAgent: 'test' })
      await client.create(templates, { metadata: { name: 'default' }, spec })
      await using served = await consoleOf(kubeconfigPath)
      const { page, context } = await visit(browser, served.address)
      await page.getByRole('row').filter({ hasText: 'kube-system' }).waitFor()
      await page.getByRole('link', { name: 'Templates' }).click()
      await page.getByRole('link', { name: 'default' }).waitFor()
      await server.end('SIGKILL')
      await page.getByText('Reconnecting.').waitFor()
      // Of lists that were seen.
      await page.getByRole('link', { name: 'default' }).click()
      await page.getByRole('heading', { name: 'Rollout of generation 1' }).waitFor()
      await page.getByRole('link', { name: 'Which namespaces' }).click()
      await page.getByRole('link', { name: 'Namespaces', exact: true }).click()
      await page.getByRole('row').filter({ hasText: 'kube-system' }).waitFor()
      // What was never asked for can't be known.
      await page.getByRole('link', { name: 'Templates', exact: true }).click()
      await page.getByRole('link', { name: 'default' }).click()
      await page.getByRole('link', { name: 'Edit and plan' }).click()
      await page.getByText('The server can’t be reached.').waitFor()
      await page.getByText('this page fills when it answers').waitFor()
      expect(await axeFaults(page)).toEqual([])
      await server.start()
      await page.getByText('text: hello').waitFor()
      await page.getByText('Reconnecting.').waitFor({ state: 'detached' })
      await context.close()
    })

    test('a page that is opened while the server is down says so at once', async () => {
      await using server = await BoroughProcess.start()
      await using served = await consoleOf(adminKubeconfigPath(server.dataDir))
      const { page, context } = await visit(browser, served.address)
      await page.getByRole('row').filter({ hasText: 'kube-system' }).waitFor()
      await server.end('SIGKILL')
      for (const path of ['/templates', '/templates/default', '/map', '/namespaces', '/namespaces/default']) {
        await page.goto(`${served.origin}${path}`)
        await page.getByText('The server can’t be reached.').waitFor()
      }
      await server.start()
      await page.getByRole('heading', { name: 'default' }).waitFor()
      await page.getByText('The server can’t be reached.').waitFor({ state: 'detached' })
      await context.close()
    })

    test('an error in one view is shown with a way back, and the rest goes on', async () => {
      await using world = await startConsoleWorld()
      await world.plane.client.create(templates, { metadata: { name: 'default' }, spec })
      const served = await world.consoleFor('root', ['system:masters'])
      const { page, context, faults } = await visit(browser, served.address)
      // A fault of the page itself, in what this view alone shows.
      await page.evaluate(`{
        const { toLocaleString } = Number.prototype
        Number.prototype.toLocaleString = function (...given) {
          if (location.pathname === '/templates' && !window.isMended) throw new TypeError('broken on purpose')
          return toLocaleString.apply(this, given)
        }
      }`)
      await page.getByRole('link', { name: 'Templates' }).click()
      const alert = page.getByRole('alert')
      await alert.getByText(/TypeError: broken on purpose/).waitFor()
      expect(faults.join()).toContain('broken on purpose')
      expect(await axeFaults(page)).toEqual([])
      await page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name: 'Namespaces' }).click()
      await page.getByRole('row').filter({ hasText: 'kube-system' }).waitFor()
      expect(await alert.count()).toBe(0)
      await page.goBack()
      await alert.getByText(/broken on purpose/).waitFor()
      await page.evaluate('window.isMended = true')
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('link', { name: 'default' }).waitFor()
      expect(await alert.count()).toBe(0)
      await context.close()
    })

    test('fields of other types than a view reads are left out, and the view goes on', async () => {
      await using world = await startConsoleWorld()
      const served = await world.consoleFor('root', ['system:masters'])
      const { page, context, faults } = await visit(browser, served.address)
      const odd = [7, null, 'odd', [], { a: null }, [null, 7]]
      const metadata = (i: number) => ({ name: `odd-${i}`, resourceVersion: '1', labels: odd[i], annotations: odd[i] })
      const items = odd.map((value, i) => ({
        metadata: metadata(i),
        spec: i % 2 === 0 ? { initializers: value, namespaces: value, templates: value, rollout: value } : value,
        status: i % 2 === 0 ? { conditions: value, failures: value, phase: value, matched: value } : value,
        rules: value,
        roleRef: value,
        subjects: value,
        involvedObject: value,
        message: value,
      }))
      await page.route(/\/(namespaces|namespacetemplates|events|resourcequotas|limitranges|\w*rol\w*)\?/, (route) =>
        route.request().method() === 'GET'
          ? route.fulfill({ json: { metadata: { resourceVersion: '1' }, items } })
          : route.continue(),
      )
      const shown = { '/namespaces': 'odd-0', '/templates': 'odd-0', '/map': 'odd-0' }
      for (const [path, text] of Object.entries(shown)) {
        await page.goto(`${served.origin}${path}`)
        await page.getByRole('link', { name: text, exact: true }).waitFor()
      }
      for (const path of ['', '/objects', '/access', '/events', '/delete'].map((tab) => `/namespaces/odd-0${tab}`)) {
        await page.goto(`${served.origin}${path}`)
        await page.getByRole('heading', { name: 'odd-0' }).waitFor()
        await page.getByText('Asking').first().waitFor({ state: 'detached' })
      }
      await page.goto(`${served.origin}/templates/odd-0`)
      await page.getByRole('heading', { name: 'Rollout of generation' }).waitFor()
      await page.goto(`${served.origin}/new/namespace`)
      await page.getByRole('textbox', { name: 'Name' }).fill('even')
      await page.getByText('No template gives it anything').waitFor()
      expect(faults).toEqual([])
      await context.close()
    })

    test('a kind that the server can’t list is said in its words, hides no other, and comes later', async () => {
      await using world = await startConsoleWorld()
      const served = await world.consoleFor('root', ['system:masters'])
      const { page, context } = await visit(browser, served.address)
      const broken = { kind: 'Status', status: 'Failure', code: 500, message: 'the store is on fire' }
      const pattern = /\/(configmaps|namespaces)\?/
      await page.route(pattern, (route) => route.fulfill({ status: 500, json: broken }))
      await page.goto(`${served.origin}/namespaces`)
      await page.getByText('The server does not list it.').waitFor()
      expect(await page.getByText('the store is on fire').count()).toBe(2)
      expect(await axeFaults(page)).toEqual([])
      await page.unroute(pattern)
      await page.getByRole('row').filter({ hasText: 'kube-system' }).waitFor()
      await page.getByText('Asking again.').waitFor({ state: 'detached' })

      await page.route('**/configmaps?*', (route) => route.fulfill({ status: 500, json: broken }))
      await page.goto(`${served.origin}/namespaces/default/delete`)
      await page.getByText('What it holds of ConfigMap is not shown to you').waitFor()
      await page.getByRole('listitem').filter({ hasText: 'Everything else' }).waitFor()
      await page.getByText('Asking again.').waitFor()
      await page.unroute('**/configmaps?*')
      await page.getByText('Asking again.').waitFor({ state: 'detached' })
      await page.getByText('What it holds of ConfigMap is not shown to you').waitFor({ state: 'detached' })
      await context.close()
    })

    test('who may not see templates is told what can be done without them, in the list and in the map', async () => {
      await using world = await startConsoleWorld()
      const { page, context } = await visit(browser, (await world.consoleFor('nobody')).address)
      for (const path of ['/templates', '/map']) {
        await page.goto(new URL(path, page.url()).href)
        await page.getByText('User "nobody" cannot list resource "namespacetemplates"').waitFor()
        await page.getByRole('heading', { name: 'What you can do without them' }).waitFor()
        await page.getByText('kubectl create clusterrole template-reader').waitFor()
        expect(await page.getByRole('link', { name: 'New template' }).count()).toBe(0)
        expect(await axeFaults(page)).toEqual([])
      }
      await page.getByRole('main').getByRole('link', { name: 'Create namespace' }).click()
      await page.getByRole('heading', { name: 'Create a namespace' }).waitFor()
      await context.close()
    })
  },
)
