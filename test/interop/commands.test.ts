/** What people type, through every kubectl there is, against a server on a port. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { describeEachKubectl, KubectlSession, type RunOptions } from './kubectl.ts'

/** One line a user types, and what they see. In order: later rows build on what earlier ones made. */
interface Row {
  readonly name: string
  readonly args: readonly string[]
  readonly input?: string
  /** Default 0. */
  readonly code?: number
  /** All of them, in stdout. */
  readonly stdout?: readonly (string | RegExp)[]
  readonly absent?: readonly string[]
  readonly stderr?: string | RegExp
  /** The minor versions of kubectl that have it: first and last. */
  readonly since?: number
  readonly until?: number
}

const deployment = (replicas: number, image: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: applied, labels: {app: applied}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: applied}}
  template:
    metadata: {labels: {app: applied}}
    spec:
      containers:
        - name: web
          image: ${image}
          ports: [{containerPort: 80}]
`

const configMap = (name: string, value: string, set?: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${set ? `, labels: {set: ${set}}` : ''}}\ndata: ` +
  `{key: ${value}}\n`

/** The flag was renamed. */
const prune = (flag: string, since: number, until: number): Row[] => [
  {
    name: 'apply --prune removes the one no longer given',
    args: ['apply', '--prune', `${flag}=core/v1/ConfigMap`, '-l', 'set=pair', '-f', '-'],
    input: configMap('first', 'one', 'pair'),
    stdout: ['configmap/first unchanged', 'configmap/second pruned'],
    since,
    until,
  },
]

const rows: readonly Row[] = [
  {
    name: 'create configmap says what was created',
    args: ['create', 'configmap', 'greeting', '--from-literal=hello=world'],
    stdout: ['configmap/greeting created'],
  },
  {
    name: 'a second create of the same name is refused',
    args: ['create', 'configmap', 'greeting'],
    code: 1,
    stderr: /\(AlreadyExists\): configmaps "greeting" already exists|configmaps "greeting" already exists/,
  },
  {
    name: 'get -o wide prints the columns of the kind',
    args: ['get', 'configmaps', '-o', 'wide'],
    stdout: [/^NAME +DATA +AGE$/m, /^greeting +1 +\d+s$/m, /^kube-root-ca.crt +1 /m],
  },
  { name: 'get -o yaml prints the object', args: ['get', 'cm', 'greeting', '-o', 'yaml'], stdout: ['  hello: world'] },
  {
    name: 'get -o json prints the object',
    args: ['get', 'cm', 'greeting', '-o', 'json'],
    stdout: ['"hello": "world"'],
  },
  {
    name: 'get -o name prints the name',
    args: ['get', 'cm', 'greeting', '-o', 'name'],
    stdout: ['configmap/greeting\n'],
  },
  {
    name: 'get -o jsonpath prints a field',
    args: ['get', 'cm', 'greeting', '-o', 'jsonpath={.data.hello}'],
    stdout: [/^world$/],
  },
  {
    name: 'get -o custom-columns prints the columns asked for',
    args: ['get', 'cm', 'greeting', '-o', 'custom-columns=N:.metadata.name,H:.data.hello'],
    stdout: [/^N +H\ngreeting +world$/m],
  },
  {
    name: 'get of a name that is not there says so',
    args: ['get', 'cm', 'nobody'],
    code: 1,
    stderr: 'Error from server (NotFound): configmaps "nobody" not found',
  },
  {
    name: 'get of a kind nobody knows says so',
    args: ['get', 'nonsense'],
    code: 1,
    stderr: `the server doesn't have a resource type "nonsense"`,
  },
  {
    name: 'patch in the strategic way changes a key',
    args: ['patch', 'cm', 'greeting', '-p', '{"data":{"a":"1"}}'],
    stdout: ['configmap/greeting patched'],
  },
  {
    name: 'patch in the JSON way adds a key',
    args: ['patch', 'cm', 'greeting', '--type=json', '-p', '[{"op":"add","path":"/data/b","value":"2"}]'],
    stdout: ['configmap/greeting patched'],
  },
  {
    name: 'patch in the merge way takes a key away',
    args: ['patch', 'cm', 'greeting', '--type=merge', '-p', '{"data":{"a":null}}'],
    stdout: ['configmap/greeting patched'],
  },
  {
    name: 'the three patches were all kept',
    args: ['get', 'cm', 'greeting', '-o', 'go-template={{range $k, $v := .data}}{{$k}}={{$v}} {{end}}'],
    stdout: [/^b=2 hello=world $/],
  },
  {
    name: 'a patch that changes nothing says so',
    args: ['patch', 'cm', 'greeting', '-p', '{"data":{"b":"2"}}'],
    stdout: ['configmap/greeting patched (no change)'],
  },
  {
    name: 'a JSON patch whose test fails is refused',
    args: ['patch', 'cm', 'greeting', '--type=json', '-p', '[{"op":"test","path":"/data/b","value":"3"}]'],
    code: 1,
    stderr: /the server rejected our request due to an error in our request|The request is invalid/,
  },
  {
    name: 'label sets a label',
    args: ['label', 'cm', 'greeting', 'tier=front'],
    stdout: ['configmap/greeting labeled'],
  },
  {
    name: 'label does not overwrite unasked',
    args: ['label', 'cm', 'greeting', 'tier=back'],
    code: 1,
    stderr: "'tier' already has a value (front), and --overwrite is false",
  },
  {
    name: 'annotate sets an annotation',
    args: ['annotate', 'cm', 'greeting', 'note=hello there'],
    stdout: ['configmap/greeting annotated'],
  },
  {
    name: 'a label selector finds it',
    args: ['get', 'cm', '-l', 'tier in (front,back)', '-o', 'name'],
    stdout: [/^configmap\/greeting\n$/],
  },
  { name: 'a label selector leaves it out', args: ['get', 'cm', '-l', 'tier=back', '-o', 'name'], stdout: [/^$/] },
  {
    name: 'a field selector finds it',
    args: ['get', 'cm', '--field-selector=metadata.name=greeting', '-o', 'name'],
    stdout: [/^configmap\/greeting\n$/],
  },
  {
    name: 'a field selector on a field nobody can select by is refused',
    args: ['get', 'cm', '--field-selector=data.hello=world'],
    code: 1,
    stderr: 'data.hello',
  },
  {
    name: 'describe shows a configmap',
    args: ['describe', 'cm', 'greeting'],
    stdout: [/^Name: +greeting$/m, /^Annotations: +note: hello there$/m, 'hello:'],
  },
  {
    name: 'create --dry-run=server shows what would be, and keeps nothing',
    args: ['create', 'cm', 'dry', '--from-literal=a=b', '--dry-run=server', '-o', 'yaml'],
    stdout: ['name: dry', 'uid: '],
  },
  { name: 'the dry run kept nothing', args: ['get', 'cm', 'dry'], code: 1, stderr: 'configmaps "dry" not found' },
  {
    name: 'apply creates',
    args: ['apply', '-f', '-'],
    input: deployment(2, 'nginx:1'),
    stdout: ['deployment.apps/applied created'],
  },
  {
    name: 'apply of the same says unchanged',
    args: ['apply', '-f', '-'],
    input: deployment(2, 'nginx:1'),
    stdout: ['deployment.apps/applied unchanged'],
  },
  {
    name: 'diff shows what an apply would change, and says it by its exit code',
    args: ['diff', '-f', '-'],
    input: deployment(2, 'nginx:2'),
    code: 1,
    stdout: [/^-.*image: nginx:1$/m, /^\+.*image: nginx:2$/m],
  },
  { name: 'diff of the same is silent', args: ['diff', '-f', '-'], input: deployment(2, 'nginx:1'), stdout: [/^$/] },
  {
    name: 'apply --dry-run=server changes nothing',
    args: ['apply', '--dry-run=server', '-f', '-'],
    input: deployment(2, 'nginx:2'),
    stdout: ['deployment.apps/applied configured (server dry run)'],
  },
  {
    name: 'apply of something else configures',
    args: ['apply', '-f', '-'],
    input: deployment(2, 'nginx:2'),
    stdout: ['deployment.apps/applied configured'],
  },
  {
    name: 'set image changes a container by its name',
    args: ['set', 'image', 'deployment/applied', 'web=nginx:3'],
    stdout: ['deployment.apps/applied image updated'],
  },
  {
    name: 'scale goes through the scale sub-resource',
    args: ['scale', 'deployment', 'applied', '--replicas=5', '--current-replicas=2'],
    stdout: ['deployment.apps/applied scaled'],
  },
  {
    name: 'scale refuses when somebody else scaled meanwhile',
    args: ['scale', 'deployment', 'applied', '--replicas=7', '--current-replicas=2'],
    code: 1,
    stderr: 'Expected replicas to be 2, was 5',
  },
  {
    name: 'the deployment has what was set and scaled',
    args: ['get', 'deployment', 'applied', '-o', 'wide'],
    stdout: [
      /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR$/m,
      /^applied +0\/5 .* nginx:3 +app=applied$/m,
    ],
  },
  {
    name: 'apply with an unknown field is refused',
    args: ['apply', '-f', '-'],
    input: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typo}\ndatta: {a: b}\n',
    code: 1,
    stderr: /unknown field "datta"/,
  },
  {
    name: 'apply --server-side creates',
    args: ['apply', '--server-side', '--field-manager=one', '-f', '-'],
    input: configMap('shared', 'one'),
    stdout: ['configmap/shared serverside-applied'],
  },
  {
    name: 'apply --server-side by another names who owns what it would change',
    args: ['apply', '--server-side', '--field-manager=two', '-f', '-'],
    input: configMap('shared', 'two'),
    code: 1,
    stderr: /Apply failed with 1 conflict: conflict with "one"[^:]*: \.data\.key/,
  },
  {
    name: 'apply --server-side --force-conflicts takes it over',
    args: ['apply', '--server-side', '--force-conflicts', '--field-manager=two', '-f', '-'],
    input: configMap('shared', 'two'),
    stdout: ['configmap/shared serverside-applied'],
  },
  {
    name: 'apply makes two that belong together',
    args: ['apply', '-l', 'set=pair', '-f', '-'],
    input: `${configMap('first', 'one', 'pair')}---\n${configMap('second', 'two', 'pair')}`,
    stdout: ['configmap/first created', 'configmap/second created'],
  },
  ...prune('--prune-whitelist', 0, 25),
  ...prune('--prune-allowlist', 26, 99),
  {
    name: 'create secret',
    args: ['create', 'secret', 'generic', 's', '--from-literal=a=b'],
    stdout: ['secret/s created'],
  },
  { name: 'a secret is listed', args: ['get', 'secret', 's'], stdout: [/^s +Opaque +1 /m] },
  {
    name: 'create serviceaccount',
    args: ['create', 'serviceaccount', 'robot'],
    stdout: ['serviceaccount/robot created'],
  },
  {
    name: 'create token gives one for a service account',
    args: ['create', 'token', 'robot', '--duration=20m'],
    stdout: [/^[\w-]+\.[\w-]+\.[\w-]+$/m],
    since: 24,
  },
  {
    name: 'create quota',
    args: ['create', 'quota', 'small', '--hard=count/widgets=3'],
    stdout: ['resourcequota/small created'],
  },
  { name: 'describe shows a quota', args: ['describe', 'quota', 'small'], stdout: [/^Name: +small$/m] },
  {
    name: 'a limit range is created from a file',
    args: ['create', '-f', '-'],
    input:
      'apiVersion: v1\nkind: LimitRange\nmetadata: {name: limits}\nspec: {limits: [{type: Container, ' +
      'default: {cpu: 500m}}]}\n',
    stdout: ['limitrange/limits created'],
  },
  {
    name: 'describe shows a limit range',
    args: ['describe', 'limitrange', 'limits'],
    stdout: [/Container +cpu .*500m/],
  },
  {
    name: 'create role',
    args: ['create', 'role', 'reader', '--verb=get,list', '--resource=pods,deployments.apps'],
    stdout: ['role.rbac.authorization.k8s.io/reader created'],
  },
  {
    name: 'create rolebinding',
    args: ['create', 'rolebinding', 'reader', '--role=reader', '--user=anna'],
    stdout: ['rolebinding.rbac.authorization.k8s.io/reader created'],
  },
  { name: 'auth can-i says yes', args: ['auth', 'can-i', 'list', 'pods', '--as=anna'], stdout: [/^yes$/m] },
  { name: 'auth can-i says no', args: ['auth', 'can-i', 'delete', 'pods', '--as=anna'], code: 1, stdout: [/^no$/m] },
  {
    name: 'auth can-i --list shows the rules that apply',
    args: ['auth', 'can-i', '--list', '--as=anna'],
    stdout: [/^deployments.apps +\[\] +\[\] +\[get list\]$/m, /^pods +\[\] +\[\] +\[get list\]$/m],
  },
  {
    name: 'what RBAC does not allow is refused in the words of RBAC',
    args: ['delete', 'pods', 'x', '--as=anna'],
    code: 1,
    stderr:
      /\(Forbidden\): pods "x" is forbidden: User "anna" cannot delete resource "pods" in API group "" in the namespace/,
  },
  {
    name: 'auth whoami shows who one is',
    args: ['auth', 'whoami'],
    stdout: [/^Username +kubernetes-admin$/m],
    since: 27,
  },
  {
    name: 'create deployment',
    args: ['create', 'deployment', 'web', '--image=nginx', '--replicas=2'],
    stdout: ['deployment.apps/web created'],
  },
  {
    name: 'create service',
    args: ['create', 'service', 'clusterip', 'web', '--tcp=80:8080'],
    stdout: ['service/web created'],
  },
  { name: 'create job', args: ['create', 'job', 'once', '--image=busybox'], stdout: ['job.batch/once created'] },
  {
    // 1.20 knows CronJob of batch/v1beta1 only, which Kubernetes dropped in 1.25. Likewise the budget below.
    name: 'create cronjob',
    args: ['create', 'cronjob', 'often', '--image=busybox', '--schedule=* * * * *'],
    stdout: ['cronjob.batch/often created'],
    since: 21,
  },
  {
    name: 'create ingress',
    args: ['create', 'ingress', 'web', '--rule=example.com/path*=web:80'],
    stdout: ['ingress.networking.k8s.io/web created'],
  },
  {
    name: 'create poddisruptionbudget',
    args: ['create', 'pdb', 'web', '--selector=app=web', '--min-available=1'],
    stdout: ['poddisruptionbudget.policy/web created'],
    since: 21,
  },
  { name: 'run makes a pod', args: ['run', 'pod', '--image=nginx', '--restart=Never'], stdout: ['pod/pod created'] },
  { name: 'a pod nobody runs is pending', args: ['get', 'pod', 'pod'], stdout: [/^pod +0\/1 +Pending +0 /m] },
  {
    name: 'describe shows a pod',
    args: ['describe', 'pod', 'pod'],
    stdout: [/^Name: +pod$/m, /^Status: +Pending$/m, /Image: +nginx$/m],
  },
  {
    name: 'get all shows the workloads',
    args: ['get', 'all'],
    stdout: [/^pod\/pod /m, /^service\/web /m, /^deployment.apps\/web /m, /^job.batch\/once /m],
  },
  { name: 'get events shows those there are', args: ['get', 'events'] },
  {
    name: 'wait --for=jsonpath returns when the field has the value',
    args: ['wait', 'pod/pod', '--for=jsonpath={.status.phase}=Pending', '--timeout=20s'],
    stdout: ['pod/pod condition met'],
    since: 23,
  },
  {
    name: 'wait for what does not come gives up',
    args: ['wait', 'deployment/web', '--for=condition=Available', '--timeout=1s'],
    code: 1,
    stderr: 'timed out waiting for the condition',
  },
  {
    name: 'delete removes, waits and says so',
    args: ['delete', 'configmap', 'greeting'],
    stdout: ['configmap "greeting" deleted'],
  },
  {
    name: 'delete of what is gone says so',
    args: ['delete', 'cm', 'greeting'],
    code: 1,
    stderr: 'configmaps "greeting" not found',
  },
  { name: 'delete --ignore-not-found does not mind', args: ['delete', 'cm', 'greeting', '--ignore-not-found'] },
  {
    name: 'delete -l removes what is selected',
    args: ['delete', 'cm', '-l', 'set=pair'],
    stdout: ['configmap "first" deleted'],
  },
  {
    name: 'delete --all removes all',
    args: ['delete', 'deployments', '--all'],
    stdout: ['"web" deleted', '"applied" deleted'],
  },
  { name: 'after that there are none', args: ['get', 'deployments'], stderr: 'No resources found' },
  {
    name: 'replace changes the whole object',
    args: ['replace', '-f', '-'],
    input: configMap('shared', 'three'),
    stdout: ['configmap/shared replaced'],
  },
  {
    name: 'api-versions lists group versions',
    args: ['api-versions'],
    stdout: [/^apps\/v1$/m, /^policy\/v1alpha1$/m, /^v1$/m],
  },
  {
    name: 'api-resources lists kinds',
    args: ['api-resources', '--namespaced=true', '-o', 'wide'],
    stdout: [/^configmaps +cm +v1 +true +ConfigMap /m, /^deployments +deploy +apps\/v1 +true +Deployment /m],
    absent: ['clusterroles'],
    since: 21,
  },
  {
    name: 'api-resources of a group lists its kinds',
    args: ['api-resources', '--api-group=rbac.authorization.k8s.io', '-o', 'name'],
    stdout: ['clusterrolebindings.rbac.authorization.k8s.io\n', 'roles.rbac.authorization.k8s.io\n'],
  },
  {
    name: 'explain describes a kind',
    args: ['explain', 'configmap'],
    stdout: [/^KIND: +ConfigMap$/m, /^VERSION: +v1$/m, 'binaryData'],
  },
  {
    name: 'explain describes a field',
    args: ['explain', 'deployment.spec.template.spec.containers.image'],
    stdout: [/FIELD: +image <string>/],
  },
  { name: 'explain describes our own kinds', args: ['explain', 'namespacetemplates.spec'], stdout: ['templates'] },
  { name: 'get --raw prints what the server says', args: ['get', '--raw', '/readyz'], stdout: [/^ok$/] },
  { name: 'get --raw of a path nobody serves fails', args: ['get', '--raw', '/nothing'], code: 1, stderr: 'NotFound' },
  { name: 'version shows the server', args: ['version'], stdout: [/Server Version: .*v?1\.36/] },
  { name: 'cluster-info shows where the server is', args: ['cluster-info'], stdout: ['https://127.0.0.1:'] },
]

describeEachKubectl((kubectl) => {
  let plane: TestControlPlane
  let session: KubectlSession
  const namespace = 'team-a'

  beforeAll(async () => {
    plane = await startControlPlane({ port: 0 })
    session = await KubectlSession.open(kubectl, plane.kubeconfig)
    const created = await session.run(['create', 'namespace', namespace])
    expect(created.code, created.transcript).toBe(0)
  }, 120_000)

  afterAll(async () => {
    await session[Symbol.asyncDispose]()
    await plane[Symbol.asyncDispose]()
  })

  const run = (args: readonly string[], options: RunOptions = {}) =>
    session.run(['--namespace', namespace, ...args], options)

  test.each(rows.filter(({ since = 0, until = 99 }) => kubectl.minor >= since && kubectl.minor <= until))(
    '$name',
    async ({ args, input, code = 0, stdout = [], absent = [], stderr = '' }) => {
      const ran = await run(args, input === undefined ? {} : { input })
      expect(ran.code, ran.transcript).toBe(code)
      for (const text of stdout) expect(ran.stdout, ran.transcript).toMatch(text)
      for (const text of absent) expect(ran.stdout, ran.transcript).not.toContain(text)
      expect(ran.stderr, ran.transcript).toMatch(stderr)
    },
    120_000,
  )

  test('get -w prints what happens while it watches', async () => {
    const watching = session.start(['--namespace', namespace, 'get', 'cm', '-w', '-o', 'name'])
    await watching.seen('kube-root-ca.crt')
    await run(['create', 'cm', 'late'])
    await watching.seen('configmap/late')
    await run(['create', 'cm', 'later'])
    await watching.seen('configmap/later')
    await watching.stop()
  }, 120_000)

  test('get -w prints the table row of a change', async () => {
    await run(['create', 'cm', 'row'])
    const watching = session.start(['--namespace', namespace, 'get', 'cm', 'row', '-w'])
    await watching.seen('row    0')
    await run(['patch', 'cm', 'row', '-p', '{"data":{"a":"1","b":"2"}}'])
    await watching.seen('row    2')
    await watching.stop()
  }, 120_000)

  test('wait --for=delete returns when the object is gone', async () => {
    await run(['create', 'cm', 'doomed'])
    const waiting = run(['wait', '--for=delete', 'cm/doomed', '--timeout=30s'])
    const deleted = await run(['delete', 'cm', 'doomed'])
    expect(deleted.code, deleted.transcript).toBe(0)
    const waited = await waiting
    // Gone before it looked: 1.20 says not found with code 1, newer ones say nothing.
    if (/NotFound|no matching resources found/.test(waited.stderr)) return
    expect(waited.code, waited.transcript).toBe(0)
  }, 120_000)

  test('wait --for=condition returns when a controller sets the condition', async () => {
    await run(['create', 'deployment', 'slow', '--image=nginx'])
    const waiting = run(['wait', '--for=condition=Available', 'deployment/slow', '--timeout=30s'])
    const status = { conditions: [{ type: 'Available', status: 'True', reason: 'Here', message: '' }] }
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/slow/status`
    const patched = await plane.fetch(path, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ status }),
    })
    expect(patched.status).toBe(200)
    const waited = await waiting
    expect(waited.code, waited.transcript).toBe(0)
    expect(waited.stdout).toContain('deployment.apps/slow condition met')
  }, 120_000)

  test('get --chunk-size pages through all namespaces and repeats nothing', async () => {
    await Promise.all(
      Array.from({ length: 23 }, (_, i) =>
        plane.fetch('/api/v1/namespaces/default/configmaps', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ metadata: { name: `page-${i}` } }),
        }),
      ),
    )
    const all = await session.run(['get', 'cm', '-A', '--chunk-size=5', '-o', 'name'])
    expect(all.code, all.transcript).toBe(0)
    const pages = all.stdout.split('\n').filter((line) => line.startsWith('configmap/page-'))
    expect(pages).toHaveLength(23)
    expect(new Set(pages).size).toBe(23)
    const table = await session.run(['get', 'cm', '-A', '--chunk-size=5'])
    expect(table.stdout).toMatch(/^NAMESPACE +NAME +DATA +AGE$/m)
    expect(table.stdout.match(/page-/g)).toHaveLength(23)
  }, 120_000)

  test('describe shows a namespace with its quotas and limits', async () => {
    const ran = await session.run(['describe', 'namespace', namespace])
    expect(ran.code, ran.transcript).toBe(0)
    expect(ran.stdout).toMatch(/^Name: +team-a$/m)
    expect(ran.stdout).toMatch(/^Status: +Active$/m)
    expect(ran.stdout).toMatch(/Resource Quotas?/)
    expect(ran.stdout).toMatch(/Container +cpu .*500m/)
  }, 120_000)

  test('edit changes what the editor changes', async () => {
    await run(['create', 'cm', 'edited', '--from-literal=a=before'])
    const editor = await session.write('editor.sh', `#!/bin/sh\nsed -i s/before/after/ "$1"\n`)
    const ran = await session.run(['-n', namespace, 'edit', 'cm', 'edited'], { env: { KUBE_EDITOR: `sh ${editor}` } })
    expect(ran.code, ran.transcript).toBe(0)
    const read = await run(['get', 'cm', 'edited', '-o', 'jsonpath={.data.a}'])
    expect(read.stdout).toBe('after')
  }, 120_000)
})
