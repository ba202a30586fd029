/** One namespace in a real browser: what it holds, who may what, why it is stuck, and how it goes. */
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
  type Visit,
  visit,
} from '../support/console-world.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { ...namespaces, resource: 'configmaps' }
const roleBindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' }
const text = '<img src=x onerror="document.title=1"><script>document.title=2</script>'

async function furnish(client: Client): Promise<void> {
  await client.create(
    { group: 'policy', version: 'v1alpha1', resource: 'namespacetemplates' },
    {
      metadata: { name: 'default' },
      spec: {
        namespaces: { nameSelector: { include: ['shop'] } },
        templates: [
          { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'quota' }, spec: { hard: { configmaps: '5' } } },
          {
            apiVersion: 'v1',
            kind: 'LimitRange',
            metadata: { name: 'limits' },
            spec: { limits: [{ type: 'Container', default: { cpu: '500m' } }] },
          },
        ],
      },
    },
  )
  await client.create(namespaces, { metadata: { name: 'shop', labels: { env: 'prod' } } })
  const owner = await client.create(configMaps, { metadata: { namespace: 'shop', name: 'owner' } })
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid ?? '' }]
  await client.create(configMaps, { metadata: { namespace: 'shop', name: 'owned', ownerReferences } })
  const roles = { ...roleBindings, resource: 'roles' }
  await client.create(roles, { metadata: { namespace: 'shop', name: '$(id)' }, rules: [] })
  await client.create(roleBindings, {
    metadata: { namespace: 'shop', name: 'viewers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' },
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: text },
    ],
  })
  await client.create(
    { ...namespaces, resource: 'events' },
    {
      metadata: { namespace: 'shop', name: 'event' },
      involvedObject: { kind: text, name: text, namespace: 'shop' },
      reason: text,
      message: text,
      type: 'Warning',
      lastTimestamp: '2026-11-22T10:00:00Z',
    },
  )
}

/** A namespace that a finalizer on one of its objects keeps from going. */
async function hold(client: Client, name: string): Promise<void> {
  await client.create(namespaces, { metadata: { name } })
  const held = { namespace: name, name: 'held', finalizers: ['backup.example.com/done'] }
  await client.create(configMaps, { metadata: held })
  await client.delete(namespaces, { name })
}

describe.skipIf(noBrowser !== undefined)(
  `one namespace${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    let world: ConsoleWorld
    let browser: Browser
    let admin: Visit
    let viewer: Visit
    let page: Page
    let at: (path: string) => string

    beforeAll(async () => {
      ;[world, browser] = await Promise.all([startConsoleWorld(), startBrowser()])
      await furnish(world.plane.client)
      const served = await world.consoleFor('root', ['system:masters'])
      admin = await visit(browser, served.address)
      page = admin.page
      at = (path) => `${served.origin}${path}`
      viewer = await visit(browser, (await world.consoleFor('viewer')).address)
    })
    afterAll(async () => {
      await browser?.close()
      await world?.[Symbol.asyncDispose]()
    })

    test('the overview says state, usage, limits and the latest events, and follows them', async () => {
      await page.goto(at('/namespaces/shop'))
      await page.getByText('Nothing holds it up, and nothing would hold its deletion.').waitFor()
      const meter = page.getByRole('meter', { name: 'configmaps' })
      await meter.waitFor()
      expect(await meter.getAttribute('aria-valuetext')).toBe('3 of 5')
      await page.getByRole('rowheader', { name: 'Container cpu' }).waitFor()
      await world.plane.client.create(configMaps, { metadata: { namespace: 'shop', name: 'another' } })
      await expect.poll(() => meter.getAttribute('aria-valuetext')).toBe('4 of 5')
      await world.plane.client.delete(configMaps, { namespace: 'shop', name: 'another' })
    })

    test('markup in events, subjects and kinds is text', async () => {
      await page.goto(at('/namespaces/shop/events'))
      await expect.poll(() => page.getByRole('cell', { name: text, exact: true }).count()).toBe(2)
      await page.getByRole('link', { name: 'Access' }).click()
      await page.getByRole('rowheader', { name: `User ${text}` }).waitFor()
      expect(await page.title()).toBe('shop · Borough')
      expect(await page.locator('main img, main script').count()).toBe(0)
      expect(admin.faults).toEqual([])
    })

    test('objects stand under their template and their owner', async () => {
      await page.goto(at('/namespaces/shop/objects'))
      const template = page.getByRole('region', { name: 'Template default' })
      await template.getByText('quota', { exact: true }).waitFor()
      const others = page.getByRole('region', { name: 'Of no template' })
      const owner = others.getByRole('listitem').filter({ hasText: 'owned' }).filter({ hasText: 'owner' })
      await owner.getByRole('list').getByText('owned', { exact: true }).waitFor()
      await owner.getByText('owner', { exact: true }).click()
      await owner.getByText('kubectl get configmaps owner -n shop -o yaml').first().waitFor()
      // What a tenant named it runs nowhere.
      await page.getByText('$(id)', { exact: true }).click()
      await page.getByText("kubectl get roles.rbac.authorization.k8s.io '$(id)' -n shop -o yaml").waitFor()
    })

    test('of a namespace of very many objects the first are shown, and more when asked for', async () => {
      const { client } = world.plane
      await client.create(namespaces, { metadata: { name: 'crowd' } })
      const names = Array.from({ length: 620 }, (_, i) => `c${1000 + i}`)
      await Promise.all(names.map((name) => client.create(configMaps, { metadata: { namespace: 'crowd', name } })))
      await page.goto(at('/namespaces/crowd/objects'))
      await page.getByRole('heading', { name: /^Of no template 62\d$/ }).waitFor()
      expect(await page.locator('.nodes details').count()).toBe(500)
      await page.getByRole('button', { name: /^Show 12\d more/ }).click()
      await page.getByText('c1619', { exact: true }).waitFor()
    })

    test('who may what, and through which binding; why one may not, and what would allow it', async () => {
      await page.goto(at('/namespaces/shop/access'))
      const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'User viewer' }) })
      await row.getByText('RoleBinding/viewers').waitFor()
      await row.getByText('ClusterRole/view').click()
      await row
        .getByText(/^get, list, watch: .*pods/)
        .first()
        .waitFor()
      await page.getByRole('combobox', { name: 'Verb' }).selectOption('delete')
      await page.getByRole('textbox', { name: 'Resource' }).fill('pods')
      await page.getByRole('textbox', { name: 'User' }).fill('viewer')
      await page.getByRole('button', { name: 'Ask' }).click()
      await page.getByText('viewer may not delete pods.').waitFor()
      await page.getByText('A binding of ClusterRole edit would allow it.').waitFor()
      expect(await axeFaults(page)).toEqual([])
      await page.getByRole('combobox', { name: 'Verb' }).selectOption('list')
      await page.getByRole('button', { name: 'Ask' }).click()
      await page.getByText('viewer may list pods.').waitFor()
    })

    test('a question is answered by its own answer, and until then it is said that the server is asked', async () => {
      await page.goto(at('/namespaces/shop/access'))
      const held = Promise.withResolvers<void>()
      await page.route(/\/subjectaccessreviews/, async (route) => {
        if (route.request().postData()?.includes('"secrets"')) await held.promise
        await route.continue()
      })
      await page.getByRole('textbox', { name: 'User' }).fill('viewer')
      const ask = async (resource: string) => {
        await page.getByRole('textbox', { name: 'Resource' }).fill(resource)
        await page.getByRole('button', { name: 'Ask' }).click()
      }
      const late = page.waitForResponse(
        (response) =>
          response.request().postData()?.includes('"secrets"') === true && /subjectaccess/.test(response.url()),
      )
      await ask('secrets')
      await page.getByText('Asking the server…').waitFor()
      await ask('pods')
      await page.getByText('viewer may not create pods.').waitFor()
      held.resolve()
      await (await late).finished()
      await page.unrouteAll({ behavior: 'wait' })
      await page.getByText('viewer may not create pods.').waitFor()
      expect(await page.getByText('viewer may not create secrets.').count()).toBe(0)
    })

    test('protection and end are set, and what the server refuses is said', async () => {
      await page.goto(at('/namespaces/shop'))
      await page.getByRole('checkbox', { name: 'Protected from deletion' }).click()
      await expect.poll(() => page.getByRole('checkbox').isChecked()).toBe(true)
      await page.getByLabel('Expires: never').fill('2030-05-01T12:00')
      await page.getByRole('button', { name: 'Set' }).click()
      const zone: number = await page.evaluate(`new Date('2030-05-01T12:00').getTime()`)
      const expected = `${new Date(zone).toISOString().slice(0, 19)}Z`
      await page.locator(`#expiry time[datetime="${expected}"]`).waitFor()
      await page.goto(at('/namespaces/shop/delete'))
      await page.getByText('It is protected from deletion. Lift that first, in the overview.').waitFor()
      const { page: theirs } = viewer
      await theirs.goto(new URL('/namespaces/shop/delete', theirs.url()).href)
      await theirs.getByText('It is protected from deletion. You may not lift that').waitFor()
      await theirs.getByRole('link', { name: 'Overview' }).click()
      // What protects it would hold its deletion: both are not said at once.
      await theirs.getByText('Nothing holds it up.', { exact: true }).waitFor()
      await theirs.getByText('it is protected from deletion; to lift that').waitFor()
      await page.getByRole('textbox').fill('shop')
      await page.getByRole('button', { name: 'Delete shop' }).click()
      await page
        .getByRole('alert')
        .getByText(/namespaces "shop" is forbidden: it is protected/)
        .waitFor()
      await world.plane.client.patch(
        namespaces,
        { name: 'shop' },
        {
          metadata: { annotations: { 'borough.dev/deletion-protection': null, 'borough.dev/expires-at': null } },
        },
      )
    })

    test('an end is put off and taken off by a button, within what a template allows', async () => {
      const { client } = world.plane
      await client.create(namespaces, {
        metadata: { name: 'preview', annotations: { 'borough.dev/expires-at': '2030-05-01T12:00:00Z' } },
      })
      const ends = async () =>
        (await client.get(namespaces, { name: 'preview' })).metadata.annotations?.['borough.dev/expires-at']
      await page.goto(at('/namespaces/preview'))
      await page.getByRole('button', { name: 'Extend by a day' }).click()
      await page.locator('#expiry time[datetime="2030-05-02T12:00:00Z"]').waitFor()
      expect(await ends()).toBe('2030-05-02T12:00:00Z')
      await page.getByRole('button', { name: 'Never' }).click()
      await page.getByText('Expires: never').waitFor()
      expect(await ends()).toBeUndefined()
      // A time to live would bring it back.
      await client.patch(namespaces, { name: 'preview' }, { metadata: { annotations: { 'borough.dev/ttl': '48h' } } })
      await page.getByText('48h after its creation').waitFor()
      await page.getByRole('button', { name: 'Extend by a day' }).click()
      await page.getByText('48h after its creation').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Never' }).click()
      await page.getByText('Expires: never').waitFor()
      expect(await ends()).toBeUndefined()
    })

    test('a user who may only look is offered nothing that would be refused', async () => {
      const { page: theirs, faults } = viewer
      await theirs.goto(new URL('/namespaces/shop', theirs.url()).href)
      await theirs.getByText('You may not change this namespace.').waitFor()
      expect(await theirs.getByRole('checkbox').isDisabled()).toBe(true)
      await theirs.getByRole('link', { name: 'Delete' }).click()
      await theirs.getByText('You may not delete this namespace.').waitFor()
      expect(await theirs.getByRole('button', { name: 'Delete shop' }).count()).toBe(0)
      await theirs.goto(new URL('/namespaces/kube-system', theirs.url()).href)
      await theirs.getByText('namespaces "kube-system" not found').waitFor()
      expect(faults).toEqual([])
    })

    test('why it is not gone, who must act, and the way out for a user who may take it', async () => {
      await hold(world.plane.client, 'stuck')
      await page.goto(at('/namespaces/stuck'))
      await page.getByRole('heading', { name: 'Why it is not gone' }).waitFor()
      await page.getByRole('heading', { name: 'finalizer backup.example.com/done holds configmaps/held' }).waitFor()
      await page.getByText('borough finalize stuck --remove backup.example.com/done').waitFor()
      expect(await axeFaults(page)).toEqual([])
      await page.setViewportSize({ width: 360, height: 740 })
      expect(await cutOff(page)).toEqual([])
      await page.setViewportSize({ width: 1280, height: 800 })
      // Nothing can be set on it any more.
      expect(await page.getByRole('checkbox').count()).toBe(0)
      await page.getByRole('button', { name: 'Remove finalizer backup.example.com/done' }).click()
      await page.getByRole('button', { name: 'Yes, remove finalizer backup.example.com/done' }).click()
      await page.getByRole('status').getByText('stuck is gone,').waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
      await page.getByRole('link', { name: 'Back to my namespaces' }).click()
      await page.getByRole('heading', { name: 'My namespaces' }).waitFor()
    })

    test('a finalizer on content is taken off by a user who may patch that content', async () => {
      const { client } = world.plane
      const finalizer = 'backup.example.com/done'
      const button = viewer.page.getByRole('button', { name: `Remove finalizer ${finalizer}` })
      const held = viewer.page.getByRole('heading', { name: `finalizer ${finalizer} holds configmaps/held` })
      for (const [name, role] of Object.entries({ looked: 'view', edited: 'edit' })) {
        await client.create(namespaces, { metadata: { name } })
        await client.create(roleBindings, {
          metadata: { namespace: name, name: role },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' }],
        })
        await client.create(configMaps, { metadata: { namespace: name, name: 'held', finalizers: [finalizer] } })
        await client.delete(namespaces, { name })
        const origin = new URL(viewer.page.url()).origin
        await viewer.page.goto(`${origin}/namespaces/${name}`)
        await held.waitFor()
        // The foot of the view can be run as it stands.
        await viewer.page.getByText(`borough why ${name}; kubectl get namespace ${name}; `).waitFor()
        if (role === 'view') expect(await button.count()).toBe(0)
      }
      await button.click()
      await viewer.page.getByRole('button', { name: `Yes, remove finalizer ${finalizer}` }).click()
      await viewer.page.getByText('edited is gone,').waitFor()
    })

    test('an initializer that does not act is named, and can be passed over', async () => {
      await world.plane.client.create(
        { group: 'admissionregistration.k8s.io', version: 'v1alpha1', resource: 'namespaceinitializerconfigurations' },
        {
          metadata: { name: 'slow' },
          initializers: [
            { name: 'slow.example.com', namespaceSelector: { matchLabels: { slow: 'yes' } }, timeoutSeconds: 600 },
          ],
        },
      )
      const made = world.plane.client.create(namespaces, { metadata: { name: 'waits', labels: { slow: 'yes' } } })
      await page.goto(at('/namespaces/waits'))
      await page.getByRole('heading', { name: 'initializer slow.example.com has not acted yet' }).waitFor()
      const told = page.waitForResponse(/namespaceinitializerconfigurations/)
      await page.goto(at('/namespaces/waits/delete'))
      await told
      await page.getByRole('textbox', { name: 'Type waits to delete it' }).waitFor()
      // It holds the namespace up, not its deletion.
      expect(await page.getByText('has not acted yet').count()).toBe(0)
      await page.goto(at('/namespaces/waits'))
      await page.getByRole('button', { name: 'Go on without slow.example.com' }).click()
      await page.getByRole('button', { name: 'Yes, go on without slow.example.com' }).click()
      await page.getByRole('heading', { name: 'Ready' }).waitFor()
      await made
    })

    test('a deletion shows what will go, in its order, asks for the name, and is followed to its end', async () => {
      const { client } = world.plane
      await client.create(namespaces, { metadata: { name: 'old' } })
      await client.create(
        { ...namespaces, resource: 'resourcequotas' },
        {
          metadata: { namespace: 'old', name: 'q' },
          spec: { hard: { pods: '1' } },
        },
      )
      await client.create(configMaps, { metadata: { namespace: 'old', name: 'held', finalizers: ['example.com/x'] } })
      await page.goto(at('/namespaces/old/delete'))
      await page.getByText('ConfigMap held waits for example.com/x').waitFor()
      expect(await page.locator('.going > li summary').allTextContents()).toEqual(['Quotas 1', 'Everything else 3'])
      const button = page.getByRole('button', { name: 'Delete old' })
      expect(await button.isDisabled()).toBe(true)
      await page.getByRole('textbox').fill('old')
      await button.click()
      await page.getByRole('heading', { name: 'Why it is not gone' }).waitFor()
      await client.patch(configMaps, { namespace: 'old', name: 'held' }, { metadata: { finalizers: null } })
      await page.getByText('old is gone,').waitFor()
    })

    test.each(['', '/objects', '/access', '/events', '/delete'])(
      'axe finds nothing in /namespaces/shop%s, narrow and dark',
      async (tab) => {
        await page.emulateMedia({ colorScheme: 'dark' })
        await page.setViewportSize({ width: 360, height: 740 })
        await page.goto(at(`/namespaces/shop${tab}`))
        await page.locator('.panel').first().waitFor()
        expect(await axeFaults(page)).toEqual([])
        expect(await cutOff(page)).toEqual([])
      },
    )
  },
)
