/** The console before clusters that are not Borough, with `borough populate` beside them. */
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { openRemote } from '../../src/client/remote.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { PopulateProcess } from '../interop/populate-process.ts'
import { axeFaults, consoleOf, noBrowser, startBrowser, type Visit, visit } from '../support/console-world.ts'
import { noUpstream, UpstreamCluster } from '../support/upstream-cluster.ts'

interface OtherCluster extends AsyncDisposable {
  kubeconfigFor(user: string): string
}

const clusters: readonly {
  readonly name: string
  readonly missing: string | undefined
  start(): Promise<OtherCluster>
}[] = [
  {
    name: 'Borough without population',
    missing: noBrowser,
    async start() {
      const plane = await startControlPlane({
        port: 0,
        population: false,
        featureGates: { NamespaceInitializers: false },
      })
      return {
        kubeconfigFor: (user) => (user === 'admin' ? plane.kubeconfig : plane.kubeconfigFor(user)),
        [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose](),
      }
    },
  },
  {
    name: 'kube-apiserver',
    missing: noBrowser ?? noUpstream,
    start: () => UpstreamCluster.start([{ name: 'alice', groups: [] }]),
  },
]

const rbac = 'rbac.authorization.k8s.io'
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { ...namespaces, resource: 'configmaps' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const roles = { group: rbac, version: 'v1', resource: 'roles' }
const alice = [{ apiGroup: rbac, kind: 'User', name: 'alice' }]

async function furnish(client: Client): Promise<void> {
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'about' }, data: { size: '$(size)' } }
  const binding = {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'owner' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: '$(OWNER)' }],
  }
  const templateOf = (name: string, include: string, spec: object): Promise<unknown> =>
    client.create(templates, {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name },
      spec: { namespaces: { nameSelector: { include: [include] } }, ...spec },
    })
  await templateOf('team', 'team-*', {
    parameters: [{ name: 'size', fromLabel: 'example.com/size', enum: ['small', 'large'], required: true }],
    namespaceMetadata: { labels: { 'example.com/plan': '$(size)' } },
    expiry: { default: '720h' },
    templates: [configMap, binding],
  })
  await templateOf('stuck', 'stuck-*', {
    templates: [{ apiVersion: 'example.com/v1', kind: 'Unserved', metadata: { name: 'x' } }],
  })
  const rules = [{ verbs: ['create'], apiGroups: [''], resources: ['namespaces'] }]
  await client.create({ ...roles, resource: 'clusterroles' }, { metadata: { name: 'creates' }, rules })
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'creates' }
  await client.create(
    { ...roles, resource: 'clusterrolebindings' },
    { metadata: { name: 'creates' }, roleRef, subjects: alice },
  )
  for (const name of ['shown', 'open', 'closed']) await client.create(namespaces, { metadata: { name } })
  const bind = (namespace: string, kind: string, name: string): Promise<unknown> =>
    client.create(
      { ...roles, resource: 'rolebindings' },
      { metadata: { namespace, name }, roleRef: { apiGroup: rbac, kind, name }, subjects: alice },
    )
  await bind('shown', 'ClusterRole', 'view')
  const reads = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] }]
  await client.create(roles, { metadata: { namespace: 'open', name: 'reads' }, rules: reads })
  await bind('open', 'Role', 'reads')
}

describe.each(clusters)('$name with borough populate', ({ missing, start }) => {
  describe.skipIf(missing !== undefined)(missing === undefined ? 'in a browser' : `(skipped: ${missing})`, () => {
    let running: AsyncDisposableStack
    let client: Client
    let admin: Visit
    let hers: Visit
    let at: (path: string) => string

    beforeAll(async () => {
      await using starting = new AsyncDisposableStack()
      const folder = await mkdtemp(join(tmpdir(), 'elsewhere-'))
      starting.defer(() => rm(folder, { recursive: true, force: true }))
      const cluster = starting.use(await start())
      const fileFor = (user: string, change = (text: string) => text): string => {
        const path = join(folder, `${user}.kubeconfig`)
        writeFileSync(path, change(cluster.kubeconfigFor(user)), { mode: 0o600 })
        return path
      }
      const kubeconfigPath = fileFor('admin')
      client = openRemote({ kubeconfigPath, userAgent: 'test' }).client
      starting.use(await PopulateProcess.start(kubeconfigPath))
      await furnish(client)
      const browser: Browser = await startBrowser()
      starting.defer(() => browser.close())
      const served = starting.use(await consoleOf(kubeconfigPath))
      admin = await visit(browser, served.address)
      at = (path) => `${served.origin}${path}`
      const named = (text: string): string => text.replace('  context:\n', '  context:\n    namespace: shown\n')
      hers = await visit(browser, starting.use(await consoleOf(fileFor('alice', named))).address)
      running = starting.move()
    }, 180_000)
    afterAll(async () => {
      await running?.disposeAsync()
    })

    const rowOf = (page: Page, name: string) =>
      page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })

    test('without own namespaces those that are named are shown, each as a review says', async () => {
      const { page } = hers
      await page.goto(new URL('/namespaces', page.url()).href)
      await rowOf(page, 'shown').getByText('Active').waitFor()
      expect(await page.getByRole('grid').getByRole('link').allTextContents()).toEqual(['shown'])
      await page.getByText('The server does not list namespaces to you.').click()
      await page.getByText('User "alice" cannot list resource "namespaces"').waitFor()
      for (const name of ['open', 'closed']) {
        await page.getByRole('textbox', { name: 'Name of a namespace' }).fill(name)
        await page.getByRole('button', { name: 'Add' }).click()
      }
      await rowOf(page, 'open').getByText('Open to you').waitFor()
      await rowOf(page, 'closed').getByText('No access').waitFor()
      await rowOf(page, 'open').getByRole('link').click()
      await page.getByRole('link', { name: 'Objects' }).click()
      await page.getByText('kube-root-ca.crt', { exact: true }).waitFor()
    })

    test('the form asks for what the webhooks ask for, and shows what they make of it', async () => {
      const { page, faults } = hers
      await page.goto(new URL('/new/namespace', page.url()).href)
      await page.getByRole('textbox', { name: 'Name' }).fill('team-a')
      await page
        .getByText(/Required value: parameter "size" of template "team"/)
        .first()
        .waitFor()
      await page.getByRole('textbox', { name: 'example.com/size' }).fill('large')
      const preview = page.getByRole('region', { name: 'What will be in it' })
      await preview.getByText('label example.com/plan: large by template team').waitFor()
      // She may not read templates: webhooks name their objects, policies do not, and that is not said to be none.
      await preview.getByText(/ConfigMap about|there may be some all the same/).waitFor()
      await preview.getByText('in 29d').waitFor()
      await preview.getByText('alice').waitFor()
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByText('It is ready, done').waitFor()
      await page.getByRole('listitem').filter({ hasText: 'about' }).waitFor()
      expect((await client.get(configMaps, { namespace: 'team-a', name: 'about' }))['data']).toEqual({ size: 'large' })
      // What one has made is known from then on.
      await page.getByRole('link', { name: 'My namespaces' }).click()
      await rowOf(page, 'team-a').getByText('Active').waitFor()
      expect(faults).toEqual([])
    })

    test('an administrator sees what a namespace would be given, templates, and whom they reach', async () => {
      const { page, faults } = admin
      await page.goto(at('/new/namespace'))
      await page.getByRole('textbox', { name: 'Name' }).fill('team-b')
      await page.getByRole('combobox', { name: 'size (required)' }).selectOption('small')
      const preview = page.getByRole('region', { name: 'What will be in it' })
      await preview.getByText('ConfigMap about').click()
      await preview.getByText('"size": "small"').waitFor()
      await page.goto(at('/templates/team'))
      await page.getByText('1 done').waitFor()
      await page.goto(at('/map?template=team'))
      await rowOf(page, 'team-a').getByText('complete').waitFor()
      expect(await axeFaults(page)).toEqual([])
      expect(faults).toEqual([])
    })

    test('an edit is planned by dry runs of the cluster, and rolls out', async () => {
      const { page } = admin
      await page.goto(at('/templates/team/edit'))
      await page.getByText('$(size)').last().click()
      await page.keyboard.press('End')
      await page.keyboard.type('-plus')
      await page.getByRole('button', { name: 'Plan' }).click()
      await page.getByRole('heading', { name: 'It selects 1 namespace, and 1 namespace would change' }).waitFor()
      const change = page.getByRole('listitem').filter({ hasText: 'change ConfigMap/about' })
      expect(await change.locator('ins').textContent()).toBe('"large-plus"')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Generation 2 has reached every selected namespace').waitFor()
    })

    test('why a namespace is not ready is said, with the way past its templates', async () => {
      await client.create(namespaces, { metadata: { name: 'stuck-a' } })
      const { page } = admin
      await page.goto(at('/namespaces/stuck-a'))
      await page.getByRole('heading', { name: 'Why it is not ready' }).waitFor()
      await page.getByRole('heading', { name: 'its templates could not give it all that it must have' }).waitFor()
      await page.getByText('Initializing', { exact: true }).first().waitFor()
      await page.getByRole('button', { name: 'Go on without its templates' }).click()
      await page.getByRole('button', { name: 'Yes, go on without its templates' }).click()
      await page.getByRole('heading', { name: 'Ready' }).waitFor()
    })

    test('why a namespace is not gone is said, with the button that lets it go', async () => {
      await client.create(namespaces, { metadata: { name: 'held' } })
      const held = { namespace: 'held', name: 'held', finalizers: ['backup.example.com/done'] }
      await client.create(configMaps, { metadata: held })
      const { page } = admin
      await page.goto(at('/namespaces/held/delete'))
      await page.getByText('ConfigMap held waits for backup.example.com/done').waitFor()
      await page.getByRole('textbox').fill('held')
      await page.getByRole('button', { name: 'Delete held' }).click()
      await page.getByRole('heading', { name: 'finalizer backup.example.com/done holds configmaps/held' }).waitFor()
      await page.getByRole('button', { name: 'Remove finalizer backup.example.com/done' }).click()
      await page.getByRole('button', { name: 'Yes, remove finalizer backup.example.com/done' }).click()
      // Upstream's controller comes back to it in its own time.
      await page.getByText('held is gone,').waitFor({ timeout: 90_000 })
    }, 180_000)
  })
})
