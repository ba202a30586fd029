#!/usr/bin/env node
/**
 * Takes the pictures of the console that the documents show: a server with teams and templates, a console, a browser.
 *
 *   node tools/console-pictures.ts [FOLDER]          default: docs/pictures
 *   node tools/console-pictures.ts --every FOLDER    every page, light and dark, wide and narrow: to be looked at
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Client } from '../src/client/client.ts'
import { noBrowser, startBrowser, startConsoleWorld, visit } from '../test/support/console-world.ts'

const { values, positionals } = parseArgs({ options: { every: { type: 'boolean' } }, allowPositionals: true })
const folder = positionals[0] ?? fileURLToPath(new URL('../docs/pictures', import.meta.url))
const rbac = 'rbac.authorization.k8s.io'
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { ...namespaces, resource: 'configmaps' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const teams = ['billing', 'catalog', 'checkout', 'delivery', 'identity', 'ledger', 'search', 'shop', 'support', 'web']
const dayMs = 86_400_000

const role = (name: string) => ({ apiGroup: rbac, kind: 'ClusterRole', name })
const user = (name: string) => ({ apiGroup: rbac, kind: 'User', name })

async function furnish(admin: Client, alice: Client): Promise<void> {
  await admin.create(templates, {
    metadata: { name: 'default' },
    spec: {
      namespaces: { nameSelector: { exclude: ['kube-*', 'default'] } },
      templates: [
        {
          apiVersion: 'v1',
          kind: 'ResourceQuota',
          metadata: { name: 'quota' },
          spec: {
            hard: { configmaps: '12', secrets: '20', pods: '50', 'requests.cpu': '20', 'requests.memory': '64Gi' },
          },
        },
        {
          apiVersion: `${rbac}/v1`,
          kind: 'RoleBinding',
          metadata: { name: 'owner' },
          roleRef: role('admin'),
          subjects: [user('$(CREATOR)')],
        },
        {
          apiVersion: 'networking.k8s.io/v1',
          kind: 'NetworkPolicy',
          metadata: { name: 'isolate' },
          spec: { podSelector: {}, policyTypes: ['Ingress'] },
        },
      ],
    },
  })
  await admin.create(templates, {
    metadata: { name: 'project' },
    spec: {
      namespaces: { labelSelector: { matchLabels: { kind: 'project' } } },
      parameters: [
        { name: 'size', fromLabel: 'example.com/size', enum: ['small', 'large'], default: 'small' },
        { name: 'costCentre', fromAnnotation: 'example.com/cost-centre', pattern: '[0-9]{4}', required: true },
      ],
      namespaceMetadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      expiry: { default: '720h' },
      templates: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'about' },
          data: { owner: '$(OWNER)', size: '$(size)', 'cost-centre': '$(costCentre)' },
        },
      ],
    },
  })
  await admin.create(
    { group: rbac, version: 'v1', resource: 'clusterrolebindings' },
    { metadata: { name: 'alice' }, roleRef: role('creates'), subjects: [user('alice')] },
  )
  await admin.create(
    { group: rbac, version: 'v1', resource: 'clusterroles' },
    {
      metadata: { name: 'creates' },
      rules: [
        { verbs: ['create'], apiGroups: [''], resources: ['namespaces'] },
        { verbs: ['get', 'list', 'watch'], apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'] },
      ],
    },
  )
  for (const [i, name] of teams.entries()) {
    const ends = new Date(Date.now() + (i + 2) * dayMs).toISOString()
    const annotations = i % 3 === 0 ? { 'borough.dev/expires-at': `${ends.slice(0, 19)}Z` } : {}
    await alice.create(namespaces, { metadata: { name, annotations, labels: { env: i % 2 === 0 ? 'prod' : 'dev' } } })
    for (let n = 0; n < (i * 7) % 11; n++) {
      await alice.create(configMaps, { metadata: { namespace: name, name: `settings-${n}` } })
    }
  }
  await alice.create(configMaps, {
    metadata: { namespace: 'ledger', name: 'archive', finalizers: ['backup.example.com/done'] },
  })
  await admin.delete(namespaces, { name: 'ledger' })
}

if (noBrowser !== undefined) throw new Error(noBrowser)
mkdirSync(folder, { recursive: true })
await using world = await startConsoleWorld()
const { plane } = world
await furnish(plane.client, plane.clientAs('alice'))
await using browser = await startBrowser()
const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, viewport: { width, height: 900 } })),
)
if (values.every) await takeEvery()
else await takeShown()

/** Of the administrator, who sees all. */
async function takeEvery(): Promise<void> {
  const tabs = ['', '/objects', '/access', '/events', '/delete'].map((tab) => `/namespaces/shop${tab}`)
  const ofTemplates = [...['', '/default', '/default/edit'].map((view) => `/templates${view}`), '/map', '/new/template']
  const paths = ['/namespaces', '/namespaces?q=none', '/new/namespace', ...tabs, '/namespaces/ledger', ...ofTemplates]
  const served = await world.consoleFor('root', ['system:masters'])
  const { page, context } = await visit(browser, served.address)
  for (const { colorScheme, viewport } of looks) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize(viewport)
    for (const path of [...paths, '/nothing']) {
      await page.goto(`${served.origin}${path}`)
      await page.locator('.panel, .grid, .empty').first().waitFor()
      // What is asked for after the first view comes meanwhile.
      await page.waitForTimeout(700)
      const name = path.replaceAll(/\W+/g, '-').slice(1)
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${viewport.width}.png`) })
    }
  }
  await context.close()
}

async function takeShown(): Promise<void> {
  const size = { viewport: { width: 1180, height: 640 } }
  const alice = await visit(browser, (await world.consoleFor('alice')).address, size)
  const admin = await visit(browser, (await world.consoleFor('root', ['system:masters'])).address, {
    ...size,
    colorScheme: 'dark',
  })

  const take = (name: string, of: typeof alice) => of.page.screenshot({ path: join(folder, `${name}.png`) })
  const go = (of: typeof alice, path: string) => of.page.goto(new URL(path, of.page.url()).href)

  await alice.page.getByRole('meter').nth(8).waitFor()
  await take('my-namespaces', alice)
  await go(alice, '/new/namespace')
  await alice.page.getByRole('textbox', { name: 'Name' }).fill('payments')
  await alice.page.getByRole('combobox', { name: 'Template' }).selectOption('project')
  await alice.page.getByRole('textbox', { name: 'costCentre' }).fill('4711')
  await alice.page.getByText('ConfigMap about').click()
  await take('create', alice)
  await go(admin, '/namespaces/ledger')
  await admin.page.getByRole('button', { name: 'Remove finalizer' }).waitFor()
  await take('why', admin)
  await go(admin, '/templates/default/edit')
  await admin.page.getByText('"12"').click()
  await admin.page.keyboard.press('End')
  await admin.page.keyboard.press('Backspace')
  await admin.page.keyboard.type('0"')
  await admin.page.getByRole('button', { name: 'Plan' }).click()
  await admin.page.getByRole('heading', { name: /It selects/ }).waitFor()
  await take('plan', admin)
}
