/** The attacker's process: one attack at a time, by its name. */
import type { Endpoint } from '../load/connection.ts'
import { attacks } from './attacks.ts'
import { count, type Tally } from './means.ts'

export interface AttackTask {
  readonly name: string
  readonly endpoint: Endpoint
  readonly localAddress: string
  readonly durationMs: number
}

async function attack({ name, durationMs, ...means }: AttackTask): Promise<Tally> {
  const found = attacks.find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no attack ${name}`)
  const tally: Tally = { sent: 0, answers: {} }
  try {
    await found.run({ ...means, tally, signal: AbortSignal.timeout(durationMs) })
  } catch (error) {
    // What an attacker runs into is a result, too: it stands in the table.
    count(tally, `failed (${error instanceof Error ? error.message : String(error)})`)
  }
  return tally
}

process.on('message', (task: AttackTask) => {
  attack(task).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.stack : String(error) }),
  )
})
process.on('disconnect', () => process.exit())
