/** The command at the foot of every view of namespaces, run as it stands: it shows what the view shows. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { describeEachKubectl, kubectls } from '../interop/kubectl.ts'
import { main } from '../interop/serving-process.ts'
import { type ConsoleWorld, noBrowser, startBrowser, startConsoleWorld, visit } from '../support/console-world.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const configMaps = { ...namespaces, resource: 'configmaps' }
const rbac = 'rbac.authorization.k8s.io'
const roleBindings = { group: rbac, version: 'v1', resource: 'rolebindings' }
const carol = { apiGroup: rbac, kind: 'User', name: 'carol' }

async function furnish(client: Client): Promise<void> {
  await client.create(templates, {
    metadata: { name: 'careful' },
    spec: {
      namespaces: {
        labelSelector: { matchExpressions: [{ key: 'slow', operator: 'In', values: ['no', 'yes'] }] },
        nameSelector: { include: ['w*s'], exclude: ['way*'] },
        creatorSelector: { users: ['*'] },
      },
      templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'patience' }, data: {} }],
    },
  })
  await client.create(templates, {
    metadata: { name: 'project' },
    spec: {
      namespaces: { nameSelector: { include: ['shop'] } },
      templates: [
        { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'quota' }, spec: { hard: { configmaps: '7' } } },
        {
          apiVersion: 'v1',
          kind: 'LimitRange',
          metadata: { name: 'limits' },
          spec: { limits: [{ type: 'Container', default: { cpu: '510m' } }] },
        },
      ],
    },
  })
  const annotations = { 'borough.dev/owner': 'olga', 'borough.dev/expires-at': '2091-05-01T12:00:00Z' }
  await client.create(namespaces, { metadata: { name: 'shop', labels: { env: 'prod' }, annotations } })
  const owner = await client.create(configMaps, {
    metadata: { namespace: 'shop', name: 'keeper', finalizers: ['backup.example.com/done'] },
  })
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'keeper', uid: owner.metadata.uid ?? '' }]
  await client.create(configMaps, { metadata: { namespace: 'shop', name: 'kept', ownerReferences } })
  const rules = [{ verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] }]
  await client.create({ ...roleBindings, resource: 'roles' }, { metadata: { namespace: 'shop', name: 'looks' }, rules })
  for (const [kind, name] of Object.entries({ Role: 'looks', ClusterRole: 'view' })) {
    const roleRef = { apiGroup: rbac, kind, name }
    await client.create(roleBindings, { metadata: { namespace: 'shop', name }, roleRef, subjects: [carol] })
  }
  const involvedObject = { kind: 'ConfigMap', name: 'keeper', namespace: 'shop' }
  const event = { involvedObject, type: 'Warning', count: 41, lastTimestamp: '2026-11-22T10:00:00Z' }
  await client.create(
    { ...namespaces, resource: 'events' },
    { ...event, metadata: { namespace: 'shop', name: 'e' }, reason: 'Backup', message: 'the backup has not run' },
  )
  await client.create(
    { group: 'admissionregistration.k8s.io', version: 'v1alpha1', resource: 'namespaceinitializerconfigurations' },
    {
      metadata: { name: 'slow' },
      initializers: [
        { name: 'slow.example.com', namespaceSelector: { matchLabels: { slow: 'yes' } }, timeoutSeconds: 1800 },
      ],
    },
  )
  await client.create(
    namespaces,
    { metadata: { name: 'waits', labels: { slow: 'yes' } } },
    { includeUninitialized: true },
  )
  await client.create(namespaces, { metadata: { name: 'stuck' } })
  const held = { namespace: 'stuck', name: 'held', finalizers: ['backup.example.com/done'] }
  await client.create(configMaps, { metadata: held })
  await client.delete(namespaces, { name: 'stuck' })
}

/** Of each view: who looks, what the page shows and the command must, and what alone of these is not on the page. */
const views = [
  {
    who: 'root',
    path: '/namespaces',
    shows: ['shop', 'waits', 'stuck', 'Terminating', 'Initializing', 'olga', 'configmaps'],
    told: ['2091-05-01T12:00:00Z', '3/7'],
  },
  { who: 'root', path: '/namespaces?q=shop', shows: ['shop', 'olga'], told: ['2091-05-01T12:00:00Z', '3/7'] },
  {
    who: 'root',
    path: '/namespaces/shop',
    shows: [...['env=prod', 'olga', 'Active', '510m', 'configmaps', 'Backup', 'the backup has not run']],
    told: ['2091-05-01T12:00:00Z', '41'],
  },
  {
    who: 'root',
    path: '/namespaces/stuck',
    shows: ['Terminating', 'finalizer backup.example.com/done holds configmaps/held'],
    told: [],
  },
  { who: 'root', path: '/namespaces/waits', shows: ['Initializing', 'slow.example.com'], told: [] },
  {
    who: 'root',
    path: '/namespaces/shop/objects',
    shows: ['keeper', 'kept', 'ConfigMap', 'quota', 'limits', 'project', 'default', 'kube-root-ca.crt', 'looks'],
    told: [],
  },
  {
    who: 'root',
    path: '/namespaces/shop/access',
    shows: ['carol', 'Role/looks', 'ClusterRole/view', 'system:masters', 'ClusterRole/cluster-admin'],
    told: ['widgets.example.com', 'resourcequotas'],
  },
  {
    who: 'carol',
    path: '/namespaces/shop/access',
    shows: ['widgets', 'example.com'],
    told: ['widgets.example.com', 'configmaps'],
  },
  {
    who: 'root',
    path: '/namespaces/shop/events',
    shows: ['Backup', 'the backup has not run', '41'],
    told: ['Warning'],
  },
  {
    who: 'root',
    path: '/namespaces/shop/delete',
    shows: ['waits for backup.example.com/done'],
    told: ['keeper', 'kept', 'quota', 'looks'],
  },
  {
    who: 'root',
    path: '/namespaces/waits/birth',
    shows: ['waits', 'Initializing', 'slow.example.com', 'default', 'kube-root-ca.crt'],
    told: [],
  },
  {
    who: 'root',
    path: '/map',
    shows: ['shop', 'waits', 'Initializing', 'project', 'careful'],
    told: ['REACHED BY project\nshop\n', 'REACHED BY careful\nwaits\n'],
  },
  { who: 'root', path: '/map?template=project', shows: ['shop', 'Active'], told: ['REACHED BY project\nshop\n'] },
  { who: 'carol', path: '/namespaces?q=shop', shows: ['shop', 'Active'], told: ['3/7'] },
]

describe.skipIf(noBrowser !== undefined || kubectls.length === 0)(
  `commands to copy${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    const opened = new AsyncDisposableStack()
    let world: ConsoleWorld
    let folder: string
    const pages = new Map<string, { readonly page: Page; readonly origin: string; readonly kubeconfig: string }>()

    beforeAll(async () => {
      const browser: Browser = await startBrowser()
      opened.defer(() => browser.close())
      world = opened.use(await startConsoleWorld())
      folder = await mkdtemp(join(tmpdir(), 'commands-'))
      opened.defer(() => rm(folder, { recursive: true, force: true }))
      await furnish(world.plane.client)
      // As it is installed: by its name.
      writeFileSync(join(folder, 'borough'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
      chmodSync(join(folder, 'borough'), 0o755)
      for (const [who, groups] of Object.entries({ root: ['system:masters'], carol: [] as string[] })) {
        const served = await world.consoleFor(who, groups)
        const kubeconfig = join(folder, `${who}.kubeconfig`)
        writeFileSync(kubeconfig, world.plane.kubeconfigFor(who, groups), { mode: 0o600 })
        pages.set(who, { page: (await visit(browser, served.address)).page, origin: served.origin, kubeconfig })
      }
    })
    afterAll(() => opened.disposeAsync())

    /** As a user pastes it into a shell. */
    const run = (command: string, kubectl: string, kubeconfig: string): Promise<string> => {
      const home = join(folder, kubectl.replaceAll('/', '_'))
      mkdirSync(home, { recursive: true })
      const path = `${isAbsolute(kubectl) ? `${dirname(kubectl)}:` : ''}${folder}:${process.env['PATH']}`
      const env = { ...process.env, HOME: home, KUBECONFIG: kubeconfig, PATH: path }
      const shell = spawn('bash', ['-c', command], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      const said: Buffer[] = []
      for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk))
      return new Promise((resolve, reject) => {
        shell.once('error', reject)
        shell.once('close', () => resolve(Buffer.concat(said).toString()))
      })
    }

    describeEachKubectl((kubectl) => {
      test.each(views)('$who at $path', async ({ who, path, shows, told }) => {
        const at = pages.get(who)
        if (at === undefined) throw new Error(`${who} has no page`)
        await at.page.goto(`${at.origin}${path}`)
        for (const text of shows) await at.page.getByText(text).filter({ visible: true }).first().waitFor()
        const command = (await at.page.locator('.view-foot code').textContent()) ?? ''
        const said = await run(command, kubectl.path, at.kubeconfig)
        const missing = [...shows, ...told].filter((text) => !said.includes(text.replace(/^waits for /, '')))
        expect({ command, missing, said: missing.length === 0 ? '' : said }).toEqual({ command, missing: [], said: '' })
      })
    })
  },
)
