/** Users who may see little or nothing: the server's words, and what to do next, whether own namespaces are listed. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  axeFaults,
  type ConsoleWorld,
  noBrowser,
  startBrowser,
  startConsoleWorld,
  visit,
} from '../support/console-world.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const apiGroup = rbac.group
const list = 'User "nina" cannot list resource "namespaces"'

describe.each([false, true])('with own namespaces: %s', (listOwnNamespaces) => {
  describe.skipIf(noBrowser !== undefined)(noBrowser === undefined ? 'in a browser' : `(skipped: ${noBrowser})`, () => {
    const opened = new AsyncDisposableStack()
    let world: ConsoleWorld
    let browser: Browser

    beforeAll(async () => {
      browser = await startBrowser()
      opened.defer(() => browser.close())
      world = opened.use(await startConsoleWorld({ listOwnNamespaces }))
      const { client } = world.plane
      for (const name of ['given', 'other']) await client.create(namespaces, { metadata: { name } })
      await client.create(
        { ...rbac, resource: 'rolebindings' },
        {
          metadata: { namespace: 'given', name: 'one' },
          roleRef: { apiGroup, kind: 'ClusterRole', name: 'view' },
          subjects: [{ apiGroup, kind: 'User', name: 'one' }],
        },
      )
    })
    afterAll(() => opened.disposeAsync())

    const open = async (user: string) => {
      const served = await world.consoleFor(user)
      return { ...(await visit(browser, served.address)), at: (path: string) => `${served.origin}${path}` }
    }

    test('a user without any right is told why, and what to do next', async () => {
      const { page, context, faults, at } = await open('nina')
      const title = listOwnNamespaces ? 'You have no namespace yet' : 'No namespace is known yet'
      await page.getByRole('heading', { name: title }).waitFor()
      await page.getByText('You may not create namespaces here.').waitFor()
      if (!listOwnNamespaces) {
        await page.getByText('The server does not list namespaces to you.').click()
        await page.getByText(list).waitFor()
      }
      expect(await axeFaults(page)).toEqual([])
      for (const view of ['', '/objects', '/access', '/events', '/delete']) {
        await page.goto(at(`/namespaces/other${view}`))
        const refused = listOwnNamespaces
          ? 'namespaces "other" not found'
          : 'User "nina" cannot get resource "namespaces"'
        await page.getByRole('alert').getByText(refused).waitFor()
        await page.getByRole('heading', { name: 'What to do next' }).waitFor()
        await page.getByText('kubectl create rolebinding other-view --clusterrole=view --user=nina -n other').waitFor()
        // Once, not from every part of the view.
        expect(await page.getByRole('alert').count()).toBe(1)
      }
      expect(await axeFaults(page)).toEqual([])
      expect(faults).toEqual([])
      await context.close()
    })

    test('a user who may see one only sees it, and is kept from no part of it', async () => {
      const { page, context, faults, at } = await open('one')
      if (!listOwnNamespaces) {
        await page.getByRole('heading', { name: 'No namespace is known yet' }).waitFor()
        await page.getByRole('textbox', { name: 'Name of a namespace' }).last().fill('given')
        await page.getByRole('button', { name: 'Add' }).last().click()
      }
      const link = page.getByRole('grid').getByRole('link', { name: 'given', exact: true })
      await link.waitFor()
      expect(await page.getByRole('grid').getByRole('link').count()).toBe(1)
      await link.click()
      await page.getByRole('link', { name: 'Objects' }).click()
      await page.getByText('kube-root-ca.crt', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Delete', exact: true }).click()
      await page.getByText('You may not delete this namespace.').waitFor()
      await page.goto(at('/namespaces/other'))
      await page.getByRole('heading', { name: 'What to do next' }).waitFor()
      expect(faults).toEqual([])
      await context.close()
    })
  })
})
