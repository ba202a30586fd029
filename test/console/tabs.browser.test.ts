/** A browser has six connections to one host, for all its tabs and windows: what is live must not take them. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConsoleWorld, noBrowser, startBrowser, startConsoleWorld, visit } from '../support/console-world.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }

/** As a browser does with a tab when another is brought before it, and back. Headless, all tabs are seen. */
const turn = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate(`{
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }`)

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

/** @throws Error with what the page shows instead */
async function showsRow(page: Page, name: string): Promise<void> {
  try {
    await row(page, name).waitFor({ timeout: 30_000 })
  } catch (cause) {
    const shown = await page.locator('body').innerText()
    throw new Error(`${page.url()} shows no row of ${name}, but: ${shown}`, { cause })
  }
}

/** Connections to a port of this process that are open. */
function countConnections(port: number): Disposable & { count(): number } {
  const open = new Set<Socket>()
  const note = (message: unknown): void => {
    const { socket } = message as { socket: Socket }
    if (socket.localPort !== port) return
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  }
  subscribe('net.server.socket', note)
  return { count: () => open.size, [Symbol.dispose]: () => unsubscribe('net.server.socket', note) }
}

describe.skipIf(noBrowser !== undefined)(`windows${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`, () => {
  let world: ConsoleWorld
  let browser: Browser
  beforeAll(async () => {
    ;[world, browser] = await Promise.all([startConsoleWorld(), startBrowser()])
  })
  afterAll(async () => {
    await browser?.close()
    await world?.[Symbol.asyncDispose]()
  })
  const make = (name: string) => world.plane.client.create(namespaces, { metadata: { name } })

  test('ten that are all seen: each is live over a connection of its own, and the tenth is answered', async () => {
    const served = await world.consoleFor('root', ['system:masters'])
    using connections = countConnections(Number(new URL(served.origin).port))
    const first = await visit(browser, served.address)
    const pages = [first.page]
    await row(first.page, 'kube-system').waitFor()
    while (pages.length < 10) {
      const page = await first.context.newPage()
      await page.goto(`${served.origin}/namespaces`)
      await showsRow(page, 'kube-system')
      pages.push(page)
    }
    await make('seen-by-all')
    for (const page of pages) await row(page, 'seen-by-all').waitFor()
    expect(connections.count()).toBeGreaterThanOrEqual(10)
    // What a page asks by itself, from the last of them: nothing stands before it.
    const [, last] = [pages[0], pages.at(-1) as Page]
    const tookMs = await last.evaluate<number>(`(async () => {
      const began = performance.now()
      const answer = await fetch('/api/v1/namespaces/default', {
        headers: { 'x-borough-console': localStorage.getItem('borough-console-key') },
      })
      if (!answer.ok) throw new Error('answered ' + answer.status)
      await answer.json()
      return performance.now() - began
    })()`)
    expect(tookMs).toBeLessThan(1000)
    await last.getByRole('link', { name: 'default', exact: true }).click()
    await last.getByRole('heading', { name: 'Ready' }).waitFor()
    // A window that is closed leaves nothing behind.
    const before = connections.count()
    for (const page of pages.slice(1, 6)) await page.close()
    await expect.poll(connections.count).toBeLessThanOrEqual(before - 5)
    await make('seen-by-the-rest')
    await row(first.page, 'seen-by-the-rest').waitFor()
    expect(first.faults).toEqual([])
    await first.context.close()
  })

  test('those that are hidden hold no connection, and go on when they are seen', async () => {
    const served = await world.consoleFor('root', ['system:masters'])
    using connections = countConnections(Number(new URL(served.origin).port))
    const first = await visit(browser, served.address)
    await row(first.page, 'kube-system').waitFor()
    let seen = first.page
    for (let i = 0; i < 8; i++) {
      await turn(seen, true)
      seen = await first.context.newPage()
      await seen.goto(`${served.origin}/namespaces`)
      await showsRow(seen, 'kube-system')
    }
    // The six for requests, which the browser keeps, and that of the one that is seen.
    await expect.poll(connections.count, { timeout: 15_000 }).toBeLessThanOrEqual(7)
    await make('made-meanwhile')
    await showsRow(seen, 'made-meanwhile')
    await turn(seen, true)
    await turn(first.page, false)
    await showsRow(first.page, 'made-meanwhile')
    expect(await first.page.getByText('Reconnecting.').count()).toBe(0)
    expect(first.faults).toEqual([])
    await first.context.close()
  })

  test('a page that is left for another, and come back to, is live again', async () => {
    const served = await world.consoleFor('root', ['system:masters'])
    const { page, context, faults } = await visit(browser, served.address)
    await row(page, 'kube-system').waitFor()
    await page.goto('about:blank')
    await make('made-while-away')
    await page.goBack()
    await row(page, 'made-while-away').waitFor()
    await make('made-when-back')
    await row(page, 'made-when-back').waitFor()
    expect(faults).toEqual([])
    await context.close()
  })
})
