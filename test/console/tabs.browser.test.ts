/** A browser has six connections to one host, for all its tabs: those that are not seen must not take them. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { noBrowser, startBrowser, startConsoleWorld, visit } from '../support/console-world.ts'

/** As a browser does with a tab when another is brought before it, and back. Headless, all tabs are seen. */
const turn = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate(`{
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }`)

test.skipIf(noBrowser !== undefined)(
  'more tabs than connections: each loads, and goes on when it is seen',
  async () => {
    await using world = await startConsoleWorld()
    const browser = await startBrowser()
    try {
      const served = await world.consoleFor('root', ['system:masters'])
      const first = await visit(browser, served.address)
      const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
      await row(first.page, 'kube-system').waitFor()
      let seen = first.page
      for (let i = 0; i < 8; i++) {
        await turn(seen, true)
        seen = await first.context.newPage()
        await seen.goto(`${served.origin}/namespaces`)
        await row(seen, 'kube-system').waitFor()
      }
      await world.plane.client.create(
        { group: '', version: 'v1', resource: 'namespaces' },
        { metadata: { name: 'made-meanwhile' } },
      )
      await row(seen, 'made-meanwhile').waitFor()
      await turn(seen, true)
      await turn(first.page, false)
      await row(first.page, 'made-meanwhile').waitFor()
      expect(await first.page.getByText('Reconnecting.').count()).toBe(0)
      expect(first.faults).toEqual([])
    } finally {
      await browser.close()
    }
  },
)
