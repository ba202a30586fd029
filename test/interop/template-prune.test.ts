/**
 * Templates that a tool prunes because they fell out of its files: `kubectl apply --prune` by label and by ApplySet,
 * and the deletions that Argo CD sends. Argo CD itself isn't run. On Borough, and by `borough populate` elsewhere.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { openRemote } from '../../src/client/remote.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { conditionOf } from '../population/population-world.ts'
import { BoroughProcess } from './borough-process.ts'
import { describeEachKubectl, KubectlSession, type Ran } from './kubectl.ts'
import { startOtherServer } from './other-server.ts'
import { PopulateProcess } from './populate-process.ts'

type Run = (...args: readonly string[]) => Promise<Ran>

/** More than the five that a deletion may strip unasked. */
const namespaces = [0, 1, 2, 3, 4, 5, 6].map((n) => `p-${n}`)

const template = (name: string, { metadata = '', spec = '' } = {}): string => `
apiVersion: policy.borough.dev/v1alpha1
kind: NamespaceTemplate
metadata: {name: ${name}, labels: {fleet: one}, ${metadata}}
spec:
  namespaces: {nameSelector: {include: ["p-*"]}}
  templates: [{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}, data: {a: b}}]
  ${spec}
`

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const events = { ...configMaps, resource: 'events' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }

/** What kubectl prints of a template, and the same read from it; of none nothing is printed. */
interface Printed {
  readonly path: string
  of(template: KubeObject): string
}

const progressing: Printed = {
  path: '{.status.conditions[?(@.type=="Progressing")].reason}',
  of: ({ status }) => String(conditionOf(status as never, 'Progressing')?.['reason'] ?? ''),
}
const itsName: Printed = { path: '{.metadata.name}', of: ({ metadata }) => metadata.name ?? '' }
const counts: Printed = {
  path: '{.status.matched} {.status.synced} {.status.failed}',
  of: ({ status }) => {
    const { matched, synced, failed } = (status ?? {}) as Record<string, unknown>
    return `${matched} ${synced} ${failed}`
  },
}

async function openBorough(stack: AsyncDisposableStack): Promise<string> {
  return stack.use(await BoroughProcess.start()).adminKubeconfig()
}

async function openElsewhere(stack: AsyncDisposableStack): Promise<string> {
  return stack.use(await startOtherServer()).adminKubeconfig()
}

describeEachKubectl((kubectl) => {
  describe.each([
    { where: 'on Borough', open: openBorough, populates: false },
    { where: 'elsewhere', open: openElsewhere, populates: true },
  ])('$where', ({ open, populates }) => {
    const stack = new AsyncDisposableStack()
    let session: KubectlSession
    /** Waits, so that kubectl is asked once: a program for each look would be most of what is done here. */
    let client: Client

    beforeAll(async () => {
      const kubeconfig = await open(stack)
      session = stack.use(await KubectlSession.open(kubectl, kubeconfig))
      const kubeconfigPath = await session.write('admin.kubeconfig', kubeconfig)
      client = openRemote({ kubeconfigPath, userAgent: 'test' }).client
      if (populates) stack.use(await PopulateProcess.start(kubeconfigPath))
      await Promise.all(namespaces.map((name) => succeeds('create', 'namespace', name)))
      await apply('keep', template('keep'))
    }, 240_000)
    afterAll(() => stack.disposeAsync(), 120_000)

    const run: Run = (...args) => session.run(args, { env: { KUBECTL_APPLYSET: 'true' } })
    async function succeeds(...args: readonly string[]): Promise<string> {
      const ran = await run(...args)
      expect(ran.code, ran.transcript).toBe(0)
      return ran.stdout
    }
    const apply = async (file: string, text: string): Promise<string> =>
      succeeds('apply', '-f', await session.write(`${file}.yaml`, text))
    const file = (name: string): string => `${session.folder}/${name}.yaml`

    const held = async (name: string): Promise<readonly string[]> => {
      const args = ['get', 'configmaps', '-A', '--field-selector', `metadata.name=${name}`, '-o', 'name']
      return (await succeeds(...args)).split('\n').filter((line) => line !== '')
    }
    const holds = async (name: string, count: number): Promise<void> => {
      const selection = { fieldSelector: `metadata.name=${name}` }
      const there = async (): Promise<number> => (await client.list(configMaps, selection)).items.length
      await expect.poll(there, { timeout: 60_000 }).toBe(count)
      expect(await held(name)).toHaveLength(count)
    }
    const says = async (name: string, { path, of }: Printed, want: string): Promise<void> => {
      const found = async (): Promise<string> => {
        const { items } = await client.list(templates, { fieldSelector: `metadata.name=${name}` })
        return items[0] === undefined ? '' : of(items[0])
      }
      await expect.poll(found, { timeout: 60_000 }).toBe(want)
      expect(await succeeds('get', 'nstpl', name, '--ignore-not-found', '-o', `jsonpath=${path}`)).toBe(want)
    }

    /** It stands, halted; nothing is taken; only a confirmation for the generation that is asked for lets it go. */
    async function haltsUntilConfirmed(name: string): Promise<void> {
      await says(name, progressing, 'TooManyPrunes')
      const message = await succeeds('get', 'nstpl', name, '-o', 'jsonpath={.status.conditions[*].message}')
      expect(message).toContain('objects in 7 of 7 namespaces, spec.rollout.maxPrune allows 5 (the default)')
      const generation = /confirm-prune=(\d+)/.exec(message)?.[1]
      await succeeds('-n', 'p-0', 'delete', 'configmap', name)
      await holds(name, namespaces.length)
      const confirm = (value: number): Promise<string> =>
        succeeds('annotate', '--overwrite', 'nstpl', name, `policy.borough.dev/confirm-prune=${value}`)
      await confirm(Number(generation) - 1)
      await succeeds('-n', 'p-1', 'delete', 'configmap', name)
      await holds(name, namespaces.length)
      await says(name, progressing, 'TooManyPrunes')
      await confirm(Number(generation))
      await says(name, itsName, '')
      await holds(name, 0)
      await holds('keep', namespaces.length)
      const fieldSelector = 'reason=PopulationPruned'
      const deleted = namespaces.map((namespace) => `deleted in namespace ${namespace}: ConfigMap/${name}`)
      const told = async (): Promise<unknown[]> =>
        (await client.list(events, { namespace: 'default', fieldSelector })).items.map((event) => event['message'])
      await expect.poll(told, { timeout: 60_000 }).toEqual(expect.arrayContaining(deleted))
      const printed = 'jsonpath={range .items[*]}{.message}{"\\n"}{end}'
      const messages = await succeeds(
        '-n',
        'default',
        'get',
        'events',
        '--field-selector',
        fieldSelector,
        '-o',
        printed,
      )
      expect(messages.split('\n')).toEqual(expect.arrayContaining(deleted))
    }

    test('the template that stays reaches every namespace', () => holds('keep', namespaces.length), 120_000)

    const byLabel = async (): Promise<string> => {
      const list = kubectl.minor >= 26 ? '--prune-allowlist' : '--prune-whitelist'
      const kind = 'policy.borough.dev/v1alpha1/NamespaceTemplate'
      return succeeds('apply', '--prune', '-l', 'fleet=one', `${list}=${kind}`, '-f', file('keep'))
    }

    test('kubectl apply --prune -l', async () => {
      await apply('labelled', template('labelled'))
      await holds('labelled', namespaces.length)
      expect(await byLabel()).toContain('namespacetemplate.policy.borough.dev/labelled pruned\n')
      // A second run of the pipeline confirms nothing.
      await byLabel()
      await haltsUntilConfirmed('labelled')
    }, 240_000)

    test.skipIf(kubectl.minor < 27)(
      'kubectl apply --prune --applyset',
      async () => {
        await apply('grouped', template('grouped'))
        const applySet = ['apply', '--prune', '--applyset=configmaps/fleet', '-n', 'default', '-f', file('keep')]
        await succeeds(...applySet, '-f', file('grouped'))
        await holds('grouped', namespaces.length)
        expect(await succeeds(...applySet)).toContain('namespacetemplate.policy.borough.dev/grouped pruned\n')
        await haltsUntilConfirmed('grouped')
      },
      240_000,
    )

    test.each(['foreground', 'background'])(
      'a deletion in the %s, as Argo CD prunes',
      async (cascade) => {
        const id = `fleet:policy.borough.dev/NamespaceTemplate:/${cascade}`
        const tracked = `annotations: {argocd.argoproj.io/tracking-id: "${id}"}`
        await apply(cascade, template(cascade, { metadata: tracked }))
        await holds(cascade, namespaces.length)
        await succeeds('delete', 'nstpl', cascade, `--cascade=${cascade}`, '--wait=false')
        await haltsUntilConfirmed(cascade)
        // A file that comes back is a template like any other.
        await succeeds('apply', '-f', file(cascade))
        await holds(cascade, namespaces.length)
      },
      240_000,
    )

    test('put back while it is halted: Orphan lets go of it, adopt takes everything up again', async () => {
      await apply('back', template('back'))
      await holds('back', namespaces.length)
      const uids = (): Promise<string> =>
        succeeds('get', 'cm', '-A', '--field-selector', 'metadata.name=back', '-o', 'jsonpath={.items[*].metadata.uid}')
      const before = await uids()
      await byLabel()
      await says('back', progressing, 'TooManyPrunes')
      // What is being deleted can't be kept by applying it again.
      await succeeds('apply', '-f', file('back'))
      await says('back', progressing, 'TooManyPrunes')
      const rescued = template('back', { spec: 'deletionPolicy: Orphan\n  adopt: true' })
      await apply('back', rescued)
      await says('back', itsName, '')
      await apply('back', rescued)
      await says('back', counts, '7 7 0')
      expect(await uids()).toBe(before)
    }, 240_000)
  })
})
