/** A control plane that serves, a console before it, and a browser: what the tests of the page share. */
import { existsSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { systemClock } from '../../src/base/clock.ts'
import { openRemote } from '../../src/client/remote.ts'
import { type Console, startConsole } from '../../src/console/console.ts'
import type { StartOptions, TestControlPlane } from '../../src/testing/index.ts'
import { startControlPlane } from '../../src/testing/index.ts'

/** Those of Debian; without the parts that show a window it takes four fifths of the processor. */
const debians = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/** Debian's, or the one that is named. */
export const chromiumPath: string =
  process.env['BOROUGH_CHROMIUM'] ?? debians.find((path) => existsSync(path)) ?? '/usr/bin/chromium'
export const noBrowser: string | undefined = existsSync(chromiumPath)
  ? undefined
  : `no Chromium at ${chromiumPath}: apt-get install chromium-headless-shell, or BOROUGH_CHROMIUM=path`

export interface ConsoleWorld extends AsyncDisposable {
  readonly plane: TestControlPlane
  /** A console as that user; `kubeconfig` changes the file before it is read. */
  consoleFor(user: string, groups?: readonly string[], change?: (kubeconfig: string) => string): Promise<Console>
}

export async function startConsoleWorld(options: StartOptions = {}): Promise<ConsoleWorld> {
  await using opening = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'console-'))
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  const plane = opening.use(await startControlPlane({ port: 0, listOwnNamespaces: true, ...options }))
  const running = opening.move()
  let files = 0
  return {
    plane,
    async consoleFor(user, groups = [], change = (text) => text) {
      const kubeconfigPath = join(folder, `${files++}.kubeconfig`)
      writeFileSync(kubeconfigPath, change(plane.kubeconfigFor(user, groups)), { mode: 0o600 })
      return running.use(await consoleOf(kubeconfigPath))
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

export async function consoleOf(kubeconfigPath: string, port = 0): Promise<Console> {
  const remote = openRemote({ kubeconfigPath, userAgent: 'borough/console' })
  return startConsole({ remote, clock: systemClock, listen: { host: '127.0.0.1', port } })
}

export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-gpu'] })

/** A browser of its own, as another user has. Any error in the page fails the test that looks at `faults`. */
export interface Visit extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** What the page said of itself that it should not: errors, and what its policy stopped. */
  readonly faults: readonly string[]
}

export async function visit(browser: Browser, address: string, options: VisitOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const faults: string[] = []
  const unanswered = new Set<string>()
  page.on('request', (request) => unanswered.add(request.url()))
  page.on('requestfinished', (request) => unanswered.delete(request.url()))
  page.on('requestfailed', (request) => unanswered.delete(request.url()))
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) faults.push(message.text())
  })
  await page.goto(address)
  // The secret is good once: it must have been exchanged before a test goes elsewhere.
  try {
    await page.getByRole('main').waitFor()
  } catch (cause) {
    const shown = await page.locator('body').innerText()
    const state = JSON.stringify({ shown, faults, unanswered: [...unanswered] })
    throw new Error(`${page.url()} does not show its main part, but: ${state}`, { cause })
  }
  return { page, context, faults, [Symbol.asyncDispose]: () => context.close() }
}

type VisitOptions = NonNullable<Parameters<Browser['newContext']>[0]>

/** What axe finds against WCAG 2.2 AA: rule, and the elements that break it. */
export async function axeFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<axe.AxeResults>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

/** Parts of the page that are wider than their place, so that something of them can't be seen. */
export const cutOff = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(
    `[document.documentElement, ...document.querySelectorAll('.scroll, .panel, .columns, .view-head, .tabs')]
      .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.tagName + '.' + e.className)`,
  )
