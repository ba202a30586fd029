/** `borough why-denied` and `?explain`: who is told what would have allowed a refused request, and who is not. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clusterRoleBindingsResource, clusterRolesResource, roleBindingsResource } from '../../src/kube/rbac.ts'
import type { Status } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { allow, clusterRole, clusterRoleBinding, group, roleBinding, user } from '../support/fake-rbac-source.ts'
import { failure } from '../support/refusal.ts'
import { send } from '../support/send.ts'
import { borough } from './borough-process.ts'

let folder: string
let plane: TestControlPlane

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-why-denied-'))
  plane = await startControlPlane({ port: 0, population: false })
  await plane.client.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata: { name: 'team' } })
  for (const [resource, object] of [
    [roleBindingsResource, roleBinding('team', 'devs', 'ClusterRole/edit', group('devs'))],
    [roleBindingsResource, roleBinding('team', 'bosses', 'ClusterRole/admin', user('boss'))],
    [clusterRolesResource, clusterRole('rbac-reader', allow('list', 'rbac.authorization.k8s.io', '*'))],
    [clusterRoleBindingsResource, clusterRoleBinding('auditors', 'rbac-reader', user('audrey'))],
  ] as const) {
    await plane.client.create(resource, object)
  }
  await writeFile(join(folder, 'admin'), plane.kubeconfig)
  await writeFile(join(folder, 'audrey'), plane.kubeconfigFor('audrey'))
  await writeFile(join(folder, 'boss'), plane.kubeconfigFor('boss'))
  await writeFile(join(folder, 'dev1'), plane.kubeconfigFor('dev1'))
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const ask = (kubeconfig: string, ...args: string[]) =>
  borough(['why-denied', ...args, '--kubeconfig', join(folder, kubeconfig)])

describe('borough why-denied', () => {
  test('tells an administrator about a user: who may, which roles would do, and the command', async () => {
    const { code, stdout, stderr } = await ask('admin', 'get', 'secrets', 'db', '-n', 'team', '--user', 'dev1')
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    expect(stdout).toContain('dev1 may not get secrets db in namespace team.\n')
    expect(stdout).toContain('  RoleBinding "devs/team" of ClusterRole edit: Group "devs"\n')
    expect(stdout).toMatch(/^ {2}ClusterRole edit$/m)
    expect(stdout).not.toMatch(/^ {2}ClusterRole view$/m)
    const help = /^ {2}kubectl create rolebinding \S+ -n team --clusterrole=(\S+) --user=dev1$/m.exec(stdout)
    expect(help, stdout).not.toBeNull()
  })

  test('says yes where the groups of the user make it so, and why', async () => {
    const args = ['create', 'cm', '-n', 'team', '--user', 'dev1', '--group', 'devs']
    const { code, stdout } = await ask('admin', ...args)
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        'dev1 may create configmaps in namespace team.\n' +
        '  RBAC: allowed by RoleBinding "devs/team" of ClusterRole "edit" to Group "devs"\n',
    })
  })

  test('tells an admin of a namespace about a user in that namespace, and in no other', async () => {
    const { code, stdout, stderr } = await ask('boss', 'get', 'secrets', '-n', 'team', '--user', 'dev1')
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    expect(stdout).toContain('dev1 may not get secrets in namespace team.\n')
    const elsewhere = await ask('boss', 'get', 'secrets', '-n', 'default', '--user', 'dev1')
    expect(elsewhere.code).toBe(1)
    expect(elsewhere.stderr).toMatch(/^borough: subjectaccessreviews.authorization.k8s.io is forbidden: /)
  })

  test('tells oneself, with all that one may read', async () => {
    const { code, stdout } = await ask('audrey', 'list', 'configmaps', '-n', 'team', '-o', 'json')
    expect(code).toBe(2)
    const answer = JSON.parse(stdout)
    expect(answer.user.username).toBe('audrey')
    expect(answer.explanation.bindings.map((b: { name: string }) => b.name)).toContain('devs')
    expect(answer.explanation.unread).toEqual([])
  })

  test('attack: asked by who may not read RBAC, it names no binding and no role', async () => {
    const { code, stdout } = await ask('dev1', 'list', 'configmaps', '-n', 'team')
    expect(code).toBe(2)
    expect(stdout).toContain('dev1 may not list configmaps in namespace team.')
    expect(stdout).toContain('rolebindings.rbac.authorization.k8s.io (you may not list them)')
    expect(stdout).not.toContain('devs')
    expect(stdout).not.toContain('edit')
  })

  test('attack: asked about somebody else by who may not ask, it is refused in one line', async () => {
    const { code, stdout, stderr } = await ask('dev1', 'list', 'configmaps', '--user', 'audrey')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^borough: subjectaccessreviews.authorization.k8s.io is forbidden: [^\n]*\n$/)
  })

  test.each([
    {
      name: 'in a namespace',
      args: ['delete', 'namespaces', 'team', '--user', 'dev1'],
      says: 'dev1 may not delete namespaces team.\n',
      helps: {
        title: 'What helps: a Role of this rule in namespace team, bound to the user',
        rule: { verbs: ['delete'], apiGroups: [''], resources: ['namespaces'], resourceNames: ['team'] },
      },
    },
    {
      name: 'at the cluster scope, where a namespace was named to no purpose',
      args: ['deletecollection', 'namespaces', '-n', 'team', '--user', 'dev1'],
      says: 'dev1 may not deletecollection namespaces at the cluster scope.\n',
      helps: {
        title: 'What helps: a ClusterRole of this rule, bound to the user',
        rule: { verbs: ['deletecollection'], apiGroups: [''], resources: ['namespaces'] },
      },
    },
    {
      name: 'of a sub-resource',
      args: ['patch', 'nodes/status', 'n1', '--user', 'dev1'],
      says: 'dev1 may not patch nodes/status n1 at the cluster scope.\n',
      helps: {
        title: 'What helps: a ClusterRole of this rule, bound to the user',
        rule: { verbs: ['patch'], apiGroups: [''], resources: ['nodes/status'], resourceNames: ['n1'] },
      },
    },
    {
      name: 'of a path',
      args: ['get', '/metrics', '--user', 'dev1'],
      says: 'dev1 may not get /metrics.\n',
      helps: {
        title: 'What helps: a ClusterRole of this rule, bound to the user',
        rule: { verbs: ['get'], nonResourceURLs: ['/metrics'] },
      },
    },
  ])('where only cluster-admin and the system allow it, the narrowest rule is what helps: $name', async (row) => {
    const { code, stdout } = await ask('admin', ...row.args)
    expect(code).toBe(2)
    expect(stdout.startsWith(row.says), stdout).toBe(true)
    expect(stdout).toContain('  ClusterRole cluster-admin\n')
    expect(stdout).not.toContain('kubectl create')
    expect(stdout.endsWith(`\n\n${row.helps.title}\n  ${JSON.stringify(row.helps.rule)}\n`), stdout).toBe(true)
  })

  test('a name behind a slash is a sub-resource, and one that is not served is pointed out', async () => {
    const { code, stdout } = await ask('admin', 'get', 'namespaces/team', '--user', 'dev1')
    expect(code).toBe(2)
    expect(stdout).toContain(
      'dev1 may not get namespaces/team at the cluster scope.\nThe server serves no sub-resource "team" of ' +
        'namespaces. If that is the name of an object, leave a blank before it: namespaces team\n',
    )
    const served = await ask('admin', 'update', 'namespaces/finalize', 'team', '--user', 'dev1')
    expect(served.stdout).not.toContain('serves no sub-resource')
  })

  test('a resource that is not there is said', async () => {
    const { code, stderr } = await ask('admin', 'list', 'frobs')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'borough: the server has no resource "frobs"; use its plural or short name, as in pods or po\n',
    })
  })
})

describe('?explain', () => {
  const path = '/api/v1/namespaces/team/configmaps'
  const refusal = async (query: string, username: string, headers: Record<string, string> = {}): Promise<Status> => {
    const { code, body } = await send(plane, path + query, {
      user: { username, groups: ['system:authenticated'] },
      headers,
    })
    expect(code).toBe(403)
    return body as Status
  }

  test('adds to a refusal what would have allowed it, and leaves the message as it is', async () => {
    const plain = await refusal('', 'audrey')
    const explained = await refusal('?explain', 'audrey')
    expect(explained.message).toBe(plain.message)
    expect(plain.details?.causes).toBeUndefined()
    expect(explained.details?.causes).toContainEqual({
      reason: 'Explanation',
      message: 'RoleBinding "devs/team" of ClusterRole "edit" allows it to Group "devs"',
    })
    expect(await refusal('?explain=false', 'audrey')).toEqual(plain)
  })

  test('attack: asking for an explanation shows nothing of RBAC to who may not read it', async () => {
    const causes = ['rolebindings', 'clusterrolebindings', 'roles', 'clusterroles'].map((resource) => ({
      reason: 'Explanation',
      message: `${resource}.rbac.authorization.k8s.io can't be listed by who asks`,
    }))
    expect(await refusal('?explain', 'dev1')).toEqual(
      failure({
        message:
          'configmaps is forbidden: User "dev1" cannot list resource "configmaps" in API group "" in the ' +
          'namespace "team"',
        reason: 'Forbidden',
        details: { kind: 'configmaps', causes },
        code: 403,
      }),
    )
  })
})
