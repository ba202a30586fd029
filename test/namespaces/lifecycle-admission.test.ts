/** The six responsibilities of namespace lifecycle admission, and the two optional plugins beside it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Attributes } from '../../src/admission/admission.ts'
import { namespaceExists } from '../../src/apis/namespaces/admission.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { notLabel } from '../support/name-faults.ts'
import { failure, refusal } from '../support/refusal.ts'
import { Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

// No namespace controller: what is terminating stays so.
beforeAll(async () => {
  plane = await startControlPlane({ controllers: () => false, population: false })
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

const pod = (name: string): object => ({ metadata: { name }, spec: { containers: [{ name: 'main', image: 'nginx' }] } })

async function terminating(name: string): Promise<string> {
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name } })
  await wire.must('POST', `/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'there-before' } })
  await wire.must('DELETE', `/api/v1/namespaces/${name}`)
  return `/api/v1/namespaces/${name}`
}

describe('1. immortal namespaces', () => {
  it.each(['default', 'kube-system', 'kube-public'])('%s can not be deleted', async (name) => {
    expect(await wire.call('DELETE', `/api/v1/namespaces/${name}`)).toMatchObject({
      status: 403,
      body: {
        reason: 'Forbidden',
        message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
        details: { name, kind: 'namespaces' },
      },
    })
  })

  it('kube-node-lease is not one of them', async () => {
    expect((await wire.call('DELETE', '/api/v1/namespaces/kube-node-lease?dryRun=All')).status).toBe(200)
  })

  it('one that does not exist is not found', async () => {
    expect((await wire.call('DELETE', '/api/v1/namespaces/nowhere')).status).toBe(404)
  })
})

describe('2. what has no namespace', () => {
  it('is always allowed', async () => {
    const role = { metadata: { name: 'free' }, rules: [] }
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
    expect((await wire.call('POST', path, role)).status).toBe(201)
    expect((await wire.call('DELETE', `${path}/free`)).status).toBe(200)
  })
})

describe('3. deletion of other things', () => {
  it('is allowed in a terminating namespace', async () => {
    const at = await terminating('emptying')
    expect((await wire.call('DELETE', `${at}/configmaps/there-before`)).status).toBe(200)
  })

  it('of what is in a namespace that does not exist says that the thing is not there', async () => {
    expect((await wire.call('DELETE', '/api/v1/namespaces/nowhere/configmaps/a')).body).toEqual(
      failure({
        message: 'configmaps "a" not found',
        reason: 'NotFound',
        details: { name: 'a', kind: 'configmaps' },
        code: 404,
      }),
    )
  })
})

describe('4. access reviews', () => {
  it.each(['nowhere', 'reviewed'])('are answered alike, whether the namespace exists or not: %s', async (namespace) => {
    if (namespace === 'reviewed') await terminating(namespace)
    const path = `/apis/authorization.k8s.io/v1/namespaces/${namespace}/localsubjectaccessreviews`
    const review = {
      metadata: { namespace },
      spec: { user: 'somebody', resourceAttributes: { namespace, verb: 'get', resource: 'pods' } },
    }
    expect(await wire.call('POST', path, review)).toMatchObject({ status: 201, body: { status: { allowed: false } } })
  })
})

describe('5. namespaces that do not exist', () => {
  it('refuse a create with 404 about the namespace', async () => {
    expect((await wire.call('POST', '/api/v1/namespaces/nowhere/pods', pod('a'))).body).toEqual(
      failure({
        message: 'namespaces "nowhere" not found',
        reason: 'NotFound',
        details: { name: 'nowhere', kind: 'namespaces' },
        code: 404,
      }),
    )
  })

  it('refuse it also if the object would be invalid, or the name could never be one', async () => {
    expect(
      (await wire.call('POST', '/api/v1/namespaces/nowhere/configmaps', { metadata: { name: 'A_b' } })).status,
    ).toBe(404)
    expect((await wire.call('POST', '/api/v1/namespaces/BAD_NS/configmaps', { metadata: { name: 'a' } })).body).toEqual(
      failure({
        message: 'namespaces "BAD_NS" not found',
        reason: 'NotFound',
        details: { name: 'BAD_NS', kind: 'namespaces' },
        code: 404,
      }),
    )
  })

  it('say of an update that the object is not there', async () => {
    const put = await wire.call('PUT', '/api/v1/namespaces/nowhere/configmaps/a', { metadata: { name: 'a' } })
    expect(put.body).toEqual(
      failure({
        message: 'configmaps "a" not found',
        reason: 'NotFound',
        details: { name: 'a', kind: 'configmaps' },
        code: 404,
      }),
    )
  })

  it('have no content: a list is empty, a read finds nothing', async () => {
    const list = await wire.call('GET', '/api/v1/namespaces/nowhere/configmaps')
    expect([list.status, list.body.items]).toEqual([200, []])
    expect((await wire.call('GET', '/api/v1/namespaces/nowhere/configmaps/a')).body).toEqual(
      failure({
        message: 'configmaps "a" not found',
        reason: 'NotFound',
        details: { name: 'a', kind: 'configmaps' },
        code: 404,
      }),
    )
  })

  it('can be used the moment they are there', async () => {
    for (let i = 0; i < 20; i++) {
      await wire.must('POST', '/api/v1/namespaces', { metadata: { name: `quick-${i}` } })
      await wire.must('POST', `/api/v1/namespaces/quick-${i}/pods`, pod('a'))
    }
  })
})

describe('6. terminating namespaces', () => {
  const refusal = (namespace: string, resource: string, name: string): object => ({
    status: 403,
    body: {
      reason: 'Forbidden',
      message:
        `${resource} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it ` +
        'is being terminated',
      details: {
        name,
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      },
    },
  })

  it('take nothing new', async () => {
    const at = await terminating('closed')
    expect(await wire.call('POST', `${at}/configmaps`, { metadata: { name: 'late' } })).toMatchObject(
      refusal('closed', 'configmaps', 'late'),
    )
    const generated = { metadata: { generateName: 'late-' } }
    expect(await wire.call('POST', `${at}/secrets`, generated)).toMatchObject(refusal('closed', 'secrets', 'late-'))
  })

  it('take nothing new by way of apply either', async () => {
    const at = await terminating('closed-to-apply')
    const late = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' } }
    const path = `${at}/configmaps/late?fieldManager=test`
    expect(await wire.call('PATCH', path, late, 'application/apply-patch+yaml')).toMatchObject(
      refusal('closed-to-apply', 'configmaps', 'late'),
    )
  })

  it('take nothing new by way of a sub-resource', async () => {
    const at = await terminating('closed-to-tokens')
    expect((await wire.call('POST', `${at}/serviceaccounts/default/token`, { spec: {} })).body).toEqual(
      failure({
        message:
          'serviceaccounts "default" is forbidden: unable to create new content in namespace ' +
          'closed-to-tokens because it is being terminated',
        reason: 'Forbidden',
        details: {
          name: 'default',
          kind: 'serviceaccounts',
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: 'namespace closed-to-tokens is being terminated',
              field: 'metadata.namespace',
            },
          ],
        },
        code: 403,
      }),
    )
  })

  it('let what is there be changed', async () => {
    const at = await terminating('editable')
    const change = { metadata: { labels: { a: '1' } } }
    expect(
      (await wire.call('PATCH', `${at}/configmaps/there-before`, change, 'application/merge-patch+json')).status,
    ).toBe(200)
  })

  it('say so before they say that a name is taken', async () => {
    const at = await terminating('taken')
    expect(await wire.call('POST', `${at}/configmaps`, { metadata: { name: 'there-before' } })).toMatchObject(
      refusal('taken', 'configmaps', 'there-before'),
    )
  })
})

describe('deletion protection', () => {
  const annotation = 'borough.dev/deletion-protection'
  it('refuses a DELETE and says how to lift it', async () => {
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'kept', annotations: { [annotation]: 'true' } } })
    expect((await wire.call('DELETE', '/api/v1/namespaces/kept')).body).toEqual(
      failure({
        message:
          'namespaces "kept" is forbidden: it is protected; to lift the protection: kubectl annotate ' +
          'namespace kept borough.dev/deletion-protection-',
        reason: 'Forbidden',
        details: { name: 'kept', kind: 'namespaces' },
        code: 403,
      }),
    )
    const lift = { metadata: { annotations: { [annotation]: null } } }
    await wire.must('PATCH', '/api/v1/namespaces/kept', lift, 'application/merge-patch+json')
    expect((await wire.call('DELETE', '/api/v1/namespaces/kept')).status).toBe(200)
  })

  it('is only what says "true"', async () => {
    const annotations = { [annotation]: 'false' }
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'not-kept', annotations } })
    expect((await wire.call('DELETE', '/api/v1/namespaces/not-kept')).status).toBe(200)
  })
})

describe('NamespaceExists, where it is switched on', () => {
  it('is asked for each object of a DELETE, so for none where there is none', async () => {
    await using strict = await startControlPlane({
      controllers: () => false,
      population: false,
      extraAdmission: ['NamespaceExists'],
    })
    const its = new Wire(strict)
    await its.must('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'here' } })
    expect((await its.call('DELETE', '/api/v1/namespaces/default/configmaps')).status).toBe(200)
    expect((await its.call('DELETE', '/api/v1/namespaces/nowhere/configmaps')).status).toBe(200)
  })

  // In a store of Borough's no object outlives its namespace, so no request gets this far.
  it('refuses an object that has outlived its namespace, once the cache has caught up', async () => {
    let refreshed = 0
    const plugin = namespaceExists({
      find: () => undefined,
      refresh: async () => {
        refreshed++
      },
    })
    expect(await refusal(Promise.resolve(plugin.validate?.({ namespace: 'nowhere' } as Attributes)))).toEqual(
      failure({
        message: 'namespaces "nowhere" not found',
        reason: 'NotFound',
        details: { name: 'nowhere', kind: 'namespaces' },
        code: 404,
      }),
    )
    expect(refreshed).toBe(1)
  })
})

describe('NamespaceAutoProvision, where it is switched on', () => {
  it('records the user whose create it was as the creator of the namespace', async () => {
    await using generous = await startControlPlane({ population: false, extraAdmission: ['NamespaceAutoProvision'] })
    const kim = new Wire(generous).as('kim', ['system:masters'])
    await kim.must('POST', '/api/v1/namespaces/hers/configmaps', { metadata: { name: 'a' } })
    const { metadata } = await kim.must('GET', '/api/v1/namespaces/hers')
    expect(metadata.annotations).toEqual({ 'authorization.k8s.io/creator': 'kim' })
  })

  it('makes the namespace of a create, but not for a rehearsal', async () => {
    await using generous = await startControlPlane({
      controllers: () => false,
      population: false,
      extraAdmission: ['NamespaceAutoProvision'],
    })
    const its = new Wire(generous)
    expect(
      (await its.call('POST', '/api/v1/namespaces/new/configmaps?dryRun=All', { metadata: { name: 'a' } })).status,
    ).toBe(404)
    expect((await its.call('POST', '/api/v1/namespaces/new/configmaps', { metadata: { name: 'a' } })).status).toBe(201)
    expect((await its.call('GET', '/api/v1/namespaces/new')).body.status).toEqual({ phase: 'Active' })
    const bad = (await its.call('POST', '/api/v1/namespaces/Bad/configmaps', { metadata: { name: 'a' } })).body
    const fault = `Namespace "Bad" is invalid: metadata.name: Invalid value: "Bad": ${notLabel}`
    expect(bad).toEqual(
      failure({
        message: `configmaps "a" is forbidden: ${fault}`,
        reason: 'Forbidden',
        details: { name: 'a', kind: 'configmaps' },
        code: 403,
      }),
    )
    await its.must('DELETE', '/api/v1/namespaces/new')
    expect((await its.call('POST', '/api/v1/namespaces/new/configmaps', { metadata: { name: 'b' } })).status).toBe(403)
  })
})
