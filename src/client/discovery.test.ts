import { describe, expect, test } from 'vitest'
import { resourceNotFound, StatusError } from '../kube/status-error.ts'
import { createDiscovery } from './discovery.ts'

const resource = (name: string, kind: string, namespaced = true): object => ({
  name,
  kind,
  namespaced,
  verbs: ['get', 'list'],
})
const group = (name: string, preferred: string, ...others: string[]): object => ({
  name,
  preferredVersion: { version: preferred },
  versions: [preferred, ...others].map((version) => ({ version })),
})
const broken = new StatusError('the server is currently unable to handle the request', {
  reason: 'ServiceUnavailable',
  code: 503,
})

function serving(documents: Readonly<Record<string, object | Error>>): ReturnType<typeof createDiscovery> {
  return createDiscovery((path) => {
    const found = documents[path] ?? resourceNotFound()
    return found instanceof Error ? Promise.reject(found) : Promise.resolve(found)
  })
}

const core = { resources: [resource('pods', 'Pod'), resource('pods/log', 'Pod'), resource('nodes', 'Node', false)] }

describe('everything a server serves', () => {
  const titles = async (documents: Readonly<Record<string, object | Error>>): Promise<object> => {
    const { kinds, unavailable } = await serving({ '/api/v1': core, ...documents }).kinds()
    return { kinds: kinds.map((k) => `${k.group}/${k.version} ${k.resource}`), unavailable }
  }

  test('a group behind an API service that is down hides nothing but itself, and is told', async () => {
    const documents = {
      '/apis': { groups: [group('metrics.k8s.io', 'v1beta1'), group('apps', 'v1')] },
      '/apis/metrics.k8s.io/v1beta1': broken,
      '/apis/apps/v1': { resources: [resource('deployments', 'Deployment')] },
    }
    expect(await titles(documents)).toEqual({
      kinds: ['/v1 pods', '/v1 nodes', 'apps/v1 deployments'],
      unavailable: [{ apiVersion: 'metrics.k8s.io/v1beta1', error: broken }],
    })
  })

  test('a group that was withdrawn meanwhile is not told', async () => {
    expect(await titles({ '/apis': { groups: [group('ex.io', 'v1')] } })).toMatchObject({ unavailable: [] })
  })

  test('a resource is named in the preferred version, or in the first that has it', async () => {
    const documents = {
      '/apis': { groups: [group('batch', 'v1', 'v1beta1')] },
      '/apis/batch/v1': { resources: [resource('jobs', 'Job')] },
      '/apis/batch/v1beta1': { resources: [resource('jobs', 'Job'), resource('cronjobs', 'CronJob')] },
    }
    expect(await titles(documents)).toMatchObject({
      kinds: ['/v1 pods', '/v1 nodes', 'batch/v1 jobs', 'batch/v1beta1 cronjobs'],
    })
  })

  test('without the list of groups nothing is known', async () => {
    await expect(titles({ '/apis': broken })).rejects.toBe(broken)
  })

  test.each([
    '../v1',
    '%2e%2e/v1',
    'a..b/v1',
    'v1?x=y',
    'v1#x',
    'v1%2Fnamespaces',
    '..',
    'apps\\v1/v1',
    '/v1',
    'v1/',
    'V1',
  ])('what no server can serve is not asked for: %s', async (apiVersion) => {
    const discovery = createDiscovery(async (path) => {
      throw new Error(`asked for ${path}`)
    })
    expect(await discovery.findKind(apiVersion, 'Secret')).toBeUndefined()
  })

  test('a group that was down is asked again', async () => {
    const documents: Record<string, object | Error> = {
      '/api/v1': core,
      '/apis': { groups: [group('ex.io', 'v1')] },
      '/apis/ex.io/v1': broken,
    }
    const discovery = serving(documents)
    expect((await discovery.kinds()).unavailable).toHaveLength(1)
    await expect(discovery.findKind('ex.io/v1', 'Widget')).rejects.toBe(broken)
    documents['/apis/ex.io/v1'] = { resources: [resource('widgets', 'Widget')] }
    expect((await discovery.kinds()).unavailable).toEqual([])
    expect(await discovery.findKind('ex.io/v1', 'Widget')).toMatchObject({ resource: 'widgets' })
  })
})
