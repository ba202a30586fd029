/**
 * What the README promises, by every kubectl against `borough up` as a process of its own: who may create namespaces
 * does, finds them populated, works in them, deletes them; and a killed server has lost nothing it acknowledged.
 */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BoroughProcess, borough } from './borough-process.ts'
import { describeEachKubectl, KubectlSession, type Ran } from './kubectl.ts'

const examples = fileURLToPath(new URL('../../examples/security-defaults/', import.meta.url))

describeEachKubectl((kubectl) => {
  let server: BoroughProcess
  let admin: KubectlSession
  let dev1: KubectlSession

  beforeAll(async () => {
    server = await BoroughProcess.start()
    admin = await KubectlSession.open(kubectl, await server.adminKubeconfig())
  }, 120_000)

  afterAll(async () => {
    await dev1?.[Symbol.asyncDispose]()
    await admin?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  }, 120_000)

  const succeeds = async (running: Promise<Ran>): Promise<string> => {
    const ran = await running
    expect(ran.code, ran.transcript).toBe(0)
    return ran.stdout
  }

  test('the administrator applies the example, and applies it again', async () => {
    const template = 'namespacetemplate.policy.borough.dev/security-defaults'
    expect(await succeeds(admin.run(['apply', '-f', examples]))).toContain(`${template} created`)
    expect(await succeeds(admin.run(['apply', '-f', examples]))).toContain(`${template} unchanged`)
  }, 120_000)

  test.each(['namespacetemplates', 'namespacetemplate', 'nstpl'])(
    '%s is one kind, without a warning',
    async (word) => {
      const ran = await admin.run(['get', word, '-o', 'name'])
      const name = 'namespacetemplate.policy.borough.dev/security-defaults\n'
      expect(ran).toMatchObject({ code: 0, stderr: '', stdout: name })
    },
    120_000,
  )

  test('borough kubeconfig makes credentials for a developer', async () => {
    const made = await borough(['kubeconfig', '--user', 'dev1', '--group', 'devs', '--data-dir', server.dataDir])
    expect(made).toMatchObject({ code: 0, stderr: '' })
    dev1 = await KubectlSession.open(kubectl, made.stdout)
  }, 120_000)

  test('create namespace returns when it is populated', async () => {
    expect(await succeeds(dev1.run(['create', 'namespace', 'my-namespace']))).toBe('namespace/my-namespace created\n')
    const kinds = 'networkpolicies,rolebindings,resourcequotas,limitranges'
    const found = await succeeds(dev1.run(['-n', 'my-namespace', 'get', kinds, '-o', 'name']))
    expect(found.trim().split('\n').sort()).toEqual([
      'limitrange/default',
      'networkpolicy.networking.k8s.io/default',
      'resourcequota/default',
      'rolebinding.rbac.authorization.k8s.io/admin',
      'rolebinding.rbac.authorization.k8s.io/namespace-owner',
    ])
  }, 120_000)

  test('its creator may work in it, and nowhere else', async () => {
    const create = ['create', 'configmap', 'greeting', '--from-literal=hello=world']
    expect(await succeeds(dev1.run(['-n', 'my-namespace', ...create]))).toBe('configmap/greeting created\n')
    const elsewhere = await dev1.run(['-n', 'default', ...create])
    expect(elsewhere.code, elsewhere.transcript).toBe(1)
    expect(elsewhere.stderr).toContain('User "dev1" cannot create resource "configmaps"')
  }, 120_000)

  test('its creator may apply it from a file, and can not take off labels that others put there', async () => {
    const file = await dev1.write('applied.yaml', 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: applied\n')
    expect(await succeeds(dev1.run(['apply', '-f', file]))).toBe('namespace/applied created\n')
    expect(await succeeds(dev1.run(['apply', '-f', file]))).toBe('namespace/applied unchanged\n')
    const level = 'pod-security.kubernetes.io/enforce'
    await succeeds(admin.run(['label', 'namespace', 'applied', `${level}=restricted`]))
    const tried = await dev1.run(['label', 'namespace', 'applied', `${level}-`])
    expect(tried.code, tried.transcript).toBe(1)
    expect(tried.stderr).toContain('User "dev1" cannot patch resource "namespaces" in API group ""')
    expect(await succeeds(dev1.run(['delete', '-f', file]))).toBe('namespace "applied" deleted\n')
  }, 120_000)

  test('killed at work and started again, the server has everything it acknowledged', async () => {
    const acknowledged: string[] = []
    let killed = false
    let reachedHalf: () => void = () => {}
    const half = new Promise<void>((resolve) => {
      reachedHalf = resolve
    })
    // Each creates on until the server is gone: the kill falls into several of their requests.
    const creators = [0, 1, 2].map(async (creator) => {
      for (let i = 0; !killed; i++) {
        const name = `kept-${creator}-${i}`
        const { code } = await dev1.run(['-n', 'my-namespace', 'create', 'configmap', name, `--from-literal=a=${i}`])
        if (code !== 0) return
        acknowledged.push(name)
        if (acknowledged.length >= 8) reachedHalf()
      }
    })
    await Promise.race([half, Promise.all(creators)])
    expect(await server.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
    killed = true
    await Promise.all(creators)
    expect(acknowledged.length).toBeGreaterThanOrEqual(8)

    await server.start()
    const kept = await succeeds(dev1.run(['-n', 'my-namespace', 'get', 'configmaps', '-o', 'name']))
    for (const name of ['greeting', ...acknowledged]) expect(kept.split('\n')).toContain(`configmap/${name}`)
    expect(
      await succeeds(dev1.run(['-n', 'my-namespace', 'get', 'cm', 'greeting', '-o', 'jsonpath={.data.hello}'])),
    ).toBe('world')
  }, 120_000)

  test('delete namespace returns when it is gone, with all content', async () => {
    expect(await succeeds(dev1.run(['delete', 'namespace', 'my-namespace']))).toBe('namespace "my-namespace" deleted\n')
    const gone = await admin.run(['get', 'namespace', 'my-namespace'])
    expect(gone.stderr).toContain('namespaces "my-namespace" not found')
    const left = await succeeds(admin.run(['get', 'configmaps,rolebindings,resourcequotas', '-A', '-o', 'json']))
    expect(left).not.toContain('"namespace": "my-namespace"')
  }, 120_000)

  test('told to stop, the server ends with 0, and starts again', async () => {
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
    await server.start()
    expect(await succeeds(admin.run(['get', 'namespacetemplates', '-o', 'name']))).toMatch(/\/security-defaults$/m)
  }, 120_000)

  test('what the server keeps is for its owner alone', async () => {
    for (const file of ['admin.kubeconfig', 'pki/ca.key']) {
      expect((await stat(join(server.dataDir, file))).mode & 0o077, file).toBe(0)
    }
    expect(await readFile(join(server.dataDir, 'admin.kubeconfig'), 'utf8')).toContain(server.listen)
  })
})
