/** Whatever a tenant writes: it runs nowhere, hides nothing, turns nothing around, and breaks no layout. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
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
const rbac = 'rbac.authorization.k8s.io'
const roles = { group: rbac, version: 'v1', resource: 'roles' }

const long = 'w'.repeat(64 * 1024)
const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
/** Seen as `dev<1>`, with a turn, an invisible space, an end of text and a letter of another direction. */
const turned = 'dev\u202e<1>\u200b\u0007\u2066אב'
const told = 'dev\\u202e<1>\\u200b\\u0007\\u2066אב'
const texts = [markup, turned, long]
/** An owner is one line of at most 1,024 characters that are seen. */
const owner = `${markup}אב`

async function furnish(client: Client): Promise<void> {
  await client.create(namespaces, { metadata: { name: 'prey', annotations: { 'borough.dev/owner': owner } } })
  await client.create(namespaces, {
    metadata: { name: 'vast', annotations: { 'borough.dev/owner': 'w'.repeat(1024) } },
  })
  for (const [i, text] of texts.entries()) {
    const name = text === long ? `${'w'.repeat(900)}` : text.replaceAll(/[/%]/g, '')
    const metadata = { namespace: 'prey', name }
    await client.create(roles, {
      metadata: { ...metadata, finalizers: [`${'f'.repeat(60)}.example.com/${'x'.repeat(60)}`] },
      rules: [{ verbs: ['get'], apiGroups: [text], resources: [text], resourceNames: [text] }],
    })
    await client.create(
      { ...roles, resource: 'rolebindings' },
      {
        metadata,
        roleRef: { apiGroup: rbac, kind: 'Role', name },
        subjects: ['User', 'Group'].map((kind) => ({ apiGroup: rbac, kind, name: text })),
      },
    )
    await client.create(
      { ...core, resource: 'events' },
      {
        metadata: { namespace: 'prey', name: `event-${i}` },
        involvedObject: { namespace: 'prey', kind: text, name: text },
        reason: text,
        message: text,
        lastTimestamp: '2026-11-22T10:00:00Z',
      },
    )
  }
  const labels = { 'policy/namespace-template-name': 'w'.repeat(63), 'policy.borough.dev/protected-by': 'w'.repeat(63) }
  await client.create(
    { ...core, resource: 'configmaps' },
    { metadata: { namespace: 'prey', name: 'x'.repeat(253), labels } },
  )
  const hard = { [`count/${'r'.repeat(30)}.${'g'.repeat(26)}.io`]: '123456789012345678' }
  await client.create(
    { ...core, resource: 'resourcequotas' },
    { metadata: { namespace: 'prey', name: 'q' }, spec: { hard } },
  )
  const at = '2026-11-22T10:00:00Z'
  const conditions = texts.map((message, i) => ({
    type: ['Populated', 'NamespaceContentRemaining', 'NamespaceFinalizersRemaining'][i],
    status: i === 0 ? 'False' : 'True',
    reason: 'Said',
    message,
    lastTransitionTime: at,
  }))
  for (const name of ['prey', 'vast']) {
    await client.patch(namespaces, { name }, { status: { conditions } }, { subresource: 'status' })
  }
}

const pages = [
  { path: '/namespaces', shows: owner },
  { path: '/namespaces/prey', shows: owner },
  { path: '/namespaces/vast', shows: 'Show all 1,024 characters' },
  { path: '/namespaces/prey/objects', shows: told.replaceAll('/', '') },
  { path: '/namespaces/prey/access', shows: told },
  { path: '/namespaces/prey/events', shows: told },
  { path: '/namespaces/prey/delete', shows: 'waits for' },
  { path: '/namespaces/prey/birth', shows: 'It is ready' },
]

describe.skipIf(noBrowser !== undefined)(
  `what tenants write${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    const opened = new AsyncDisposableStack()
    let world: ConsoleWorld
    let page: Page
    let faults: readonly string[]
    let at: (path: string) => string

    beforeAll(async () => {
      const browser: Browser = await startBrowser()
      opened.defer(() => browser.close())
      world = opened.use(await startConsoleWorld())
      await furnish(world.plane.client)
      const served = await world.consoleFor('root', ['system:masters'])
      const visited = await visit(browser, served.address, { viewport: { width: 360, height: 740 } })
      ;({ page, faults } = visited)
      at = (path) => `${served.origin}${path}`
    })
    afterAll(() => opened.disposeAsync())

    test.each(pages)('at $path, 360 wide, is text in its place', async ({ path, shows }) => {
      await page.goto(at(path))
      await page.getByText(shows).first().waitFor()
      await page.evaluate(`document.querySelectorAll('main details').forEach((e) => { e.open = true })`)
      expect(await page.locator('main img, main script').count()).toBe(0)
      expect(await page.title()).toMatch(/ · Borough$/)
      expect(faults).toEqual([])
      const hiding = await page.evaluate<string[]>(
        `[document.body.innerText, ...[...document.querySelectorAll('[title], [aria-label]')].flatMap(
          (e) => [e.title, e.getAttribute('aria-label') ?? ''])]
          .filter((t) => /[\\p{Cf}\\p{Zl}]|(?![\\s])\\p{Cc}/u.test(t))`,
      )
      expect(hiding).toEqual([])
      expect(await cutOff(page)).toEqual([])
      expect(await axeFaults(page)).toEqual([])
      // A message of 64 KB takes no page for itself.
      const tallest = await page.evaluate<number>(
        `Math.max(...[...document.querySelectorAll('main :is(tr, li, dd, .notice)')].map((e) => e.offsetHeight))`,
      )
      expect(tallest).toBeLessThan(12_000)
    })

    test('a long message is shown in full when it is asked for', async () => {
      await page.goto(at('/namespaces/prey/events'))
      const row = page.getByRole('row').filter({ hasText: 'Show all 65,536 characters' })
      const message = row.getByRole('cell').last()
      await message.getByRole('button').click()
      await expect.poll(async () => (await message.textContent())?.length).toBe(long.length)
      expect(await cutOff(page)).toEqual([])
    })

    test('letters of another direction turn only themselves', async () => {
      await page.goto(at('/namespaces/prey/access'))
      await page.getByRole('row').filter({ hasText: told }).first().waitFor()
      const isolated = await page.evaluate<string[]>(
        `[...document.querySelectorAll('tbody bdi, tbody summary')].map((e) => getComputedStyle(e).unicodeBidi)`,
      )
      expect(isolated.length).toBeGreaterThan(2)
      expect(new Set(isolated)).toEqual(new Set(['isolate']))
    })
  },
)
