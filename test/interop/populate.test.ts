/**
 * `borough populate` beside a cluster that knows nothing of templates, reached over HTTPS alone, set up with
 * `kubectl apply -k deploy/`, as the account and with the rights that are in there.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { otherKubeconfig } from '../support/other-cluster.ts'
import { borough } from './borough-process.ts'
import { describeEachKubectl, KubectlSession, type Ran } from './kubectl.ts'
import { type OtherServer, startOtherServer } from './other-server.ts'
import { PopulateProcess } from './populate-process.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** What policies decide instead is tested in test/population/policies.test.ts. */
const byWebhooks = ['--admission', 'webhooks']

/** Holds its namespaces up: nobody serves the kind. */
const stuck = (objects: string): string => `
apiVersion: policy.borough.dev/v1alpha1
kind: NamespaceTemplate
metadata: { name: stuck }
spec:
  namespaces: { nameSelector: { include: ["stuck-*"] } }
  templates: ${objects}
`

const example = `${root}examples/population-on-any-cluster`

describeEachKubectl((kubectl) => {
  let server: OtherServer
  let admin: KubectlSession
  let dev1: KubectlSession
  let populate: PopulateProcess
  let kubeconfig: string

  beforeAll(async () => {
    server = await startOtherServer()
    admin = await KubectlSession.open(kubectl, await server.adminKubeconfig())
  }, 120_000)

  afterAll(async () => {
    await populate?.[Symbol.asyncDispose]()
    await dev1?.[Symbol.asyncDispose]()
    await admin?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  }, 120_000)

  const succeeds = async (running: Promise<Ran>): Promise<string> => {
    const ran = await running
    expect(ran.code, ran.transcript).toBe(0)
    return ran.stdout
  }
  const refuses = async (running: Promise<Ran>, message: string): Promise<void> => {
    const ran = await running
    expect(ran.code, ran.transcript).toBe(1)
    expect(ran.stderr).toContain(message)
  }
  /** When it is as told, or after half a minute not at all: kubectl says so by itself. */
  const becomes = (what: string, condition: string): Promise<string> =>
    succeeds(admin.run(['wait', ...what.split(' '), `--for=${condition}`, '--timeout=30s']))
  /** Polls, since old kubectls can't wait for a value. */
  const says = async (args: readonly string[], want: string, limitMs = 30_000): Promise<void> => {
    const began = Date.now()
    for (;;) {
      const ran = await admin.run(args)
      if (ran.stdout === want) return
      if (Date.now() - began > limitMs) expect(ran.transcript).toBe(want)
    }
  }
  const motdIn = (namespace: string): string[] => ['-n', namespace, 'get', 'cm', 'motd', '-o', 'jsonpath={.data.text}']

  test('deploy/ installs with kustomize', async () => {
    const said = await succeeds(admin.run(['apply', '-k', `${root}deploy/`]))
    expect(said).toContain(
      'customresourcedefinition.apiextensions.k8s.io/namespacetemplates.policy.borough.dev created',
    )
    expect(said).toContain('deployment.apps/borough-population created')
    await becomes('crd namespacetemplates.policy.borough.dev', 'condition=Established')
  }, 120_000)

  test('it runs as the account of deploy/, with those rights and no others', async () => {
    const text = await server.accountKubeconfig('borough-system', 'namespace-template-controller')
    kubeconfig = await admin.write('populate.kubeconfig', text)
    populate = await PopulateProcess.start(kubeconfig, byWebhooks)
    const webhooks = ['get', 'mutatingwebhookconfigurations,validatingwebhookconfigurations', '-o', 'name']
    expect(await succeeds(admin.run(webhooks))).toMatch(
      /^mutating[\w.]+\/borough-population\nvalidating[\w.]+\/borough-population\n$/,
    )
  }, 120_000)

  test('its metrics count what it asks the cluster', async () => {
    const ca = await succeeds(
      admin.run(['-n', 'borough-system', 'get', 'secret', 'borough-population-tls', '-o', 'jsonpath={.data.ca\\.crt}']),
    )
    const transport = httpsTransport({
      server: populate.url,
      credentials: () => ({ ca: Buffer.from(ca, 'base64') }),
    })
    const asked = { method: 'GET', path: '/metrics', query: new URLSearchParams(), headers: {} }
    const lines = Buffer.from((await transport.send(asked)).body as Uint8Array)
      .toString()
      .split('\n')
    const counted = lines.filter((line) => line.startsWith('borough_population_requests_total{'))
    expect(counted.find((line) => line.includes('method="GET",code="200"'))).toMatch(/ [1-9]\d*$/)
  }, 120_000)

  test('the example is applied, and applied again', async () => {
    expect(await succeeds(admin.run(['apply', '-f', example]))).toContain(
      'namespacetemplate.policy.borough.dev/teams created',
    )
    expect(await succeeds(admin.run(['apply', '-f', example]))).toContain(
      'namespacetemplate.policy.borough.dev/teams unchanged',
    )
    dev1 = await KubectlSession.open(kubectl, await server.kubeconfigFor('dev1', 'devs'))
  }, 120_000)

  test('a namespace that somebody creates is populated, and theirs', async () => {
    expect(await succeeds(dev1.run(['create', 'namespace', 'team-a']))).toBe('namespace/team-a created\n')
    // Their rights come with the rest: until then they have none, and kubectl is not told to come back.
    await says(motdIn('team-a'), 'welcome to team-a, dev1')
    // Not in the same moment on every server: kube-apiserver reads bindings through a watch.
    await says(['auth', 'can-i', 'create', 'cm', '-n', 'team-a', '--as', 'dev1', '--as-group', 'devs'], 'yes\n')
    const create = ['-n', 'team-a', 'create', 'cm', 'mine', '--from-literal=a=b']
    expect(await succeeds(dev1.run(create))).toBe('configmap/mine created\n')
    expect(await succeeds(dev1.run(motdIn('team-a')))).toBe('welcome to team-a, dev1')
    const creator = '{.metadata.annotations.authorization\\.k8s\\.io/creator} {.metadata.labels}'
    const labels = await succeeds(admin.run(['get', 'ns', 'team-a', '-o', `jsonpath=${creator}`]))
    expect(labels).toMatch(/^dev1 /)
    expect(labels).not.toContain('pending')
  }, 120_000)

  test('it is theirs to delete, and neither theirs to relabel nor anybody else’s', async () => {
    expect(await succeeds(dev1.run(['create', 'namespace', 'team-d']))).toBe('namespace/team-d created\n')
    await says(motdIn('team-d'), 'welcome to team-d, dev1')
    await refuses(dev1.run(['label', 'namespace', 'team-d', 'a=b']), 'User "dev1" cannot patch resource "namespaces"')
    const other = ['--as', 'dev2', '--as-group', 'devs', 'delete', 'namespace', 'team-d']
    await refuses(admin.run(other), 'User "dev2" cannot delete resource "namespaces"')
    // To wait, kubectl lists namespaces by name: only Borough asks for that right in the namespace.
    const waits = otherKubeconfig === undefined ? [] : ['--wait=false']
    const deleting = dev1.run(['delete', 'namespace', 'team-d', ...waits])
    expect(await succeeds(deleting)).toBe('namespace "team-d" deleted\n')
    await says(['get', 'namespace', 'team-d', '--ignore-not-found', '-o', 'name'], '')
  }, 120_000)

  test('one whose objects can not be made stays shut to its creator until they can', async () => {
    // Who has the right to write without the template meets the gate.
    await succeeds(admin.run(['create', 'clusterrolebinding', 'early', '--clusterrole=edit', '--user=dev1']))
    await succeeds(admin.run(['create', 'clusterrole', 'label', '--verb=get,patch', '--resource=namespaces']))
    await succeeds(admin.run(['create', 'clusterrolebinding', 'label', '--clusterrole=label', '--user=dev1']))
    const broken = stuck('[{ apiVersion: ex.io/v1, kind: Widget, metadata: { name: w } }]')
    await succeeds(admin.run(['apply', '-f', await admin.write('stuck.yaml', broken)]))
    await succeeds(dev1.run(['create', 'namespace', 'stuck-a']))
    const write = ['-n', 'stuck-a', 'create', 'cm', 'mine', '--from-literal=a=b']
    const open = ['label', 'ns', 'stuck-a', 'policy/namespace-template-pending-']
    await dev1.run(open)
    // It is told to come back, and does, until its time is over.
    const late = await dev1.run([...write, '--request-timeout=1s'])
    expect({ code: late.code, stderr: late.stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/deadline|[tT]imeout/) as string,
    })
    expect(await succeeds(admin.run(['-n', 'stuck-a', 'get', 'cm', 'mine', '--ignore-not-found']))).toBe('')
    const waiting = ['get', 'ns', '-l', 'policy/namespace-template-pending', '-o', 'name']
    expect(await succeeds(admin.run(waiting))).toBe('namespace/stuck-a\n')
    const events = ['-n', 'stuck-a', 'get', 'events', '-o', 'jsonpath={.items[*].message}']
    // Events are written behind the work that they tell of.
    await expect.poll(() => succeeds(admin.run(events))).toContain('no kind Widget in ex.io/v1 is served')
    await succeeds(admin.run(['apply', '-f', await admin.write('stuck.yaml', stuck('[]'))]))
    // kubectl is told to come back, and does until it may.
    expect(await succeeds(dev1.run(write))).toBe('configmap/mine created\n')
  }, 120_000)

  test('a guarded template needs `use`, at creation and at relabelling', async () => {
    const guarded = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"power","labels":{"class":"privileged"}}}`
    const why = 'cannot use namespacetemplates "privileged", which selects this namespace'
    await refuses(dev1.run(['create', '-f', '-'], { input: guarded }), why)
    await refuses(dev1.run(['label', 'namespace', 'team-a', 'class=privileged']), why)
    await succeeds(admin.run(['create', '-f', '-'], { input: guarded }))
    const left = 'cannot use namespacetemplates "privileged", which would no longer select this namespace'
    await refuses(dev1.run(['label', 'namespace', 'power', 'class-']), left)
  }, 120_000)

  test('opting out needs `optout`', async () => {
    const opted =
      `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-o",` +
      `"annotations":{"policy/namespace-template-opt-out":"true"}}}`
    await refuses(dev1.run(['create', '-f', '-'], { input: opted }), 'needs the verb "optout"')
    await succeeds(admin.run(['create', '-f', '-'], { input: opted }))
    expect(await succeeds(admin.run(['-n', 'team-o', 'get', 'cm', 'motd', '--ignore-not-found', '-o', 'name']))).toBe(
      '',
    )
  }, 120_000)

  test('an author can not give what they do not hold, nor what makes no sense', async () => {
    const of = (object: string): string => stuck(`[${object}]`).replace('name: stuck', 'name: theirs')
    const binding =
      '{ apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: { name: b }, roleRef: { ' +
      'apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin }, subjects: [] }'
    await succeeds(
      admin.run(['create', 'clusterrolebinding', 'author', '--clusterrole=template-authors', '--user=author']),
    )
    await refuses(
      admin.run(['--as', 'author', 'create', '-f', '-'], { input: of(binding) }),
      'needs "create", "patch", "delete" on rolebindings',
    )
    await refuses(
      admin.run(['apply', '-f', '-'], { input: of('{ apiVersion: v1, kind: Node, metadata: { name: one } }') }),
      'does not live in namespaces',
    )
  }, 120_000)

  test('drift is put right, what a template drops is pruned, what it did not make is left', async () => {
    await succeeds(
      admin.run(['-n', 'team-a', 'patch', 'cm', 'motd', '--type=merge', '-p', '{"data":{"text":"mine now"}}']),
    )
    await says(motdIn('team-a'), 'welcome to team-a, dev1')
    await says(['get', 'nstpl', 'teams', '-o', 'jsonpath={.status.matched} {.status.synced}'], '1 1')
    await succeeds(admin.run(['delete', 'nstpl', 'teams', '--timeout=30s']))
    const left = await succeeds(admin.run(['-n', 'team-a', 'get', 'cm,rolebindings', '-o', 'name']))
    // OpenShift's controllers make one more.
    expect(left.replace('configmap/openshift-service-ca.crt\n', '')).toBe(
      'configmap/kube-root-ca.crt\nconfigmap/mine\n',
    )
    await succeeds(admin.run(['apply', '-f', example]))
    await says(motdIn('team-a'), 'welcome to team-a, dev1')
  }, 120_000)

  test('a second one takes over when the first stops', async () => {
    const second = await PopulateProcess.start(kubeconfig, byWebhooks)
    expect(await populate.end('SIGTERM')).toEqual({ code: 0, signal: null })
    populate = second
    await succeeds(admin.run(['-n', 'team-a', 'delete', 'cm', 'motd']))
    await says(motdIn('team-a'), 'welcome to team-a, dev1')
    expect(await succeeds(dev1.run(['create', 'namespace', 'team-b']))).toBe('namespace/team-b created\n')
    await says(motdIn('team-b'), 'welcome to team-b, dev1')
  }, 120_000)

  test('killed, it stops nothing but new namespaces; taken off, those go too', async () => {
    await populate.end('SIGKILL')
    await refuses(dev1.run(['create', 'namespace', 'team-c']), 'failed calling webhook "admit.population.borough.dev"')
    expect(await succeeds(dev1.run(['-n', 'team-a', 'create', 'cm', 'another', '--from-literal=a=b']))).toContain(
      'created',
    )
    expect(await succeeds(admin.run(['delete', 'namespace', 'team-b']))).toContain('deleted')
    const uninstalled = await borough(['populate', '--kubeconfig', await adminFile(), '--uninstall'])
    expect(uninstalled).toMatchObject({ code: 0, stderr: '' })
    const kinds = await succeeds(
      admin.run(['api-resources', '--api-group', 'admissionregistration.k8s.io', '-o', 'name']),
    )
    // Two of webhooks; the policy that protects what is populated, and its binding, from 1.30 on.
    const deleted = uninstalled.stdout.split('\n').filter((line) => line.endsWith(' deleted'))
    expect(deleted).toHaveLength(kinds.includes('validatingadmissionpolicies') ? 4 : 2)
    expect(await succeeds(dev1.run(['create', 'namespace', 'team-c']))).toBe('namespace/team-c created\n')
  }, 120_000)

  const adminFile = async (): Promise<string> => admin.write('admin.kubeconfig', await server.adminKubeconfig())
})

test('what is in deploy/ is what the code makes', async () => {
  const { deployFiles } = await import('../../tools/deploy-manifests.ts')
  const files = await deployFiles()
  expect(files.size).toBe(12)
  for (const [name, text] of files) expect(await readFile(`${root}deploy/${name}`, 'utf8'), name).toBe(text)
})

test.each([
  { given: ['--kubeconfig', '/nowhere'], says: 'borough: --kubeconfig: there is no file /nowhere' },
  { given: ['--filename', 'templates/'], says: 'borough: --filename needs --print-manifests' },
  { given: ['--webhook-url', 'http://host'], says: 'It must be https://host[:port][/path].' },
  {
    given: ['--print-manifests', '--filename', '/nowhere'],
    says: 'borough: --filename: there is no file /nowhere',
  },
])('borough populate $given ends with one line', async ({ given, says }) => {
  const ran = await borough(['populate', ...given])
  expect(ran).toMatchObject({ code: 1, stdout: '' })
  expect(ran.stderr).toContain(says)
  expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1)
})
