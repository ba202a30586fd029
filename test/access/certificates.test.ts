/** CertificateSigningRequests through the whole server: the calls of upstream's API test, and who may make them. */
import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { notLabel, notSubdomain } from '../support/name-faults.ts'
import { failure, faultsIn, forbidden } from '../support/refusal.ts'
import { bobRequest, janeRequest, mastersRequest, someCertificate } from '../support/signing-requests.ts'
import { type AnswerBody, Wire } from '../support/wire.ts'

const at = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const merge = 'application/merge-patch+json'
let plane: TestControlPlane
let wire: Wire
let count = 0

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})
afterAll(() => plane[Symbol.asyncDispose]())
beforeEach(() => wire.must('DELETE', at))

const body = (spec: object = {}): object => ({
  metadata: { name: `r-${++count}` },
  spec: { request: janeRequest, signerName: 'example.com/e2e', usages: ['client auth'], ...spec },
})
const make = (spec?: object): Promise<AnswerBody> => wire.must('POST', at, body(spec))
const everyUsage = [
  ...['any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment'],
  ...['decipher only', 'digital signature', 'email protection', 'encipher only', 'ipsec end system', 'ipsec tunnel'],
  ...['ipsec user', 'key agreement', 'key encipherment', 'microsoft sgc', 'netscape sgc', 'ocsp signing', 's/mime'],
  ...['server auth', 'signing', 'timestamping'],
]
  .map((usage) => `"${usage}"`)
  .join(', ')

const faultsOf = ({ status, body: answer }: { status: number; body: AnswerBody }): string[] =>
  faultsIn(
    { code: status, body: answer },
    { group: 'certificates.k8s.io', kind: 'CertificateSigningRequest', name: answer.details?.name ?? '' },
  )
const condition = (type: string) => ({ type, status: 'True', reason: 'E2E', message: 'm' })
const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)

describe('a new request', () => {
  it('is that of whoever sends it, whatever it says', async () => {
    const alice = { username: 'alice', uid: 'u1', groups: ['system:masters', 'devs'], extra: { scopes: ['a'] } }
    const forged = { username: 'root', groups: ['wheel'], uid: '0', extra: { x: ['y'] } }
    const made = (await new Wire(plane, alice).call('POST', at, body({ ...forged, expirationSeconds: 3600 }))).body
    expect(made.spec).toEqual({
      request: janeRequest,
      signerName: 'example.com/e2e',
      expirationSeconds: 3600,
      usages: ['client auth'],
      ...alice,
    })
    expect(made.status).toEqual({})
  })

  it('keeps its spec for ever; nobody is told', async () => {
    const made = await make()
    const after = await wire.must('PATCH', `${at}/${made.metadata.name}`, { spec: { usages: ['any'] } }, merge)
    expect(after.spec).toEqual(made.spec)
    expect(after.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
  })

  it.each([
    { name: 'without usages', spec: { usages: [] }, want: ['spec.usages: Required value'] },
    { name: 'with one twice', spec: { usages: ['any', 'any'] }, want: ['spec.usages[1]: Duplicate value: "any"'] },
    {
      name: 'with one nobody knows',
      spec: { usages: ['fun'] },
      want: [`spec.usages[0]: Unsupported value: "fun": supported values: ${everyUsage}`],
    },
    {
      name: 'for a minute',
      spec: { expirationSeconds: 60 },
      want: [
        'spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 600 seconds (10 minutes)',
      ],
    },
    { name: 'to nobody', spec: { signerName: '' }, want: ['spec.signerName: Required value'] },
    {
      name: 'to a mere word',
      spec: { signerName: 'me' },
      want: [
        'spec.signerName: Invalid value: "me": must be a fully qualified domain and path of the form ' +
          "'example.com/signer-name'",
      ],
    },
    {
      name: 'to the old signer',
      spec: { signerName: 'kubernetes.io/legacy-unknown' },
      want: [
        'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not ' +
          'allowed via this API version',
      ],
    },
    {
      name: 'to a domain that is none',
      spec: { signerName: 'A_b.io/x' },
      want: [`spec.signerName: Invalid value: "A_b.io": validating label "A_b": ${notLabel}`],
    },
    {
      name: 'to a domain of one segment',
      spec: { signerName: 'ex/x' },
      want: ['spec.signerName: Invalid value: "ex": should be a domain with at least two segments separated by dots'],
    },
    {
      name: 'to a signer whose name is none',
      spec: { signerName: 'ex.io/A.b' },
      want: [`spec.signerName: Invalid value: "A.b": validating label "A": ${notSubdomain}`],
    },
    {
      name: 'to a domain that is too long',
      spec: { signerName: `${Array.from({ length: 4 }, () => 'x'.repeat(63)).join('.')}/x` },
      want: ['spec.signerName: Too long: may not be more than 253 bytes'],
    },
    {
      name: 'to a signer whose name is too long',
      spec: { signerName: `ex.io/${Array.from({ length: 3 }, () => 'x'.repeat(200)).join('.')}` },
      want: ['spec.signerName: Too long: may not be more than 571 bytes'],
    },
    {
      name: 'of nothing',
      spec: { request: 'aGk=' },
      want: ['spec.request: Invalid value: "aGk=": PEM block type must be CERTIFICATE REQUEST'],
    },
  ])('$name is refused', async ({ spec, want }) => {
    expect(faultsOf(await wire.call('POST', at, body(spec)))).toEqual(want)
  })

  it('makes nobody a master', async () => {
    const signerName = 'kubernetes.io/kube-apiserver-client'
    const { body: answer } = await wire.call('POST', at, body({ signerName, request: mastersRequest }))
    const name = answer.details?.name ?? ''
    expect(answer).toEqual(
      failure({
        message:
          `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: use of ${signerName} signer ` +
          'with system:masters group is not allowed',
        reason: 'Forbidden',
        details: { name, group: 'certificates.k8s.io', kind: 'certificatesigningrequests' },
        code: 403,
      }),
    )
    expect((await wire.call('POST', at, body({ signerName, request: bobRequest }))).status).toBe(201)
  })
})

describe('approval', () => {
  it('sets conditions with their times, and metadata, and nothing else', async () => {
    const { metadata } = await make()
    const patch = {
      metadata: { annotations: { a: 'b' } },
      status: { conditions: [condition('X')], certificate: 'eA==' },
    }
    const patched = await wire.must('PATCH', `${at}/${metadata.name}/approval`, patch, merge)
    const stamped = { ...condition('X'), lastUpdateTime: isoTime, lastTransitionTime: isoTime }
    expect(patched.status).toEqual({ conditions: [stamped] })
    expect(patched.metadata.annotations).toEqual({ a: 'b' })
    const read = await wire.must('GET', `${at}/${metadata.name}/approval`)
    const approved = {
      ...read,
      status: { conditions: [...(read.status as { conditions: object[] }).conditions, condition('Approved')] },
    }
    expect((await wire.must('PUT', `${at}/${metadata.name}/approval`, approved)).status).toMatchObject({
      conditions: [{ type: 'X' }, { type: 'Approved', lastUpdateTime: isoTime }],
    })
  })

  it.each([
    {
      name: 'is for good',
      conditions: [],
      want: ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"'],
    },
    {
      name: 'is not reworded',
      conditions: [{ ...condition('Approved'), reason: 'Other' }],
      want: ['status.conditions: Forbidden: updates may not modify a condition of type "Approved"'],
    },
    {
      name: 'excludes denial',
      conditions: [condition('Approved'), condition('Denied')],
      want: [
        'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
      ],
    },
    {
      name: 'says of what it is, and whether',
      conditions: [
        { type: '', status: '' },
        { type: 'Failed', status: '' },
        { type: 'Other', status: 'Some' },
        { type: 'Other', status: 'True' },
      ],
      want: [
        'status.conditions[0].type: Required value',
        'status.conditions[0].status: Required value',
        'status.conditions[1].status: Required value',
        'status.conditions[2].status: Unsupported value: "Some": supported values: "False", "True", "Unknown"',
        'status.conditions[3].type: Duplicate value: "Other"',
        'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
      ],
    },
    {
      name: 'is true or not there',
      conditions: [{ ...condition('Approved'), status: 'False' }],
      want: [
        'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
        'status.conditions: Forbidden: updates may not modify a condition of type "Approved"',
      ],
    },
  ])('$name', async ({ conditions, want }) => {
    const { metadata } = await make()
    const place = `${at}/${metadata.name}/approval`
    await wire.must('PATCH', place, { status: { conditions: [condition('Approved')] } }, merge)
    expect(faultsOf(await wire.call('PATCH', place, { status: { conditions } }, merge))).toEqual(want)
  })

  it('does not come by way of the status', async () => {
    const { metadata } = await make()
    const patch = { status: { conditions: [condition('Approved')] } }
    expect(faultsOf(await wire.call('PATCH', `${at}/${metadata.name}/status`, patch, merge))).toEqual([
      'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
    ])
  })
})

describe('the status', () => {
  it('takes a certificate once, and conditions', async () => {
    const { metadata } = await make()
    const place = `${at}/${metadata.name}/status`
    const signed = await wire.must(
      'PATCH',
      place,
      { metadata: { annotations: { s: 't' } }, status: { certificate: someCertificate } },
      merge,
    )
    expect(signed.status).toEqual({ certificate: someCertificate })
    expect(signed.metadata.annotations).toEqual({ s: 't' })
    const read = await wire.must('GET', place)
    const updated = await wire.must('PUT', place, {
      ...read,
      status: { certificate: someCertificate, conditions: [condition('StatusUpdate')] },
    })
    expect(updated.status).toMatchObject({ conditions: [{ type: 'StatusUpdate' }] })
    const other = await wire.call('PATCH', place, { status: { certificate: null } }, merge)
    expect(faultsOf(other)).toEqual([
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    ])
  })

  it.each([
    {
      name: 'no PEM',
      certificate: 'eA==',
      want: [
        'status.certificate: Invalid value: "<certificate data>": must contain one or more CERTIFICATE PEM blocks',
      ],
    },
    {
      name: 'a request',
      certificate: janeRequest,
      want: [
        'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, ' +
          'found "CERTIFICATE REQUEST"',
      ],
    },
  ])('does not take $name', async ({ certificate, want }) => {
    const { metadata } = await make()
    const answer = await wire.call('PATCH', `${at}/${metadata.name}/status`, { status: { certificate } }, merge)
    expect(faultsOf(answer)).toEqual(want)
  })
})

describe('who may', () => {
  const rights = async (user: string, verb: string, resourceNames: string[]): Promise<Wire> => {
    const name = `csr-${user}`
    const rules = [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: [
          'certificatesigningrequests',
          'certificatesigningrequests/approval',
          'certificatesigningrequests/status',
        ],
        verbs: ['*'],
      },
      ...(verb === ''
        ? []
        : [{ apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames, verbs: [verb] }]),
    ]
    await wire.must('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name }, rules })
    await wire.must('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    })
    return wire.as(user)
  }
  /** '' = it was done. */
  const outcome = async (as: Wire, part: string, status: object): Promise<string> => {
    const { name = '' } = (await make()).metadata
    const { status: code, body } = await as.call('PATCH', `${at}/${name}/${part}`, { status }, merge)
    if (code === 200) return ''
    const why = body.message.replace(/^.*is forbidden: /, '')
    const about = { group: 'certificates.k8s.io', kind: 'certificatesigningrequests', name }
    expect(body).toEqual(forbidden(about, why))
    return why
  }
  const approve = { conditions: [condition('Approved')] }
  const sign = { certificate: someCertificate }

  it('approve and sign: who holds the verb on the signer, or on its domain', async () => {
    const approver = await rights('approver', 'approve', ['example.com/e2e'])
    const signer = await rights('signer', 'sign', ['example.com/*'])
    const nobody = await rights('nobody', '', [])
    expect(await outcome(approver, 'approval', approve)).toBe('')
    expect(await outcome(signer, 'status', sign)).toBe('')
    const mayNot = (what: string) => `user not permitted to ${what} requests with signerName "example.com/e2e"`
    expect(await outcome(signer, 'approval', approve)).toBe(mayNot('approve'))
    expect(await outcome(approver, 'status', sign)).toBe(mayNot('sign'))
    expect(await outcome(nobody, 'status', { conditions: [condition('Failed')] })).toBe(mayNot('sign'))
    expect(await outcome(nobody, 'status', { conditions: [condition('Other')] })).toBe('')
  })
})

describe('client certificates of this server', () => {
  const signerName = 'kubernetes.io/kube-apiserver-client'
  /** Approved; as soon as the signer has said something. */
  const approved = async (
    spec: object = {},
  ): Promise<{ certificate?: string; conditions?: { type: string; message: string }[] }> => {
    const { metadata } = await make({ signerName, ...spec })
    const selector = `${at}?watch=true&fieldSelector=metadata.name%3D${metadata.name}`
    const settled = wire.events(selector, (seen) => {
      const { certificate, conditions } = (seen.at(-1)?.object.status ?? {}) as {
        certificate?: string
        conditions?: { type: string }[]
      }
      return certificate !== undefined || (conditions ?? []).some((c) => c.type === 'Failed')
    })
    await wire.must(
      'PATCH',
      `${at}/${metadata.name}/approval`,
      { status: { conditions: [condition('Approved')] } },
      merge,
    )
    return (await settled).at(-1)?.object.status as Awaited<ReturnType<typeof approved>>
  }

  it('are signed once they are approved, for as long as was asked', async () => {
    const { certificate } = await approved({ expirationSeconds: 7200, usages: ['client auth', 'digital signature'] })
    const read = new X509Certificate(Buffer.from(certificate ?? '', 'base64'))
    expect(read.subject.split('\n').sort()).toEqual(['CN=jane', 'O=devs', 'O=ops'])
    const hours = (read.validToDate.getTime() - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(1.9)
    expect(hours).toBeLessThanOrEqual(2)
    expect(read.publicKey.asymmetricKeyType).toBe('ed25519')
  })

  it.each([
    {
      name: 'for a server',
      usages: ['client auth', 'server auth'],
      want: 'usage "server auth" is not one of a client certificate',
    },
    { name: 'for nothing', usages: ['digital signature'], want: 'usages must include "client auth"' },
  ])('are refused $name', async ({ usages, want }) => {
    const { conditions, certificate } = await approved({ usages })
    expect(conditions?.find((c) => c.type === 'Failed')?.message).toBe(want)
    expect(certificate).toBeUndefined()
  })
})

it('list by signer, watch and the removal of a collection work', async () => {
  await make()
  const other = await make({ signerName: 'example.com/other' })
  const selected = await wire.must('GET', `${at}?fieldSelector=spec.signerName%3Dexample.com/other`)
  expect(selected.items.map((i) => i.metadata.name)).toEqual([other.metadata.name])
  const deleted = wire.events(
    `${at}?watch=true&resourceVersion=${selected.metadata.resourceVersion}`,
    (e) => e.length === 2,
  )
  await wire.must('DELETE', at)
  expect((await deleted).map((e) => e.type)).toEqual(['DELETED', 'DELETED'])
})
