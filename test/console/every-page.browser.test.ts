/** Every page: at its own address, with a command that shows the same, clean for axe in every look, nothing cut off. */
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
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const configMap = (name: string, data = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })

async function furnish(client: Client): Promise<void> {
  await client.create(namespaces, { metadata: { name: 'shared' } })
  const annotations = { 'policy.borough.dev/clone-to': '*' }
  await client.create(configMaps, {
    ...configMap('ca', { pem: 'one' }),
    metadata: { namespace: 'shared', name: 'ca', annotations },
  })
  await client.create(templates, {
    metadata: { name: 'map' },
    spec: {
      namespaces: { nameSelector: { include: ['new', 'team-*'] } },
      parameters: [{ name: 'size', fromLabel: 'example.com/size', enum: ['small', 'large'], default: 'small' }],
      templates: [
        { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'quota' }, spec: { hard: { configmaps: '12' } } },
      ],
      objects: [
        { when: "params.size == 'large'", template: configMap('only-large') },
        { template: configMap('fixed', { text: 'one' }), protect: true, drift: 'Strict' },
        { template: configMap('shared-out', { text: 'one' }), yieldTo: ['rotator'] },
        { cloneFrom: { namespace: 'shared', apiVersion: 'v1', kind: 'ConfigMap', name: 'ca' } },
      ],
    },
  })
  // As the paths of pages are: they must not stand in each other's way.
  await client.create(namespaces, { metadata: { name: 'new', labels: { env: 'prod' } } })
  await client.create(namespaces, { metadata: { name: 'stuck' } })
  const held = { namespace: 'stuck', name: 'held', finalizers: ['backup.example.com/done'] }
  await client.create(configMaps, { metadata: held })
  await client.delete(namespaces, { name: 'stuck' })
}

/** Each with what says that it is there. */
const pages = [
  { path: '/namespaces', title: 'My namespaces', shows: 'stuck' },
  { path: '/namespaces?q=none', title: 'My namespaces', shows: 'Nothing is found for “none”' },
  { path: '/namespaces/new', title: 'new', shows: 'Nothing holds it up' },
  { path: '/namespaces/new/objects', title: 'new', shows: 'Template map' },
  { path: '/namespaces/new/access', title: 'new', shows: 'Who may do what' },
  { path: '/namespaces/new/events', title: 'new', shows: 'kubectl get events -n new' },
  { path: '/namespaces/new/delete', title: 'new', shows: 'Everything else' },
  { path: '/namespaces/stuck', title: 'stuck', shows: 'backup.example.com/done holds' },
  { path: '/namespaces/missing', title: 'missing', shows: 'namespaces "missing" not found' },
  { path: '/new/namespace', title: 'Create a namespace', shows: 'Type a name' },
  { path: '/templates', title: 'Templates', shows: '1 done' },
  { path: '/templates/map', title: 'map', shows: 'has reached every selected namespace' },
  { path: '/templates/map/edit', title: 'Edit map', shows: 'It is saved after it was planned' },
  { path: '/new/template', title: 'New template', shows: 'It is saved after it was planned' },
  { path: '/map', title: 'Which template reaches which namespaces', shows: 'stuck' },
  { path: '/nothing', title: 'No such page', shows: 'There is no page /nothing' },
]
const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1280, 360].map((width) => ({ colorScheme, width })),
)

describe.skipIf(noBrowser !== undefined)(
  `every page${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    let world: ConsoleWorld
    let browser: Browser
    let admin: Visit
    let page: Page
    let at: (path: string) => string

    beforeAll(async () => {
      ;[world, browser] = await Promise.all([startConsoleWorld(), startBrowser()])
      await furnish(world.plane.client)
      const served = await world.consoleFor('root', ['system:masters'])
      admin = await visit(browser, served.address)
      page = admin.page
      await admin.context.grantPermissions(['clipboard-read', 'clipboard-write'])
      at = (path) => `${served.origin}${path}`
    })
    afterAll(async () => {
      await browser?.close()
      await world?.[Symbol.asyncDispose]()
    })

    test.each(pages)(
      '$path is an address, has a command, and is clean in every look',
      async ({ path, title, shows }) => {
        await page.setViewportSize({ width: 1280, height: 800 })
        await page.goto(at(path))
        await page.getByText(shows).first().waitFor()
        await expect.poll(() => page.title()).toBe(`${title} · Borough`)
        const commands = await page.getByRole('button', { name: 'Copy as kubectl' }).count()
        expect(commands > 0).toBe(path !== '/nothing')
        const found: unknown[] = []
        for (const { colorScheme, width } of looks) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 800 })
          const faults = [...(await axeFaults(page)), ...(await cutOff(page))]
          if (faults.length > 0) found.push({ colorScheme, width, faults })
        }
        expect(found).toEqual([])
      },
    )

    test('what a template says of its objects is in the preview, the tree and the plan', async () => {
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.goto(at('/new/namespace'))
      await page.getByRole('textbox', { name: 'Name' }).fill('team-a')
      const preview = page.getByRole('region', { name: 'What will be in it' })
      const objects = preview.getByRole('listitem')
      await preview.getByText('ConfigMap ca').waitFor()
      expect((await objects.allTextContents()).map((text) => text.replace(/\{.*/s, ''))).toEqual([
        'ResourceQuota quota',
        'ConfigMap fixed (protected: others may not write it; drift: Strict)',
        'ConfigMap shared-out (fields that rotator set are left to them)',
        'ConfigMap ca (a copy of ConfigMap ca in namespace shared)',
      ])
      // Its condition is judged again with what is chosen.
      await page.getByRole('combobox', { name: 'size' }).selectOption('large')
      await preview.getByText('ConfigMap only-large').waitFor()
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByText('It is ready, done').waitFor()
      await page.goto(at('/namespaces/team-a/objects'))
      const tree = page.getByRole('region', { name: 'Template map' })
      const row = (name: string) => tree.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) })
      await row('fixed').getByRole('img', { name: 'protected by template map' }).waitFor()
      await row('ca').waitFor()
      await row('only-large').waitFor()
      expect(await row('ca').getByRole('img').count()).toBe(0)
    })

    test('a plan says what a condition, a protection and a copy would come to in each namespace', async () => {
      await page.goto(at('/new/template'))
      const editor = page.getByRole('textbox', { name: 'Template' })
      await editor.click()
      await page.keyboard.press('ControlOrMeta+a')
      const text = JSON.stringify({
        apiVersion: 'policy.borough.dev/v1alpha1',
        kind: 'NamespaceTemplate',
        metadata: { name: 'second' },
        spec: {
          namespaces: { nameSelector: { include: ['new', 'team-a'] } },
          parameters: [{ name: 'size', fromLabel: 'example.com/size', default: 'small' }],
          objects: [
            { when: "params.size == 'large'", template: configMap('for-large') },
            { template: configMap('kept'), protect: true },
            { cloneFrom: { namespace: 'shared', apiVersion: 'v1', kind: 'ConfigMap', name: 'gone' } },
          ],
        },
      })
      // As people replace a text: by pasting.
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
      await page.keyboard.press('ControlOrMeta+v')
      await page.getByRole('button', { name: 'Plan' }).click()
      await page
        .getByRole('heading', { name: 'The new template selects 2 namespaces, and 2 namespaces would change' })
        .waitFor()
      const of = (name: string) => page.getByRole('article').filter({ has: page.getByRole('heading', { name }) })
      const refused =
        'refused ConfigMap/gone SourceMissing: ConfigMap gone in namespace "shared", its source, is not there: ' +
        'restore it, with its annotation policy.borough.dev/clone-to, or take it out of the template'
      expect(await of('In 1 namespace: team-a').getByRole('listitem').allTextContents()).toEqual([
        refused,
        'create ConfigMap/for-large',
        'create ConfigMap/kept',
      ])
      expect(await of('In 1 namespace: new').getByRole('listitem').allTextContents()).toEqual([
        refused,
        'create ConfigMap/kept',
      ])
      expect(admin.faults).toEqual([])
    })
  },
)
