/** What the server does to a Namespace that is created, changed, marked for deletion and let go. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure, faultsIn } from '../support/refusal.ts'
import { type AnswerBody, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire
let count = 0

// Without the namespace controller: what a DELETE does is seen before anybody acts on it.
beforeAll(async () => {
  plane = await startControlPlane({ controllers: () => false, population: false })
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

const all = '/api/v1/namespaces'
const at = (name: string, subresource = ''): string => `${all}/${name}${subresource}`

async function make(more: { metadata?: object; spec?: object; status?: object } = {}): Promise<string> {
  const name = `ns-${++count}`
  await wire.must('POST', all, { ...more, metadata: { name, ...more.metadata } })
  return name
}

const get = (name: string): Promise<AnswerBody> => wire.must('GET', at(name))
/** The rest of the refusal follows from its message, which is asserted here. */
const messageOf = async (method: string, path: string, sent?: unknown): Promise<string> => {
  const { body } = await wire.call(method, path, sent)
  const { code, message, details } = body
  const name = details?.name ?? ''
  if (code === 422) faultsIn({ code, body }, { kind: 'Namespace', name })
  else {
    const made = message.endsWith('already exists') ? 'AlreadyExists' : 'Conflict'
    expect(body).toEqual(
      failure({
        message,
        ...(code === 400 ? { reason: 'BadRequest' } : { reason: made, details: { name, kind: 'namespaces' } }),
        code: code === 400 ? 400 : 409,
      }),
    )
    if (code !== 400) expect(message).toContain(`namespaces "${name}"`)
  }
  return message
}

describe('a namespace that is created', () => {
  it('gets the kubernetes finalizer', async () => {
    expect((await get(await make())).spec).toEqual({ finalizers: ['kubernetes'] })
    expect((await get(await make({ spec: { finalizers: [] } }))).spec).toEqual({ finalizers: ['kubernetes'] })
  })

  it('keeps the finalizers of its creator, with kubernetes behind them', async () => {
    const name = await make({ spec: { finalizers: ['ex.io/a', 'ex.io/b'] } })
    expect((await get(name)).spec).toEqual({ finalizers: ['ex.io/a', 'ex.io/b', 'kubernetes'] })
    const given = await make({ spec: { finalizers: ['kubernetes', 'ex.io/a'] } })
    expect((await get(given)).spec).toEqual({ finalizers: ['kubernetes', 'ex.io/a'] })
  })

  it('has exactly the status Active, whatever was sent', async () => {
    const name = await make({ status: { phase: 'Terminating', conditions: [] } })
    expect((await get(name)).status).toEqual({ phase: 'Active' })
  })

  it('keeps a generation that was sent, and loses what only the server sets', async () => {
    const metadata = {
      generation: 5,
      uid: 'mine',
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 3,
      namespace: 'elsewhere',
    }
    const made = await get(await make({ metadata }))
    expect(made.metadata.generation).toBe(5)
    expect(made.metadata.uid).not.toBe('mine')
    expect(made.metadata.creationTimestamp).not.toMatch(/^2001/)
    for (const key of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'namespace'] as const) {
      expect(made.metadata[key]).toBeUndefined()
    }
  })

  it('carries its name as a label that nobody can change or take away', async () => {
    const name = await make({ metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } })
    expect((await get(name)).metadata.labels).toEqual(expect.objectContaining({ 'kubernetes.io/metadata.name': name }))
    await wire.must('PUT', at(name), { metadata: { name } })
    expect((await get(name)).metadata.labels?.['kubernetes.io/metadata.name']).toBe(name)
    const generated = await wire.must('POST', all, { metadata: { generateName: 'gen-' } })
    expect(generated.metadata.labels?.['kubernetes.io/metadata.name']).toBe(generated.metadata.name)
  })

  const refusals: { name: string; given: object; want: { status: number; message: string } }[] = [
    {
      name: 'without a name is refused',
      given: { metadata: {} },
      want: {
        status: 422,
        message: 'Namespace "" is invalid: metadata.name: Required value: name or generateName is required',
      },
    },
    {
      name: 'with a name that is no DNS label is refused',
      given: { metadata: { name: 'A_b' } },
      want: {
        status: 422,
        message:
          'Namespace "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 label ' +
          "must consist of lower case alphanumeric characters or '-', and must start and end with an " +
          "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      },
    },
    {
      name: 'with a finalizer that is neither known nor qualified is refused',
      given: { metadata: { name: 'bad-finalizer' }, spec: { finalizers: ['foo'] } },
      want: {
        status: 422,
        message:
          'Namespace "bad-finalizer" is invalid: spec.finalizers: Invalid value: "foo": name is neither a ' +
          'standard finalizer name nor is it fully qualified',
      },
    },
    {
      name: 'with a name that is taken is refused',
      given: { metadata: { name: 'default' } },
      want: { status: 409, message: 'namespaces "default" already exists' },
    },
    {
      name: 'with a resourceVersion is refused',
      given: { metadata: { name: 'versioned', resourceVersion: '7' } },
      want: { status: 500, message: 'resourceVersion should not be set on objects to be created' },
    },
  ]
  it.each(refusals)('$name', async ({ given, want }) => {
    const { status, body } = await wire.call('POST', all, given)
    expect({ status, message: body.message }).toEqual(want)
  })

  it('while its predecessor is being deleted is refused with the reason', async () => {
    const name = await make()
    await wire.must('DELETE', at(name))
    expect(await messageOf('POST', all, { metadata: { name } })).toBe(
      `object is being deleted: namespaces "${name}" already exists`,
    )
  })
})

describe('PUT and PATCH of a namespace', () => {
  it('keep finalizers and status, and say nothing about it', async () => {
    const name = await make({ spec: { finalizers: ['ex.io/a'] } })
    const put = await wire.call('PUT', at(name), {
      metadata: { name },
      spec: { finalizers: [] },
      status: { phase: 'Terminating' },
    })
    expect(put.status).toBe(200)
    expect(put.headers.get('warning')).toBeNull()
    const change = { spec: { finalizers: null }, status: { phase: 'Terminating' } }
    for (const type of ['application/merge-patch+json', 'application/strategic-merge-patch+json']) {
      expect((await wire.call('PATCH', at(name), change, type)).status).toBe(200)
    }
    const drop = [{ op: 'replace', path: '/spec/finalizers', value: [] }]
    expect((await wire.call('PATCH', at(name), drop, 'application/json-patch+json')).status).toBe(200)
    const after = await get(name)
    expect(after.spec).toEqual({ finalizers: ['ex.io/a', 'kubernetes'] })
    expect(after.status).toEqual({ phase: 'Active' })
  })

  it('replace labels, and change nothing when they say nothing new', async () => {
    const name = await make({ metadata: { labels: { a: '1' } } })
    const first = await wire.must('PUT', at(name), { metadata: { name, labels: { b: '2' } } })
    expect(first.metadata.labels).toEqual({ b: '2', 'kubernetes.io/metadata.name': name, ...creatorLabel })
    const again = await wire.must('PUT', at(name), { metadata: { name, labels: { b: '2' } } })
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
  })

  it('can not change times and generation', async () => {
    const name = await make({ metadata: { generation: 5 } })
    await wire.must('DELETE', at(name))
    const before = await get(name)
    const change = { metadata: { deletionTimestamp: null, generation: 9, creationTimestamp: null } }
    await wire.must('PATCH', at(name), change, 'application/merge-patch+json')
    expect((await get(name)).metadata).toEqual(before.metadata)
  })

  it('are refused by name, uid and version', async () => {
    const name = await make()
    const { uid } = (await get(name)).metadata
    expect((await wire.call('PUT', at('missing'), { metadata: { name: 'missing' } })).body).toEqual(
      failure({
        message: 'namespaces "missing" not found',
        reason: 'NotFound',
        details: { name: 'missing', kind: 'namespaces' },
        code: 404,
      }),
    )
    expect(await messageOf('PUT', at(name), { metadata: { name: 'a2' } })).toBe(
      `the name of the object (a2) does not match the name on the URL (${name})`,
    )
    expect(await messageOf('PUT', at(name), { metadata: {} })).toBe(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    )
    expect(await messageOf('PUT', at(name), { metadata: { name, resourceVersion: '1' } })).toBe(
      `Operation cannot be fulfilled on namespaces "${name}": the object has been modified; please apply ` +
        'your changes to the latest version and try again',
    )
    expect(await messageOf('PUT', at(name), { metadata: { name, uid: 'foo' } })).toBe(
      `Operation cannot be fulfilled on namespaces "${name}": StorageError: invalid object, Code: 4, Key: ` +
        `/registry/namespaces/${name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in ` +
        `precondition: foo, UID in object meta: ${uid}`,
    )
  })

  it('can take finalizers off its metadata while it is terminating, but put none there', async () => {
    const name = await make({ metadata: { finalizers: ['ex.io/keep'] } })
    await wire.must('DELETE', at(name))
    const change = (finalizers: string[]): object => ({ metadata: { finalizers } })
    const type = 'application/merge-patch+json'
    const refused = await wire.call('PATCH', at(name), change(['ex.io/keep', 'a.b/c']), type)
    expect(faultsIn({ code: refused.status, body: refused.body }, { kind: 'Namespace', name })).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found ' +
        'new finalizers []string{"a.b/c"}',
    ])
    expect((await wire.must('PATCH', at(name), change([]), type)).metadata.finalizers).toBeUndefined()
  })
})

const creatorLabel = { 'authorization.k8s.io/creator': 'kubernetes-admin' }

describe('/status of a namespace', () => {
  it('takes status and metadata, and keeps the spec', async () => {
    const name = await make()
    const conditions = [{ type: 'Ex', status: 'True', reason: 'R', message: 'm', lastTransitionTime: null }]
    const put = await wire.must('PUT', at(name, '/status'), {
      metadata: { name, labels: { a: '1' } },
      spec: { finalizers: [] },
      status: { conditions },
    })
    expect(put.spec).toEqual({ finalizers: ['kubernetes'] })
    expect(put.status).toEqual({ phase: 'Active', conditions })
    expect(put.metadata.labels).toMatchObject({ a: '1' })
    expect((await wire.must('GET', at(name, '/status'))).metadata.name).toBe(name)
  })

  it('refuses a phase that does not fit the deletion timestamp', async () => {
    const name = await make()
    const put = (phase: string): Promise<string> =>
      messageOf('PUT', at(name, '/status'), { metadata: { name }, status: { phase } })
    expect(await put('Terminating')).toBe(
      `Namespace "${name}" is invalid: status.Phase: Invalid value: "Terminating": may only be 'Active' if ` +
        `\`deletionTimestamp\` is empty`,
    )
    await wire.must('DELETE', at(name))
    expect(await put('Active')).toBe(
      `Namespace "${name}" is invalid: status.Phase: Invalid value: "Active": may only be 'Terminating' if ` +
        `\`deletionTimestamp\` is not empty`,
    )
  })
})

describe('/finalize of a namespace', () => {
  it('replaces finalizers and labels, keeps the status, and works on an active namespace', async () => {
    const name = await make({ metadata: { labels: { a: '1' } }, spec: { finalizers: ['ex.io/a'] } })
    const put = await wire.must('PUT', at(name, '/finalize'), {
      metadata: { name },
      spec: { finalizers: ['ex.io/b', 'kubernetes'] },
      status: { phase: 'Terminating' },
    })
    expect(put.spec).toEqual({ finalizers: ['ex.io/b', 'kubernetes'] })
    expect(put.status).toEqual({ phase: 'Active' })
    expect(put.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': name, ...creatorLabel })
  })

  it('never makes a namespace', async () => {
    expect((await wire.call('PUT', at('missing', '/finalize'), { metadata: { name: 'missing' } })).body).toEqual(
      failure({
        message: 'namespaces "missing" not found',
        reason: 'NotFound',
        details: { name: 'missing', kind: 'namespaces' },
        code: 404,
      }),
    )
  })

  it('names the finalizer that is no finalizer', async () => {
    const name = await make()
    const spec = { finalizers: ['foo', 'kubernetes'] }
    expect(await messageOf('PUT', at(name, '/finalize'), { metadata: { name }, spec })).toBe(
      `Namespace "${name}" is invalid: spec.finalizers[0]: Invalid value: "foo": name is neither a standard ` +
        'finalizer name nor is it fully qualified',
    )
  })

  it('refuses to drop kubernetes while content is left, and names it', async () => {
    const name = await make()
    await wire.must('POST', `${at(name)}/configmaps`, { metadata: { name: 'left' } })
    const { status, body } = await wire.call('PUT', at(name, '/finalize'), { metadata: { name }, spec: {} })
    expect(status).toBe(409)
    expect(body.reason).toBe('Conflict')
    expect(body.message).toBe(
      `Operation cannot be fulfilled on namespaces "${name}": 3 objects are left in it, so the finalizer ` +
        `"kubernetes" can't be removed`,
    )
    expect(body.details).toEqual({
      name,
      kind: 'namespaces',
      causes: ['configmaps/kube-root-ca.crt', 'configmaps/left', 'serviceaccounts/default'].map((message) => ({
        reason: 'NamespaceContentRemaining',
        message,
        field: 'spec.finalizers',
      })),
    })
    expect((await get(name)).spec).toEqual({ finalizers: ['kubernetes'] })
  })

  it('names ten objects at most', async () => {
    const name = await make()
    for (let i = 0; i < 12; i++) await wire.must('POST', `${at(name)}/secrets`, { metadata: { name: `s-${i}` } })
    const { body } = await wire.call('PUT', at(name, '/finalize'), { metadata: { name }, spec: {} })
    expect(body.message).toContain('14 objects are left')
    expect(body.details?.causes).toHaveLength(10)
  })

  it('lets the namespace go with the last finalizer, and answers what was sent', async () => {
    const name = await emptied()
    await wire.must('DELETE', at(name))
    const { status, body } = await wire.call('PUT', at(name, '/finalize'), { metadata: { name }, spec: {} })
    expect(status).toBe(200)
    expect(body.spec).toEqual({})
    expect((await wire.call('GET', at(name))).status).toBe(404)
  })
})

/** A namespace without even what it was created with. */
async function emptied(more: Parameters<typeof make>[0] = {}): Promise<string> {
  const name = await make(more)
  for (const resource of ['configmaps', 'serviceaccounts']) await wire.must('DELETE', `${at(name)}/${resource}`)
  return name
}

describe('DELETE of a namespace', () => {
  it('marks it in one write: time and phase together, and no grace period', async () => {
    const name = await make()
    const { resourceVersion = '' } = (await get(name)).metadata
    const answer = await wire.call('DELETE', at(name), { gracePeriodSeconds: 5 })
    expect(answer.status).toBe(200)
    expect(answer.body.kind).toBe('Namespace')
    const path = `${all}?watch=1&fieldSelector=metadata.name=${name}&resourceVersion=${resourceVersion}`
    const [event, ...more] = await wire.events(path, (seen) => seen.length > 0)
    expect(more).toEqual([])
    expect(event).toMatchObject({ type: 'MODIFIED', object: { status: { phase: 'Terminating' } } })
    expect(event?.object.metadata.deletionTimestamp).toBeDefined()
    expect(event?.object.metadata.deletionGracePeriodSeconds).toBeUndefined()
  })

  it('again, while finalizers hold it, changes nothing and ignores its options', async () => {
    const name = await make()
    const first = await wire.must('DELETE', at(name))
    const again = await wire.call('DELETE', at(name), { propagationPolicy: 'Foreground' })
    expect(again.status).toBe(200)
    expect(again.body.metadata).toEqual(first.metadata)
  })

  it('of which only metadata.finalizers are left keeps it until they go', async () => {
    const name = await emptied({ metadata: { finalizers: ['ex.io/wait'] } })
    await wire.must('DELETE', at(name))
    const { body } = await wire.call('PUT', at(name, '/finalize'), {
      metadata: { name, finalizers: ['ex.io/wait'] },
      spec: {},
    })
    expect(body.spec).toEqual({})
    expect((await get(name)).metadata.finalizers).toEqual(['ex.io/wait'])
    const marked = await wire.must('DELETE', at(name))
    expect(marked.metadata.deletionGracePeriodSeconds).toBe(0)
    await wire.must('PATCH', at(name), { metadata: { finalizers: null } }, 'application/merge-patch+json')
    expect((await wire.call('GET', at(name))).status).toBe(404)
  })

  it('checks uid and resourceVersion first', async () => {
    const name = await make()
    const { uid, resourceVersion } = (await get(name)).metadata
    expect(await messageOf('DELETE', at(name), { preconditions: { uid: 'bogus' } })).toBe(
      `Operation cannot be fulfilled on namespaces "${name}": Precondition failed: UID in precondition: ` +
        `bogus, UID in object meta: ${uid}`,
    )
    expect(await messageOf('DELETE', at(name), { preconditions: { resourceVersion: '7' } })).toBe(
      `Operation cannot be fulfilled on namespaces "${name}": Precondition failed: ResourceVersion in ` +
        `precondition: 7, ResourceVersion in object meta: ${resourceVersion}`,
    )
    expect((await wire.call('DELETE', at(name), { preconditions: { uid, resourceVersion } })).status).toBe(200)
  })

  const policies: { name: string; options: object; given?: string[]; status: number; want: string[] | undefined }[] = [
    { name: 'nothing keeps what is there', options: {}, given: ['orphan'], status: 200, want: ['orphan'] },
    {
      name: 'Background takes both away',
      options: { propagationPolicy: 'Background' },
      given: ['orphan', 'ex.io/a'],
      status: 200,
      want: ['ex.io/a'],
    },
    { name: 'Foreground', options: { propagationPolicy: 'Foreground' }, status: 200, want: ['foregroundDeletion'] },
    { name: 'Orphan', options: { propagationPolicy: 'Orphan' }, status: 200, want: ['orphan'] },
    { name: 'orphanDependents: true is Orphan', options: { orphanDependents: true }, status: 200, want: ['orphan'] },
    {
      name: 'orphanDependents: false is Background, answered 202',
      options: { orphanDependents: false },
      given: ['orphan'],
      status: 202,
      want: undefined,
    },
  ]
  it.each(policies)('with propagation policy $name', async ({ options, given, status, want }) => {
    const name = await make(given ? { metadata: { finalizers: given } } : {})
    const answer = await wire.call('DELETE', at(name), options)
    expect(answer.status).toBe(status)
    expect(answer.body.metadata.finalizers).toEqual(want)
  })

  it('with dryRun shows what would be stored, and stores nothing', async () => {
    const name = await make()
    const before = await get(name)
    const { status, body } = await wire.call('DELETE', `${at(name)}?dryRun=All`)
    expect(status).toBe(200)
    expect(body.status).toEqual({ phase: 'Terminating' })
    expect(body.metadata.deletionTimestamp).toBeDefined()
    expect(await get(name)).toEqual(before)
  })

  it('of all of them at once is not allowed', async () => {
    expect((await wire.call('DELETE', all)).status).toBe(405)
  })
})

describe('lists of namespaces', () => {
  it('can be selected by phase and by name', async () => {
    const [active, going] = [await make(), await make()]
    await wire.must('DELETE', at(going))
    const list = async (selector: string): Promise<(string | undefined)[]> =>
      (await wire.must('GET', `${all}?fieldSelector=${selector}`)).items.map((o) => o.metadata.name)
    expect(await list('status.phase=Terminating')).toContain(going)
    expect(await list('status.phase=Terminating')).not.toContain(active)
    expect(await list(`metadata.name=${active}`)).toEqual([active])
    expect(await messageOf('GET', `${all}?fieldSelector=name=x`)).toContain('field label not supported: name')
  })

  it('are printed with name, status and age', async () => {
    const response = await plane.fetch(all, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    })
    const table = (await response.json()) as { columnDefinitions: { name: string }[]; rows: { cells: string[] }[] }
    expect(table.columnDefinitions.map((c) => c.name)).toEqual(['Name', 'Status', 'Age'])
    expect(table.rows.find((r) => r.cells[0] === 'default')?.cells[1]).toBe('Active')
  })
})
