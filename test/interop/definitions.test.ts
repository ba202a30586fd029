/** Custom resources through every kubectl there is: define, wait, use, look, delete. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { describeEachKubectl, KubectlSession, type RunOptions } from './kubectl.ts'

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.ex.io}
spec:
  group: ex.io
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources:
        status: {}
        scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}
      additionalPrinterColumns:
        - {name: Size, type: integer, jsonPath: .spec.size}
      schema:
        openAPIV3Schema:
          type: object
          description: Widget is a thing of which one needs several.
          properties:
            spec:
              type: object
              properties:
                size: {type: integer, default: 1, minimum: 0, description: How many.}
                color: {type: string, enum: [red, blue]}
            status:
              type: object
              properties:
                size: {type: integer}
`
const widget = (color: string): string =>
  `apiVersion: ex.io/v1\nkind: Widget\nmetadata: {name: a}\nspec: {color: ${color}}\n`

/** One line a user types, and what they see. In order: later rows build on what earlier ones made. */
interface Row {
  readonly name: string
  readonly args: readonly string[]
  readonly input?: string
  readonly code?: number
  readonly stdout?: readonly (string | RegExp)[]
  readonly stderr?: string | RegExp
}

const rows: readonly Row[] = [
  {
    name: 'apply creates the definition',
    args: ['apply', '-f', '-'],
    input: definition,
    stdout: ['customresourcedefinition.apiextensions.k8s.io/widgets.ex.io created'],
  },
  {
    name: 'wait sees it established',
    args: ['wait', '--for=condition=Established', 'crd/widgets.ex.io', '--timeout=30s'],
    stdout: ['customresourcedefinition.apiextensions.k8s.io/widgets.ex.io condition met'],
  },
  {
    name: 'apply of both in one file finds the kind of the second',
    args: ['apply', '-f', '-'],
    input: `${definition}---\n${widget('red')}`,
    stdout: ['widgets.ex.io unchanged', 'widget.ex.io/a created'],
  },
  { name: 'get by short name shows the columns', args: ['get', 'wd'], stdout: [/^NAME +SIZE$/m, /^a +1$/m] },
  { name: 'get all has its category', args: ['get', 'all'], stdout: ['widget.ex.io/a'] },
  { name: 'api-resources lists it', args: ['api-resources', '--api-group=ex.io'], stdout: [/^widgets +wd +/m] },
  {
    name: 'explain knows its fields and what they mean',
    args: ['explain', 'widget.spec.size'],
    stdout: [/size/, /<integer>/, 'How many.'],
  },
  {
    name: 'a wrong value is refused with its field',
    args: ['apply', '--validate=false', '-f', '-'],
    input: widget('green'),
    code: 1,
    stderr: 'spec.color: Unsupported value: "green": supported values: "red", "blue"',
  },
  {
    name: 'apply changes it',
    args: ['apply', '-f', '-'],
    input: widget('blue'),
    stdout: ['widget.ex.io/a configured'],
  },
  { name: 'apply again changes nothing', args: ['apply', '-f', '-'], input: widget('blue'), stdout: ['unchanged'] },
  {
    name: 'server-side apply of another manager shares it',
    args: ['apply', '--server-side', '--field-manager=other', '-f', '-'],
    input: 'apiVersion: ex.io/v1\nkind: Widget\nmetadata: {name: a, labels: {by: other}}\nspec: {color: blue}\n',
    stdout: ['widget.ex.io/a serverside-applied'],
  },
  { name: 'scale sets its size', args: ['scale', 'widget/a', '--replicas=4'], stdout: ['widget.ex.io/a scaled'] },
  { name: 'the size is set', args: ['get', 'widget', 'a', '-o', 'jsonpath={.spec.size}'], stdout: [/^4$/] },
  {
    name: 'patch merges',
    args: ['patch', 'widget', 'a', '--type=merge', '-p', '{"spec":{"size":2}}'],
    stdout: ['widget.ex.io/a patched'],
  },
  { name: 'describe shows it', args: ['describe', 'widget', 'a'], stdout: [/^Kind: +Widget$/m, /Size: +2/] },
  { name: 'label and delete work', args: ['delete', 'widget', 'a'], stdout: ['widget.ex.io "a" deleted'] },
  {
    name: 'delete takes the definition away and returns when it is gone',
    args: ['delete', 'crd', 'widgets.ex.io', '--timeout=30s'],
    stdout: ['customresourcedefinition.apiextensions.k8s.io "widgets.ex.io" deleted'],
  },
]

describeEachKubectl((kubectl) => {
  let plane: TestControlPlane
  let session: KubectlSession

  beforeAll(async () => {
    plane = await startControlPlane({ port: 0 })
    session = await KubectlSession.open(kubectl, plane.kubeconfig)
  }, 120_000)

  afterAll(async () => {
    await session[Symbol.asyncDispose]()
    await plane[Symbol.asyncDispose]()
  })

  test.each(rows)(
    '$name',
    async ({ args, input, code = 0, stdout = [], stderr = '' }) => {
      const options: RunOptions = input === undefined ? {} : { input }
      const ran = await session.run(args, options)
      expect(ran.code, ran.transcript).toBe(code)
      for (const text of stdout) expect(ran.stdout, ran.transcript).toMatch(text)
      expect(ran.stderr, ran.transcript).toMatch(stderr)
    },
    120_000,
  )
})
