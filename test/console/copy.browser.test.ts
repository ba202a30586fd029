/** The button that copies a command says what became of it, to the eye and to the ear. */
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

describe.skipIf(noBrowser !== undefined)(`copying${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`, () => {
  let world: ConsoleWorld
  let browser: Browser
  beforeAll(async () => {
    ;[world, browser] = await Promise.all([startConsoleWorld(), startBrowser()])
  })
  afterAll(async () => {
    await browser?.close()
    await world?.[Symbol.asyncDispose]()
  })

  test.each([
    { name: 'works', says: 'Copied', writes: 'Promise.resolve()' },
    { name: 'is forbidden', says: 'Not allowed', writes: "Promise.reject(new Error('denied'))" },
  ])('where it $name the button says "$says"', async ({ says, writes }) => {
    const served = await world.consoleFor('root', ['system:masters'])
    const { page, context, faults } = await visit(browser, served.address)
    await page.getByRole('row').filter({ hasText: 'kube-system' }).waitFor()
    await page.evaluate(`navigator.clipboard.writeText = () => ${writes}`)
    await page.getByRole('button', { name: 'Copy as kubectl' }).click()
    await page.getByRole('button', { name: `${says} as kubectl` }).waitFor()
    expect(faults).toEqual([])
    await context.close()
  })

  test('that breaks no rule of axe', async () => {
    const served = await world.consoleFor('root', ['system:masters'])
    const { page, context } = await visit(browser, served.address)
    await page.getByRole('row').filter({ hasText: 'kube-system' }).waitFor()
    await page.evaluate(`navigator.clipboard.writeText = () => Promise.resolve()`)
    // Two seconds are little for axe.
    await page.evaluate(`{
        const set = window.setTimeout.bind(window)
        window.setTimeout = (run, ms) => (ms === 2000 ? 0 : set(run, ms))
      }`)
    await page.getByRole('button', { name: 'Copy as kubectl' }).click()
    await page.getByRole('button', { name: 'Copied as kubectl' }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await context.close()
  })
})
