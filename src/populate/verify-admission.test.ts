import { expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import type { Client } from '../client/client.ts'
import { StatusError } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { verifyAdmission } from './verify-admission.ts'

const admitted: KubeObject = {
  metadata: {
    annotations: { 'authorization.k8s.io/creator': 'borough' },
    finalizers: ['policy.borough.dev/prune'],
  },
}

/** What came of it where the dry runs are answered so, one after the other, and then as they should be. */
async function outcomeOf(...answers: readonly Error[]): Promise<{ tries: number; told: string[]; problem: unknown }> {
  const clock = new FakeClock()
  const told: string[] = []
  let tries = 0
  const client = {
    create(): Promise<KubeObject> {
      const answer = answers[tries++]
      return answer === undefined ? Promise.resolve(admitted) : Promise.reject(answer)
    },
  } as unknown as Client
  const ids = { uid: () => 'u', nameSuffix: () => 'x' }
  const onUntried = (why: string): void => void told.push(why)
  const { signal } = new AbortController()
  const verified = verifyAdmission({ client, clock, ids, signal, patienceMs: 150, onUntried })
  for (const _ of answers) await clock.advance(100)
  return { problem: await verified, tries, told }
}

const refused = (message: string): StatusError => new StatusError(message, { code: 403, reason: 'Forbidden' })
const early = refused(
  "namespaces is forbidden: ValidatingAdmissionPolicy 'borough-population-namespace' with binding " +
    "'borough-population-namespace' denied request: annotation authorization.k8s.io/creator says who",
)

test('a refusal of our own policies is no answer: others of them are not heard of yet', async () => {
  expect(await outcomeOf(early)).toEqual({ problem: undefined, tries: 3, told: [] })
  expect(await outcomeOf(early, early, early)).toMatchObject({ problem: early.message, told: [] })
})

test('what another policy or a role refuses proves nothing, and is told', async () => {
  const other = refused("ValidatingAdmissionPolicy 'names' with binding 'names' denied request: no")
  expect(await outcomeOf(other)).toEqual({ problem: undefined, tries: 2, told: [other.message] })
})
