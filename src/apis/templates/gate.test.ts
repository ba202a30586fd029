import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/client.ts'
import { conflict, notFound } from '../../kube/status-error.ts'
import { type Namespace, namespaceResource } from '../namespaces/types.ts'
import { isGateShut, openGate, tellingLabels } from './gate.ts'
import { pendingLabel } from './types.ts'

const namespace = (given: { pending?: string[]; labels?: Record<string, string>; uid?: string }): Namespace => ({
  metadata: {
    name: 'a',
    uid: given.uid ?? 'u1',
    resourceVersion: '7',
    ...(given.labels ? { labels: given.labels } : {}),
  },
  ...(given.pending ? { spec: { initializers: { pending: given.pending.map((name) => ({ name })) } } } : {}),
})
const labelled = { [pendingLabel]: 'true', team: 'a' }

/** Answers patches with what the test says, and remembers them. */
function server(answers: readonly (Error | undefined)[], live?: Namespace): { client: Client; patches: object[] } {
  const patches: object[] = []
  const client = {
    patch(_: object, __: object, patch: object) {
      patches.push(patch)
      const answer = answers[patches.length - 1]
      return answer ? Promise.reject(answer) : Promise.resolve({})
    },
    get: () => (live ? Promise.resolve(live) : Promise.reject(notFound(namespaceResource, 'a'))),
  }
  return { client: client as unknown as Client, patches }
}

const signal = new AbortController().signal
const lost = conflict(namespaceResource, 'a', 'changed')

describe('the gate of a namespace', () => {
  test.each([
    { name: 'is open where nothing waits', given: namespace({}), want: false },
    {
      name: 'is shut while we are the first initializer',
      given: namespace({ pending: ['namespace-template'] }),
      want: true,
    },
    {
      name: 'is not ours to open while another is before us',
      given: namespace({ pending: ['other.io/x', 'namespace-template'] }),
      want: false,
    },
    {
      name: 'is shut by the label of clusters without initializers',
      given: namespace({ labels: labelled }),
      want: true,
    },
  ])('$name', ({ given, want }) => expect(isGateShut(given)).toBe(want))

  test('is opened by removing ourselves from the list, at the version seen', async () => {
    const { client, patches } = server([undefined])
    await openGate(client, namespace({ pending: ['namespace-template', 'other.io/x'] }), signal)
    expect(patches).toEqual([
      { metadata: { resourceVersion: '7' }, spec: { initializers: { pending: [{ name: 'other.io/x' }] } } },
    ])
  })

  test('is opened by removing the label, and no other', async () => {
    const { client, patches } = server([undefined])
    await openGate(client, namespace({ labels: labelled }), signal)
    expect(patches).toEqual([{ metadata: { resourceVersion: '7', labels: { [pendingLabel]: null } } }])
  })

  test('is opened on the newest version when somebody else wrote in between', async () => {
    const { client, patches } = server([lost, undefined], namespace({ labels: labelled }))
    await openGate(client, namespace({ labels: labelled }), signal)
    expect(patches).toHaveLength(2)
  })

  test('is left alone when the namespace is another one of the same name by now, or gone', async () => {
    const another = server([lost], namespace({ labels: labelled, uid: 'u2' }))
    await openGate(another.client, namespace({ labels: labelled }), signal)
    expect(another.patches).toHaveLength(1)
    const gone = server([notFound(namespaceResource, 'a')])
    await openGate(gone.client, namespace({ labels: labelled }), signal)
    expect(gone.patches).toHaveLength(1)
  })

  test('has a label that says nothing about which templates match', () => {
    expect(tellingLabels(namespace({ labels: labelled }))).toEqual({ team: 'a' })
    expect(tellingLabels(namespace({}))).toBeUndefined()
  })
})
