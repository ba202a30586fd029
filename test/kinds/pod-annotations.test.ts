/** Annotations of pods that say what containers may do, or who made the pod: what they may be, and that they stay. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { invalidObject } from '../support/refusal.ts'
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
