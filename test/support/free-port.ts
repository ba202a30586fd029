/**
 * Ports for servers that tests start again on the same address: free now, and given to nobody else meanwhile.
 *
 * They lie below those that the system hands out by itself (32768 and up on Linux), so that no client's connection and
 * no other server takes one while ours is down. Each worker of vitest has a range of its own.
 */
import { createServer } from 'node:net'

const first = 12_000
const perWorker = 1000
const workers = 20
const from = first + (Number(process.env['VITEST_POOL_ID'] ?? 0) % workers) * perWorker
/** Runs of the suite beside this one must not try in the same order. */
let next = process.pid % perWorker

/** @throws Error if none is free */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < perWorker; tried++) {
    const port = from + (next++ % perWorker)
    if (await isFree(port)) return port
  }
  throw new Error(`no port is free between ${from} and ${from + perWorker}`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
  } catch {
    return false
  }
  await new Promise((resolve) => server.close(resolve))
  return true
}
