/** Who must act where templates could not give a namespace something. On servers: `test/population/lacking.test.ts`. */
import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/client.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { Namespace } from '../namespaces/types.ts'
import { explainFailures } from './explain-failures.ts'
import type { NamespaceTemplate } from './types.ts'

const template = (name: string, holds: string, more: object = {}): NamespaceTemplate => ({
  metadata: { name },
  spec: {
    templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: holds } }],
    namespaceMetadata: { labels: { x: '1' } },
  },
  ...more,
})
const lacking = (reason: string, message: string): Namespace => ({
  metadata: { name: 'n' },
  status: { conditions: [{ type: 'Populated', status: 'False', reason, message, lastTransitionTime: '' }] },
})
async function explained(of: Namespace, templates: readonly NamespaceTemplate[] | undefined) {
  const client = {
    async list() {
      if (templates === undefined) throw forbidden({ group: 'g', version: 'v', resource: 'r' } as never, '', 'no')
      return { items: templates }
    },
  } as unknown as Client
  const { lacking: told = [] } = await explainFailures(client, of, new AbortController().signal)
  return told.map(({ what, who, helps }) => [what, who, ...helps.map(({ command }) => command)])
}

const t = [template('t', 'one-$(NAMESPACE)')]
const patch = `kubectl patch namespacetemplate t --type=merge -p '{"spec":{"adopt":true}}'`
const removal = 'kubectl delete configmap one-n -n n'
const [tenants, authors] = ['who may write in this namespace', 'who writes the template']

describe('it is told who must act, and how', () => {
  test.each<{ reason: string; message?: string; who: string; helps: string[] }>([
    { reason: 'AlreadyExists', who: `${tenants}, or ${authors}`, helps: [removal, patch] },
    ...['TakenOver', 'Drift', 'DriftStopped'].map((reason) => ({
      reason,
      who: `${tenants}, as another writer of it, or ${authors}`,
      helps: [removal, 'kubectl edit namespacetemplate t'],
    })),
    ...['ParameterMissing', 'ParameterInvalid'].map((reason) => ({
      reason,
      who: 'who may change labels and annotations of this namespace',
      helps: ['borough template describe t'],
    })),
    ...['SourceMissing', 'SourceRefused'].map((reason) => ({
      reason,
      who: 'who looks after the source that it is copied from',
      helps: [],
    })),
    {
      reason: 'SourceMissing',
      message: 'can not be read: secrets "s" is forbidden: User "a" cannot list resource "secrets"',
      who: 'who gives the account of borough populate its rights',
      helps: ['kubectl get namespacetemplate t -o yaml | borough populate --print-manifests -f -'],
    },
    { reason: 'UnknownKind', who: `who installs kinds in the cluster, or ${authors}`, helps: [] },
    {
      reason: 'UnknownKind',
      message: 'APIService v1.ex.io does not answer (service unavailable)',
      who: 'who runs the API server of this kind',
      helps: ['kubectl get apiservice v1.ex.io'],
    },
    ...['Invalid', 'Forbidden'].map((reason) => ({
      reason,
      who: `${authors}; where the object was changed or made anew in this namespace, who may delete it`,
      helps: [removal, 'kubectl edit namespacetemplate t'],
    })),
    { reason: 'Odd', who: authors, helps: ['kubectl edit namespacetemplate t'] },
    {
      reason: 'Forbidden',
      message: 'configmaps "c" is forbidden: exceeded quota: q;x, requested: 1, used: 2, limited: 2',
      who: `${tenants} (delete what uses it up), or who sets the quota`,
      helps: ["kubectl describe resourcequota 'q;x' -n n"],
    },
    {
      reason: 'Forbidden',
      message: 'exceeded quota: q, requested: 1, counted over all namespaces that this ClusterResourceQuota selects',
      who: `${tenants} (delete what uses it up), or who sets the quota`,
      helps: ['kubectl get clusterresourcequota q -o yaml'],
    },
  ])('$reason $message', async ({ reason, message = 'no', who, helps }) => {
    const what = `ConfigMap/one-n of NamespaceTemplate "t" is not as it says (${reason})`
    expect(await explained(lacking(reason, `ConfigMap/one-n: ${message}`), t)).toEqual([[what, who, ...helps]])
  })
})

test('of labels no object can be deleted, and none is asked for where nothing is told apart', async () => {
  expect(await explained(lacking('Invalid', 'label x: no'), t)).toEqual([
    [
      'label x of NamespaceTemplate "t" is not as it says (Invalid)',
      `${authors}; where the object was changed or made anew in this namespace, who may delete it`,
      'kubectl edit namespacetemplate t',
    ],
  ])
  expect(await explained(lacking('Odd', 'something'), t)).toEqual([])
  expect(await explained({ metadata: { name: 'n' } }, t)).toEqual([])
})

test('which template it is says its status, or that no other holds such an object', async () => {
  const failures = [{ namespace: 'n', object: 'ConfigMap/one', reason: 'AlreadyExists', message: 'm' }]
  const both = [template('a', 'one'), template('b', 'one', { status: { failures } })]
  const away = template('c', 'two')
  const others = { ...away, spec: { ...away.spec, namespaces: { nameSelector: { include: ['x'] } } } }
  const second = lacking('Odd', 'ConfigMap/two: no; ConfigMap/one: there')
  const what = async (templates: readonly NamespaceTemplate[] | undefined): Promise<unknown> =>
    (await explained(second, templates)).map(([first]) => first)
  expect(await what([...both, others])).toEqual([
    'ConfigMap/two of one of its templates is not as it says (Odd)',
    'ConfigMap/one of NamespaceTemplate "b" is not as it says (AlreadyExists)',
  ])
  expect(await what([template('a', 'one'), template('b', 'one'), away])).toEqual([
    'ConfigMap/two of NamespaceTemplate "c" is not as it says (Odd)',
    'ConfigMap/one of one of its templates is not as it says',
  ])
  expect(await explained(lacking('AlreadyExists', 'ConfigMap/one-n: there'), undefined)).toEqual([
    ['ConfigMap/one-n of one of its templates is not as it says (AlreadyExists)', `${tenants}, or ${authors}`, removal],
  ])
})
