/** Annotations of pods that say what containers may do, or who made the pod: what they may be, and that they stay. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { forbidden, invalidObject } from '../support/refusal.ts'
import { Wire } from '../support/wire.ts'

const pods = '/api/v1/namespaces/default/pods'
const mirror = 'kubernetes.io/config.mirror'
const appArmor = 'container.apparmor.security.beta.kubernetes.io/'
const cost = 'controller.kubernetes.io/pod-deletion-cost'
const seccomp = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompOfMain = 'container.seccomp.security.alpha.kubernetes.io/main'

let plane: TestControlPlane
let wire: Wire

const containers = [{ name: 'main', image: 'nginx' }]
const pod = (name: string, annotations: object, spec: object = {}) => ({
  metadata: { name, annotations },
  spec: { containers, ...spec },
})

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
  await wire.must('POST', pods, pod('plain', {}))
  await wire.must('POST', pods, pod('marked', { [mirror]: 'a', [`${appArmor}main`]: 'localhost/x' }, { nodeName: 'n' }))
})

afterAll(() => plane[Symbol.asyncDispose]())

describe('a pod is not created with', () => {
  it.each([
    ['the mark of a mirror pod, on no node', mirror, 'h', 'must set spec.nodeName if mirror pod annotation is set'],
    ['a cost with a plus sign', cost, '+1', 'must be a 32bit integer'],
    ['a cost of more than 32 bits', cost, '2147483648', 'must be a 32bit integer'],
    ['a cost of less than 32 bits', cost, '-2147483649', 'must be a 32bit integer'],
    ['an AppArmor profile of no form', `${appArmor}main`, 'mine', 'invalid AppArmor profile name: "mine"'],
  ])('%s', async (_, key, value, detail) => {
    expect((await wire.call('POST', pods, pod('p', { [key]: value }))).body).toEqual(
      invalidObject({ kind: 'Pod', name: 'p' }, [`metadata.annotations[${key}]: Invalid value: "${value}": ${detail}`]),
    )
  })

  it('an AppArmor profile for a container that it does not have', async () => {
    expect((await wire.call('POST', pods, pod('p', { [`${appArmor}other`]: 'unconfined' }))).body).toEqual(
      invalidObject({ kind: 'Pod', name: 'p' }, [
        `metadata.annotations[${appArmor}other]: Invalid value: "other": container not found`,
      ]),
    )
  })

  it.each([
    ['mine', 'mine', 'must be a valid seccomp profile'],
    ['localhost//etc', '/etc', 'must be a relative path'],
    ['localhost/a/../..', 'a/../..', "must not contain '..'"],
  ])('the seccomp profile %s', async (given, told, detail) => {
    expect((await wire.call('POST', pods, pod('p', { [seccomp]: given, [seccompOfMain]: given }))).body).toEqual(
      invalidObject({ kind: 'Pod', name: 'p' }, [
        `metadata.annotations.${seccompOfMain}: Invalid value: "${told}": ${detail}`,
        `metadata.annotations.${seccomp}: Invalid value: "${told}": ${detail}`,
      ]),
    )
  })

  it('and may be with those that are right', async () => {
    const annotations = { [cost]: '-2147483648', [`${appArmor}main`]: 'unconfined', [seccomp]: 'localhost/a..b' }
    expect((await wire.call('POST', pods, pod('right', annotations))).status).toBe(201)
  })
})

describe.each(['', '/status'])('by a write of a pod%s', (subresource) => {
  const change = (name: string, annotations: object) =>
    wire.call('PATCH', `${pods}/${name}${subresource}`, { metadata: { annotations } }, 'application/merge-patch+json')

  it('no AppArmor profile is added, which PodSecurity would not see', async () => {
    expect((await change('plain', { [`${appArmor}main`]: 'unconfined' })).body).toEqual(
      invalidObject({ kind: 'Pod', name: 'plain' }, [
        `metadata.annotations[${appArmor}main]: Forbidden: may not add AppArmor annotations`,
      ]),
    )
  })

  it('it does not become a mirror pod', async () => {
    expect((await change('plain', { [mirror]: 'h' })).body).toEqual(
      invalidObject({ kind: 'Pod', name: 'plain' }, [
        `metadata.annotations[${mirror}]: Forbidden: may not add mirror pod annotation`,
        `metadata.annotations[${mirror}]: Invalid value: "h": must set spec.nodeName if mirror pod annotation is set`,
      ]),
    )
  })

  it.each([null, 'unconfined'])('what was there does not become %s', async (value) => {
    expect((await change('marked', { [mirror]: value, [`${appArmor}main`]: value })).body).toEqual(
      invalidObject({ kind: 'Pod', name: 'marked' }, [
        `metadata.annotations[${appArmor}main]: Forbidden: may not remove or update AppArmor annotations`,
        `metadata.annotations[${mirror}]: Forbidden: may not remove or update mirror pod annotation`,
      ]),
    )
  })

  it('other annotations change as they like', async () => {
    expect((await change('marked', { note: 'x' })).status).toBe(200)
    expect((await change('plain', { [cost]: '7' })).status).toBe(200)
  })
})

describe('what an annotation says of AppArmor is a field of a new pod, but', () => {
  const key = (name: string) => `container.apparmor.security.beta.kubernetes.io/${name}`
  const spec = (fields: object) => ({
    ...fields,
    initContainers: [{ name: 'i', image: 'i' }],
    containers: [{ name: 'c', image: 'i' }],
  })
  it.each<
    [unless: string, annotations: object, fields: object, ofInit: object | undefined, ofMain: object | undefined]
  >([
    ['of none that has no annotation', { [key('i')]: 'unconfined' }, {}, { type: 'Unconfined' }, undefined],
    ['what no field can say', { [key('i')]: 'localhost/ a', [key('c')]: '' }, {}, undefined, undefined],
    [
      'what the pod says already',
      { [key('i')]: 'runtime/default', [key('c')]: 'localhost/x' },
      { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } },
      undefined,
      { type: 'Localhost', localhostProfile: 'x' },
    ],
  ])('%s', async (_, annotations, fields, ofInit, ofMain) => {
    const pod = { metadata: { name: 'skew', annotations }, spec: spec(fields) }
    const { body } = await wire.call('POST', '/api/v1/namespaces/default/pods?dryRun=All', pod)
    const profiles = (role: string) => {
      const [container] =
        (body.spec as Record<string, { securityContext?: { appArmorProfile?: object } }[]>)[role] ?? []
      return container?.securityContext?.appArmorProfile
    }
    expect([profiles('initContainers'), profiles('containers')]).toEqual([ofInit, ofMain])
  })
})

it('a mirror pod that names an account is forbidden, before it is told what is wrong with it otherwise', async () => {
  const metadata = { name: 'm', annotations: { 'kubernetes.io/config.mirror': 'x' } }
  const pod = { metadata, spec: { serviceAccountName: 'a', containers: [{ name: 'c', image: 'i' }] } }
  expect((await wire.call('POST', '/api/v1/namespaces/default/pods', pod)).body).toEqual(
    forbidden({ kind: 'pods', name: 'm' }, 'a mirror pod may not reference service accounts'),
  )
})
