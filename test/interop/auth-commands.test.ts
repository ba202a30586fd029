/** `kubectl auth`: can-i, whoami, reconcile, and `--as`, with every kubectl there is. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { Binding, Role } from '../../src/kube/rbac.ts'
import { clusterRoleBindingsResource, clusterRolesResource, roleBindingsResource } from '../../src/kube/rbac.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { allow, clusterRole, clusterRoleBinding, roleBinding, user } from '../support/fake-rbac-source.ts'
import { describeEachKubectl, KubectlSession } from './kubectl.ts'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane({ port: 0, population: false })
})
afterAll(() => plane[Symbol.asyncDispose]())

const file = (...objects: object[]): string => objects.map((object) => stringify(object)).join('---\n')

describeEachKubectl((kubectl) => {
  const name = `rec-${kubectl.minor}`
  const fresh = `fresh-${kubectl.minor}`
  const about = (verbs: string, roleName: string, ...users: string[]): string =>
    file(
      clusterRole(name, allow(verbs, '', 'pods')),
      clusterRoleBinding(name, roleName, ...users.map(user)),
      roleBinding(fresh, name, `ClusterRole/${name}`, user('u')),
    )
  const rules = async (): Promise<unknown> => ((await plane.client.get(clusterRolesResource, { name })) as Role).rules
  const binding = async (): Promise<Binding> =>
    (await plane.client.get(clusterRoleBindingsResource, { name })) as Binding

  test('auth reconcile makes, adds, takes away and makes anew, as it says', async () => {
    await using session = await KubectlSession.open(kubectl, plane.kubeconfig)
    const reconcile = async (text: string, ...flags: string[]): Promise<string> => {
      const ran = await session.run(['auth', 'reconcile', '-f', '-', ...flags], { input: text })
      expect(ran.code, ran.transcript).toBe(0)
      return ran.stdout + ran.stderr
    }
    expect(await reconcile(about('get', name, 'u'))).toContain('reconciliation required create')
    expect((await plane.client.get(roleBindingsResource, { name, namespace: fresh })).metadata.name).toBe(name)

    const added = await reconcile(about('list', name, 'v'))
    expect(added).toContain('missing rules added')
    expect(await rules()).toEqual([allow('get', '', 'pods'), allow('list', '', 'pods')])
    expect((await binding()).subjects?.map((s) => s.name)).toEqual(['u', 'v'])

    const extra = ['--remove-extra-permissions', '--remove-extra-subjects']
    expect(await reconcile(about('list', name, 'v'), ...extra)).toContain('extra subjects removed')
    expect(await rules()).toEqual([allow('list', '', 'pods')])
    expect((await binding()).subjects?.map((s) => s.name)).toEqual(['v'])

    const before = (await binding()).metadata.uid
    expect(await reconcile(about('list', 'view', 'v'))).toContain('reconciliation required recreate')
    expect((await binding()).roleRef.name).toBe('view')
    expect((await binding()).metadata.uid).not.toBe(before)
  })

  test('attack: auth reconcile by who may write roles gives nothing that they do not hold', async () => {
    const who = `writer-${kubectl.minor}`
    await plane.client.create(
      clusterRolesResource,
      clusterRole(
        who,
        allow('get,create,update,delete', 'rbac.authorization.k8s.io', '*'),
        allow('get,list', '', 'namespaces'),
      ),
    )
    await plane.client.create(clusterRoleBindingsResource, clusterRoleBinding(who, who, user(who)))
    await using session = await KubectlSession.open(kubectl, plane.kubeconfigFor(who))
    const input = file(clusterRole(`${who}-more`, allow('*', '*', '*')))
    const ran = await session.run(['auth', 'reconcile', '-f', '-'], { input })
    expect(ran.code, ran.transcript).not.toBe(0)
    expect(ran.stderr).toContain('attempting to grant RBAC permissions not currently held')
  })

  test('auth can-i --list shows the rules of somebody in a namespace, those of groups and names included', async () => {
    await using session = await KubectlSession.open(kubectl, plane.kubeconfig)
    const who = `can-${kubectl.minor}`
    const rule = { ...allow('get', '', 'secrets', 'db'), resourceNames: ['db'] }
    await plane.client.create(clusterRolesResource, clusterRole(who, rule))
    await plane.client.create(roleBindingsResource, roleBinding('default', who, `ClusterRole/${who}`, user(who)))
    const here = await session.run(['auth', 'can-i', '--list', '--as', who, '-n', 'default'])
    expect(here.stdout, here.transcript).toMatch(/^secrets +\[\] +\[db\] +\[get\]$/m)
    expect(here.stdout).toMatch(/^selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]$/m)
    expect(here.stdout).toMatch(/^ +\[\/version\] +\[\] +\[get\]$/m)
    const there = await session.run(['auth', 'can-i', '--list', '--as', who, '-n', 'kube-system'])
    expect(there.stdout).not.toContain('secrets')
    for (const [args, code] of [
      [['get', 'secrets/db', '-n', 'default'], 0],
      [['get', 'secrets', '-n', 'default'], 1],
      [['get', 'secrets/db', '-n', 'kube-system'], 1],
      [['get', '/version'], 0],
      [['get', '/metrics'], 1],
    ] as const) {
      const ran = await session.run(['auth', 'can-i', ...args, '--as', who])
      expect(ran.code, ran.transcript).toBe(code)
    }
  })

  test.runIf(kubectl.minor >= 28)('auth whoami shows whom one is taken for, uid and groups included', async () => {
    await using session = await KubectlSession.open(kubectl, plane.kubeconfig)
    const as = ['--as', 'anna', '--as-group', 'devs', '--as-uid', '17']
    const ran = await session.run(['auth', 'whoami', ...as, '-o', 'jsonpath={.status.userInfo}'])
    expect(ran.code, ran.transcript).toBe(0)
    expect(JSON.parse(ran.stdout)).toEqual({ username: 'anna', uid: '17', groups: ['devs', 'system:authenticated'] })
  })

  test('--as with constrained rights: this user, for this verb, and nothing else', async () => {
    const who = `helper-${kubectl.minor}`
    const identity = allow('impersonate:user-info', 'authentication.k8s.io', 'users', 'anna')
    const action = allow('impersonate-on:user-info:list', '', 'configmaps')
    // kubectl asks for discovery in the other's name as well.
    const discovery = {
      verbs: ['impersonate-on:user-info:get'],
      nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*'],
    }
    await plane.client.create(clusterRolesResource, clusterRole(who, identity, action, discovery))
    await plane.client.create(clusterRoleBindingsResource, clusterRoleBinding(who, who, user(who)))
    const anna = `anna-${kubectl.minor}`
    await plane.client.create(roleBindingsResource, roleBinding('default', anna, 'ClusterRole/edit', user('anna')))
    await using session = await KubectlSession.open(kubectl, plane.kubeconfigFor(who))
    const attempt = async (...args: string[]): Promise<string> => {
      const ran = await session.run([...args, '-n', 'default'])
      return ran.code === 0 ? 'allowed' : ran.stderr
    }
    expect(await attempt('get', 'configmaps', '--as', 'anna')).toBe('allowed')
    expect(await attempt('get', 'configmaps')).toContain('cannot list resource "configmaps"')
    expect(await attempt('get', 'secrets', '--as', 'anna')).toContain('cannot impersonate-on:user-info:list resource')
    expect(await attempt('get', 'configmaps', '--as', 'root')).toContain(
      'cannot impersonate:user-info resource "users"',
    )
  })
})
