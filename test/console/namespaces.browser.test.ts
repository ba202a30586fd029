/** My namespaces, in a real browser against a real server over TLS: found by role and by the text that people see. */
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminKubeconfigPath } from '../../src/datadir/data-dir.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import {
  axeFaults,
  type ConsoleWorld,
  consoleOf,
  cutOff,
  noBrowser,
  startBrowser,
  startConsoleWorld,
  visit,
} from '../support/console-world.ts'
import { freePort } from '../support/free-port.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const templates = { group: 'policy', version: 'v1alpha1', resource: 'namespacetemplates' }
const configMaps = { ...namespaces, resource: 'configmaps' }
const clusterRoles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
const clusterRoleBindings = { ...clusterRoles, resource: 'clusterrolebindings' }

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
const rowNames = (page: Page) => page.getByRole('grid').getByRole('link').allTextContents()

/** Every namespace is its creator's, has a quota, and a greeting. */
async function furnish({ plane }: ConsoleWorld): Promise<void> {
  const { client } = plane
  const devs = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'devs' }]
  const rules = [{ verbs: ['create'], apiGroups: [''], resources: ['namespaces'] }]
  await client.create(clusterRoles, { metadata: { name: 'create-namespaces' }, rules })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'create-namespaces' }
  await client.create(clusterRoleBindings, { metadata: { name: 'devs' }, roleRef, subjects: devs })
  await client.create(templates, {
    metadata: { name: 'default' },
    spec: {
      namespaces: { nameSelector: { include: ['team-*'] } },
      templates: [
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'admin' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: '$(CREATOR)' }],
        },
        { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'quota' }, spec: { hard: { configmaps: '4' } } },
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'greeting' }, data: { text: 'hello' } },
      ],
    },
  })
}

describe.skipIf(noBrowser !== undefined)(
  `my namespaces${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    let world: ConsoleWorld
    let browser: Browser

    beforeAll(async () => {
      ;[world, browser] = await Promise.all([startConsoleWorld(), startBrowser()])
      await furnish(world)
      const as = (user: string) => world.plane.clientAs(user, ['devs'])
      await as('alice').create(namespaces, { metadata: { name: 'team-a', labels: { env: 'prod' } } })
      await as('alice').create(namespaces, { metadata: { name: 'team-b', labels: { env: 'dev' } } })
      await as('bob').create(namespaces, { metadata: { name: 'team-of-bob' } })
    })
    afterAll(async () => {
      await browser?.close()
      await world?.[Symbol.asyncDispose]()
    })

    const open = async (user: string, options = {}) => {
      const served = await world.consoleFor(user, ['devs'])
      return { ...(await visit(browser, served.address, options)), served }
    }

    test('two users side by side see their own and not each other’s, and the secret leaves the address', async () => {
      const [alice, bob] = [await open('alice'), await open('bob')]
      await rowOf(alice.page, 'team-a').waitFor()
      await rowOf(bob.page, 'team-of-bob').waitFor()
      expect(await rowNames(alice.page)).toEqual(['team-a', 'team-b'])
      expect(await rowNames(bob.page)).toEqual(['team-of-bob'])
      expect(alice.page.url()).toBe(`${alice.served.origin}/`)
      await alice.page.getByText('alice', { exact: true }).first().waitFor()
      expect([...alice.faults, ...bob.faults]).toEqual([])
      await Promise.all([alice.context.close(), bob.context.close()])
    })

    test('a row says state, nearest limit, owner and age; the exact time is there on hover', async () => {
      const { page, context } = await open('alice')
      const row = rowOf(page, 'team-a')
      await row.getByRole('meter', { name: 'configmaps' }).waitFor()
      expect(await row.getByRole('meter').getAttribute('aria-valuetext')).toBe('2 of 4')
      expect(await row.getByRole('gridcell').nth(1).textContent()).toBe('Active')
      expect(await row.getByRole('gridcell').nth(4).textContent()).toBe('alice')
      expect(await row.locator('time').getAttribute('title')).toMatch(/\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\)$/)
      await context.close()
    })

    test('what changes elsewhere is shown without asking', async () => {
      const { page, context } = await open('alice')
      await rowOf(page, 'team-a').waitFor()
      const alice = world.plane.clientAs('alice', ['devs'])
      await alice.create(namespaces, { metadata: { name: 'team-new' } })
      await rowOf(page, 'team-new').getByText('Active').waitFor()
      await world.plane.client.delete(namespaces, { name: 'team-new' })
      await rowOf(page, 'team-new').waitFor({ state: 'detached' })
      await context.close()
    })

    test('a search looks in names, owners and labels, and is part of the address', async () => {
      const { page, context, served } = await open('alice')
      await rowOf(page, 'team-a').waitFor()
      const search = page.getByRole('searchbox')
      await page.keyboard.press('/')
      await page.keyboard.type('label:env=prod')
      await rowOf(page, 'team-b').waitFor({ state: 'detached' })
      expect(await rowNames(page)).toEqual(['team-a'])
      expect(page.url()).toBe(`${served.origin}/namespaces?q=label%3Aenv%3Dprod`)
      await page.reload()
      await rowOf(page, 'team-a').waitFor()
      expect(await search.inputValue()).toBe('label:env=prod')
      await search.fill('owner:bob')
      await page.getByRole('heading', { name: 'Nothing is found for “owner:bob”' }).waitFor()
      await page.getByRole('button', { name: 'Show all' }).click()
      await rowOf(page, 'team-b').waitFor()
      await context.close()
    })

    test('the keyboard reaches every row, and opens one', async () => {
      const { page, context, served } = await open('alice')
      await rowOf(page, 'team-a').waitFor()
      await page.getByRole('grid').focus()
      await page.keyboard.press('End')
      const meant = page.getByRole('row', { selected: true })
      expect(await meant.getByRole('link').textContent()).toBe('team-b')
      expect(await page.getByRole('grid').getAttribute('aria-activedescendant')).toBe(await meant.getAttribute('id'))
      await page.keyboard.press('ArrowUp')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${served.origin}/namespaces/team-a`)
      expect(await page.evaluate('document.activeElement.id')).toBe('main')
      await page.getByRole('link', { name: 'My namespaces' }).click()
      await page.getByRole('link', { name: 'Create namespace' }).click()
      // The form is loaded when it is asked for. Once it is there it has the focus.
      const name = page.getByRole('textbox', { name: 'Name' })
      await name.and(page.locator(':focus')).waitFor()
      await page.keyboard.type('typed-at-once')
      expect(await name.inputValue()).toBe('typed-at-once')
      await context.close()
    })

    test('the server says what a new namespace would hold, then it is made, and shown being made', async () => {
      const { page, context, faults } = await open('alice')
      await page.getByRole('link', { name: 'Create namespace' }).click()
      const preview = page.getByRole('region', { name: 'What will be in it' })
      const name = page.getByRole('textbox', { name: 'Name' })
      await name.fill('Not_A_Name')
      await preview.getByText(/Namespace "Not_A_Name" is invalid: metadata.name: Invalid value/).waitFor()
      const words = 'must consist of lower case alphanumeric characters'
      expect(await name.getAttribute('aria-invalid')).toBe('true')
      const described = page.locator(`[id="${await name.getAttribute('aria-describedby')}"]`)
      await described.getByText(words).waitFor()
      await name.fill('team-fresh')
      await preview.getByText('greeting').waitFor()
      expect(await name.getAttribute('aria-invalid')).toBe(null)
      expect(await preview.getByRole('listitem').allTextContents()).toEqual([
        'RoleBinding admin',
        'ResourceQuota quota',
        'ConfigMap greeting',
      ])
      await page.getByText('Labels and annotations').click()
      await page.getByRole('textbox', { name: 'Labels' }).fill('env=dev')
      await page.getByText(/^printf %s .*"labels":{"env":"dev"}.* \| kubectl create -f -$/).waitFor()
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByText('It is ready, done').waitFor()
      await page.getByRole('listitem').filter({ hasText: 'rolebindings admin' }).waitFor()
      expect(await axeFaults(page)).toEqual([])
      const made = await world.plane.client.get(namespaces, { name: 'team-fresh' })
      expect(made.metadata.labels).toMatchObject({ env: 'dev' })
      expect(faults).toEqual([])
      await context.close()
    })

    test('what templates ask for is a field of the form, and the namespace is shown as it will be', async () => {
      const { client } = world.plane
      await client.create(templates, {
        metadata: { name: 'sized' },
        spec: {
          namespaces: { labelSelector: { matchLabels: { kind: 'sized' } } },
          parameters: [
            { name: 'size', fromLabel: 'example.com/size', enum: ['small', 'large'], default: 'small' },
            { name: 'costCentre', fromAnnotation: 'example.com/cost', pattern: '[0-9]{4}', required: true },
          ],
          namespaceMetadata: { labels: { 'example.com/centre': '$(costCentre)' } },
          expiry: { default: '720h', max: '800h' },
          templates: [
            {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: 'about' },
              data: { of: '$(OWNER)', is: '$(size)' },
            },
          ],
        },
      })
      const { page, context, faults } = await visit(
        browser,
        (await world.consoleFor('root', ['system:masters'])).address,
      )
      await page.getByRole('link', { name: 'Create namespace' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill('project')
      await page.getByRole('combobox', { name: 'Template' }).selectOption('sized')
      const cost = page.getByRole('textbox', { name: 'costCentre (required)' })
      await page.getByText('Required value: parameter "costCentre" of template "sized"').first().waitFor()
      expect(await cost.getAttribute('aria-invalid')).toBe('true')
      await cost.fill('12')
      await page.getByText('Invalid value: "12"').first().waitFor()
      await cost.fill('1234')
      const preview = page.getByRole('region', { name: 'What will be in it' })
      await preview.getByText('label example.com/centre: 1234 by template sized').waitFor()
      await preview.getByText('in 29d').waitFor()
      await page.getByRole('combobox', { name: 'size' }).selectOption('large')
      await page.getByRole('textbox', { name: 'Owner' }).fill('carol')
      await preview.getByText('carol').first().waitFor()
      await preview.getByText('ConfigMap about').click()
      await preview.getByText('"is": "large"').waitFor()
      await page.getByRole('combobox', { name: 'Expires' }).selectOption('after')
      await page.getByRole('textbox', { name: 'Lives for' }).fill('900h')
      await page
        .getByText(/must not be after .*lets its namespaces live for 800h/)
        .first()
        .waitFor()
      await page.getByRole('textbox', { name: 'Lives for' }).fill('48h')
      await preview.getByText('in 47h').waitFor()
      expect(await axeFaults(page)).toEqual([])
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByText('It is ready, done').waitFor()
      const { metadata } = await client.get(namespaces, { name: 'project' })
      expect(metadata.labels).toMatchObject({
        kind: 'sized',
        'example.com/size': 'large',
        'example.com/centre': '1234',
      })
      expect(metadata.annotations).toMatchObject({ 'borough.dev/ttl': '48h', 'borough.dev/owner': 'carol' })
      const about = await client.get(configMaps, { namespace: 'project', name: 'about' })
      expect(about['data']).toEqual({ of: 'carol', is: 'large' })
      expect(faults).toEqual([])
      await client.delete(templates, { name: 'sized' })
      await context.close()
    })

    test('a user who may not read templates is asked for what the server asks for', async () => {
      const { client } = world.plane
      await client.create(templates, {
        metadata: { name: 'asking' },
        spec: {
          namespaces: { nameSelector: { include: ['asked-*'] } },
          parameters: [{ name: 'size', fromLabel: 'example.com/size', enum: ['small', 'large'], required: true }],
          templates: [],
        },
      })
      const { page, context } = await open('alice')
      await page.getByRole('link', { name: 'Create namespace' }).click()
      await page.getByText('The server does not show you its templates').waitFor()
      await page.getByRole('textbox', { name: 'Name' }).fill('asked-a')
      await page.getByRole('textbox', { name: 'example.com/size' }).fill('small')
      await page.getByText('The server names no object that a template would give it.').waitFor()
      await page.getByText('kubectl create -f -').waitFor()
      expect(await page.getByRole('textbox', { name: 'example.com/size' }).inputValue()).toBe('small')
      await client.delete(templates, { name: 'asking' })
      await context.close()
    })

    test('what the server refuses to create is said in its words', async () => {
      const served = await world.consoleFor('mallory')
      const { page, context } = await visit(browser, `${served.address}`)
      await page.getByRole('heading', { name: 'You have no namespace yet' }).waitFor()
      await page.getByRole('link', { name: 'Create namespace' }).first().click()
      await page.getByRole('textbox', { name: 'Name' }).fill('team-m')
      const words = 'namespaces is forbidden: User "mallory" cannot create resource "namespaces" in API group ""'
      await page.getByText(words).waitFor()
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByRole('alert').getByText(words).waitFor()
      // What was typed is still there.
      expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('team-m')
      await context.close()
    })

    test('5,000 rows are a few dozen elements, wherever one is', async () => {
      const { page, context } = await open('alice')
      await rowOf(page, 'team-a').waitFor()
      // As a server that has so many: the page asks it in pages of its own choice.
      const many = Array.from({ length: 5000 }, (_, i) => ({
        metadata: { name: `many-${String(i).padStart(4, '0')}`, uid: String(i), resourceVersion: '1' },
      }))
      await page.route('**/api/v1/namespaces?*', (route) =>
        route.fulfill({
          json: { kind: 'NamespaceList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items: many },
        }),
      )
      await page.reload()
      await rowOf(page, 'many-0000').waitFor()
      const shown = () => page.getByRole('row').count()
      expect(await shown()).toBeLessThan(60)
      await page.getByRole('grid').focus()
      await page.keyboard.press('End')
      await rowOf(page, 'many-4999').waitFor()
      expect(await shown()).toBeLessThan(60)
      expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('5001')
      await page.getByRole('searchbox').fill('many-2500')
      await rowOf(page, 'many-2500').waitFor()
      expect(await rowNames(page)).toEqual(['many-2500'])
      await context.close()
    })

    test('markup that a tenant has written is text', async () => {
      const text = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
      const annotations = { 'borough.dev/owner': text }
      await world.plane.client.create(namespaces, { metadata: { name: 'team-x', annotations } })
      const served = await world.consoleFor('root', ['system:masters'])
      const { page, context, faults } = await visit(browser, served.address)
      await rowOf(page, 'team-a').waitFor()
      expect(await rowNames(page)).toContain('team-x')
      await rowOf(page, 'team-x').getByText(text).waitFor()
      expect(await page.title()).toBe('My namespaces · Borough')
      expect(await page.locator('main img, main script').count()).toBe(0)
      expect(faults).toEqual([])
      await world.plane.client.delete(namespaces, { name: 'team-x' })
      await context.close()
    })

    test('a credential that the server does not accept is said', async () => {
      const served = await world.consoleFor('alice', [], (text) =>
        text.replace(/ {4}client-certificate-data: .*\n {4}client-key-data: .*/, '    token: none'),
      )
      const { page, context } = await visit(browser, served.address)
      const said = 'the server does not accept the credential of the kubeconfig: Unauthorized'
      await page.getByText(`What is shown may be old: ${said}`).waitFor()
      await page.getByText('The server does not let you in.').waitFor()
      await page.getByText(said, { exact: true }).waitFor()
      // It was reached.
      expect(await page.getByText('The server can’t be reached.').count()).toBe(0)
      await context.close()
    })

    test('a second tab and a reload stay let in; a browser without the secret is not', async () => {
      const { page, context, served } = await open('alice')
      await rowOf(page, 'team-a').waitFor()
      await page.reload()
      await rowOf(page, 'team-a').waitFor()
      const tab = await context.newPage()
      await tab.goto(`${served.origin}/namespaces`)
      await rowOf(tab, 'team-a').waitFor()
      const other = await visit(browser, served.origin)
      await other.page.getByRole('heading', { name: 'This browser is not let in' }).waitFor()
      await other.page.getByText('this browser is not known here').waitFor()
      await Promise.all([context.close(), other.context.close()])
    })

    test('the first view is at most 200 KB compressed, and asks no other host', async () => {
      const { page, context, served } = await open('alice')
      await rowOf(page, 'team-a').waitFor()
      const urls: string[] = await page.evaluate(`performance.getEntriesByType('resource').map((e) => e.name)`)
      expect([...new Set(urls.map((url) => new URL(url).origin))]).toEqual([served.origin])
      const files = [`${served.origin}/`, ...urls.filter((url) => url.includes('/assets/'))]
      const bytes = await Promise.all(files.map(async (url) => Buffer.from(await (await fetch(url)).arrayBuffer())))
      expect(bytes.reduce((sum, b) => sum + gzipSync(b).length, 0)).toBeLessThan(200_000)
      await context.close()
    })

    test.each([
      { scheme: 'light', width: 1280 },
      { scheme: 'dark', width: 1280 },
      { scheme: 'light', width: 360 },
    ] as const)('axe finds nothing, $scheme, $width wide', async ({ scheme, width }) => {
      const { page, context } = await open('alice', { colorScheme: scheme, viewport: { width, height: 740 } })
      await rowOf(page, 'team-a').getByRole('meter').waitFor()
      expect(await axeFaults(page)).toEqual([])
      expect(await cutOff(page)).toEqual([])
      await page.getByRole('link', { name: 'Create namespace' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill('team-z')
      await page.getByText('greeting').waitFor()
      expect(await axeFaults(page)).toEqual([])
      expect(await cutOff(page)).toEqual([])
      await context.close()
    })

    test('without the right to list, those that the kubeconfig names and those that were added are shown', async () => {
      await using elsewhere = await startConsoleWorld({ listOwnNamespaces: false })
      await furnish(elsewhere)
      const alice = elsewhere.plane.clientAs('alice', ['devs'])
      for (const name of ['team-a', 'team-b']) await alice.create(namespaces, { metadata: { name } })
      await elsewhere.plane.client.create(namespaces, { metadata: { name: 'team-c' } })
      const served = await elsewhere.consoleFor('alice', ['devs'], (text) =>
        text.replace('  context:\n', '  context:\n    namespace: team-a\n'),
      )
      const { page, context } = await visit(browser, served.address)
      await rowOf(page, 'team-a').getByText('Active').waitFor()
      expect(await rowNames(page)).toEqual(['team-a'])
      await page.getByText('The server does not list namespaces to you.').click()
      await page.getByText('User "alice" cannot list resource "namespaces"').waitFor()
      const add = async (name: string) => {
        await page.getByRole('textbox', { name: 'Name of a namespace' }).fill(name)
        await page.getByRole('button', { name: 'Add' }).click()
      }
      await add('team-b')
      await rowOf(page, 'team-b').getByText('Active').waitFor()
      await add('team-c')
      await rowOf(page, 'team-c').getByText('No access').waitFor()
      await page
        .getByText('User "alice" cannot get resource "namespaces" in API group "" in the namespace "team-c"')
        .waitFor()
      await page.reload()
      await rowOf(page, 'team-b').getByText('Active').waitFor()
      await page.getByText('The server does not list namespaces to you.').click()
      await page.getByRole('button', { name: 'Forget team-c' }).click()
      await rowOf(page, 'team-c').waitFor({ state: 'detached' })
      await page.getByText('kubectl get namespaces team-a team-b').waitFor()
      expect(await axeFaults(page)).toEqual([])
      await context.close()
    })

    test('it says that the server was killed, goes on by itself when it is back, and misses nothing', async () => {
      await using server = await BoroughProcess.start()
      await using served = await consoleOf(adminKubeconfigPath(server.dataDir))
      const { page, context } = await visit(browser, served.address)
      await rowOf(page, 'kube-system').waitFor()
      await server.end('SIGKILL')
      await page.getByText('Reconnecting.').waitFor()
      await rowOf(page, 'kube-system').waitFor()
      await server.start()
      await page.getByText('Reconnecting.').waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Create namespace' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill('after')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByRole('link', { name: 'My namespaces' }).click()
      await rowOf(page, 'after').getByText('Active').waitFor()
      await context.close()
    })

    test('a console that comes back on its port asks to be opened anew', async () => {
      const port = await freePort()
      await using server = await BoroughProcess.start()
      const first = await consoleOf(adminKubeconfigPath(server.dataDir), port)
      const { page, context } = await visit(browser, first.address)
      await rowOf(page, 'kube-system').waitFor()
      await first[Symbol.asyncDispose]()
      await page.getByText('Reconnecting.').waitFor()
      await using second = await consoleOf(adminKubeconfigPath(server.dataDir), port)
      await page.getByText('this browser is not known here').waitFor()
      await page.goto(second.address)
      await rowOf(page, 'kube-system').waitFor()
      await context.close()
    })
  },
)
