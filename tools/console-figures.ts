#!/usr/bin/env node
/**
 * Measures the console in a browser: how long the first view takes at a quarter of the processor, and what scrolling
 * through 5,000 namespaces does to frames.
 *
 *   node tools/console-figures.ts [--rounds N]      default: 5
 */
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import {
  type ConsoleWorld,
  noBrowser,
  startBrowser,
  startConsoleWorld,
  type Visit,
  visit,
} from '../test/support/console-world.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const rows = 5000
const throttle = 4
const measuredFrames = 240

/** From the navigation to the first row, the files of the page in the browser's cache or not as it finds them. */
async function firstRowMs({ context }: Visit, address: string): Promise<number> {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await session.send('Emulation.setCPUThrottlingRate', { rate: throttle })
  const began = performance.now()
  await page.goto(address)
  await page.getByRole('row').nth(1).waitFor()
  const took = performance.now() - began
  await page.close()
  return took
}

/** Milliseconds between frames while the list is scrolled from its first row to its last, unthrottled. */
async function frames(page: Page): Promise<readonly number[]> {
  await page.mouse.move(600, 500)
  const measuring = page.evaluate<readonly number[]>(`new Promise((resolve) => {
    const spans = []
    let last = performance.now()
    const frame = (now) => {
      spans.push(now - last)
      last = now
      if (spans.length < ${measuredFrames}) requestAnimationFrame(frame)
      else resolve(spans)
    }
    requestAnimationFrame(frame)
  })`)
  for (let i = 0; i < 100; i++) await page.mouse.wheel(0, 1500)
  return measuring
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
const ascending = (all: readonly number[]): readonly number[] => all.toSorted((a, b) => a - b)

async function fill({ plane }: ConsoleWorld): Promise<void> {
  for (let from = 0; from < rows; from += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        plane.client.create(namespaces, { metadata: { name: `ns-${String(from + i).padStart(5, '0')}` } }),
      ),
    )
    process.stderr.write(`\r${from + 100} of ${rows} namespaces`)
  }
  process.stderr.write('\n')
}

async function measure(world: ConsoleWorld, browser: Browser): Promise<void> {
  const served = await world.consoleFor('admin', ['system:masters'])
  await using open = await visit(browser, served.address)
  const own = `${served.origin}/namespaces`
  const few: number[] = []
  for (let round = 0; round < Number(values.rounds); round++) few.push(await firstRowMs(open, own))
  await fill(world)
  const many: number[] = []
  for (let round = 0; round < Number(values.rounds); round++) many.push(await firstRowMs(open, own))
  await open.page.goto(own)
  await open.page.getByRole('row').nth(1).waitFor()
  const spans = ascending(await frames(open.page))
  const span = (all: readonly number[]): string =>
    ascending(all)
      .map((ms) => Math.round(ms))
      .join(', ')
  console.log(`first row at ${throttle}x throttle, ms, a few namespaces: ${span(few)}`)
  console.log(`first row at ${throttle}x throttle, ms, ${rows} namespaces: ${span(many)}`)
  console.log(
    `frames while ${rows} rows are scrolled, ms: p50 ${at(spans, 0.5).toFixed(1)}, p95 ${at(spans, 0.95).toFixed(1)}`,
  )
}

if (noBrowser !== undefined) {
  console.error(noBrowser)
  process.exit(1)
}
await using world = await startConsoleWorld()
await using closing = new AsyncDisposableStack()
const browser = await startBrowser()
closing.defer(() => browser.close())
await measure(world, browser)
