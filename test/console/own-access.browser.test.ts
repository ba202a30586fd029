/** A plain member, who may read no ClusterRoles: what they may do, why they may not, and what to do next. */
import type { Browser } from 'playwright-core'
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

const apiGroup = 'rbac.authorization.k8s.io'
const roles = { group: apiGroup, version: 'v1', resource: 'roles' }
const markup = '<img src=x onerror="document.title=1">'

const bind = (client: Client, user: string, kind: string, name: string) =>
  client.create(
    { ...roles, resource: 'rolebindings' },
    {
      metadata: { namespace: 'shop', name: `${name}-${user}` },
      roleRef: { apiGroup, kind, name },
      subjects: [{ apiGroup, kind: 'User', name: user }],
    },
  )

async function furnish(client: Client): Promise<void> {
  await client.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata: { name: 'shop' } })
  const rules = [
    { verbs: ['get', 'list', 'watch'], apiGroups: [apiGroup], resources: ['roles', 'rolebindings'] },
    { verbs: ['get'], apiGroups: ['example.com'], resources: [markup], resourceNames: ['turned\u202eback'] },
  ]
  await client.create(roles, { metadata: { namespace: 'shop', name: 'looks' }, rules })
  await bind(client, 'mia', 'ClusterRole', 'edit')
  await bind(client, 'mia', 'Role', 'looks')
  await bind(client, 'boss', 'ClusterRole', 'admin')
}

describe.skipIf(noBrowser !== undefined)(
  `what one may do oneself${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    const opened = new AsyncDisposableStack()
    let world: ConsoleWorld
    let browser: Browser
    let mia: Visit

    const open = async (user: string): Promise<Visit> => {
      const { address, origin } = await world.consoleFor(user)
      const visited = await visit(browser, address)
      await visited.page.goto(`${origin}/namespaces/shop/access`)
      return visited
    }
    const ask = async ({ page }: Visit, verb: string, resource: string, user = ''): Promise<void> => {
      await page.getByRole('combobox', { name: 'Verb' }).selectOption(verb)
      await page.getByRole('textbox', { name: 'Resource' }).fill(resource)
      await page.getByRole('textbox', { name: 'User' }).fill(user)
      await page.getByRole('button', { name: 'Ask', exact: true }).click()
    }

    beforeAll(async () => {
      browser = await startBrowser()
      opened.defer(() => browser.close())
      world = opened.use(await startConsoleWorld())
      await furnish(world.plane.client)
      mia = await open('mia')
    })
    afterAll(() => opened.disposeAsync())

    const own = () => mia.page.getByRole('region', { name: 'What you may do here' })

    test('a member sees what they may do, though they may read no ClusterRoles', async () => {
      await mia.page.getByText('You may not read ClusterRoles.').waitFor()
      const bindings = own()
        .getByRole('row')
        .filter({ hasText: `rolebindings, roles of ${apiGroup}` })
      expect(await bindings.getByRole('cell').allTextContents()).toEqual(['get, list, watch', 'any'])
      const hostile = own().getByRole('row').filter({ hasText: markup })
      await hostile.getByText('turned\\u202eback').waitFor()
      expect(await mia.page.locator('main img').count()).toBe(0)
      expect(await axeFaults(mia.page)).toEqual([])
    })

    test('a refusal says whom to ask and with what, and what was given is seen when asked again', async () => {
      const { client } = world.plane
      await ask(mia, 'create', 'resourcequotas')
      await mia.page.getByText('mia may not create resourcequotas.').waitFor()
      await mia.page.getByText('The server says: not allowed').waitFor()
      await mia.page.getByRole('heading', { name: 'What to do next' }).waitFor()
      const boss = mia.page.getByRole('listitem').filter({ hasText: 'User boss' })
      await boss.getByText('RoleBinding/admin-boss of ClusterRole/admin').waitFor()
      await mia.page.getByText('kubectl auth can-i create resourcequotas -n shop').waitFor()
      const name = 'create-resourcequotas-mia'
      await mia.page.getByText(`kubectl create role ${name} --verb=create --resource=resourcequotas -n shop`).waitFor()
      expect(await axeFaults(mia.page)).toEqual([])
      const rules = [{ verbs: ['create'], apiGroups: [''], resources: ['resourcequotas'] }]
      await client.create(roles, { metadata: { namespace: 'shop', name }, rules })
      await bind(client, 'mia', 'Role', name)
      await own().getByRole('button', { name: 'Refresh' }).click()
      // Of all else here they may read it too: quotas are of a row of their own now.
      await own().getByRole('rowheader', { name: 'resourcequotas of core', exact: true }).waitFor()
      await ask(mia, 'create', 'resourcequotas')
      await mia.page.getByText('mia may create resourcequotas.').waitFor()
      await mia.page.getByText('The server says: allowed').waitFor()
      expect(await mia.page.getByRole('heading', { name: 'What to do next' }).count()).toBe(0)
    })

    test('about others one asks who may ask, for this namespace alone too', async () => {
      await ask(mia, 'delete', 'pods', 'boss')
      await mia.page.getByText('You may not ask what others may do.').waitFor()
      await mia.page.getByText('kubectl auth can-i delete pods -n shop').waitFor()
      const boss = await open('boss')
      await ask(boss, 'create', 'limitranges', 'mia')
      await boss.page.getByText('mia may not create limitranges.').waitFor()
      await boss.page.getByText('kubectl auth can-i create limitranges -n shop').waitFor()
      await ask(boss, 'delete', 'pods', 'mia')
      await boss.page.getByText('mia may delete pods.').waitFor()
      await boss.context.close()
    })

    test('an answer that is incomplete says so with the error, and of very many rows 500 are shown', async () => {
      const resourceRules = Array.from({ length: 620 }, (_, i) => ({
        ...{ verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: [`s${1000 + i}`] },
      }))
      const status = { resourceRules, nonResourceRules: [], incomplete: true, evaluationError: markup }
      await mia.page.route('**/selfsubjectrulesreviews', (route) => route.fulfill({ json: { status } }))
      await own().getByRole('button', { name: 'Refresh' }).click()
      await own().getByText('The server says that this is incomplete').waitFor()
      await own().getByText(markup).waitFor()
      expect(await own().getByRole('rowheader').count()).toBe(500)
      await own().getByRole('button', { name: 'Show 120 more of 120' }).click()
      await own().getByText('s1619').waitFor()
      await mia.page.unroute('**/selfsubjectrulesreviews')
      await own().getByRole('button', { name: 'Refresh' }).click()
      await own().getByText('The server says that this is incomplete').waitFor({ state: 'detached' })
    })

    test('axe finds nothing where it is narrow and dark, and nothing is cut off', async () => {
      await mia.page.emulateMedia({ colorScheme: 'dark' })
      await mia.page.setViewportSize({ width: 360, height: 740 })
      await ask(mia, 'create', 'limitranges')
      await mia.page.getByRole('heading', { name: 'What to do next' }).waitFor()
      expect(await axeFaults(mia.page)).toEqual([])
      expect(await cutOff(mia.page)).toEqual([])
      expect(await mia.page.title()).toBe('shop · Borough')
    })
  },
)
