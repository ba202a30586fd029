/** What a YAML body is made into takes many times its own memory, and is counted before it is taken. */
import { afterEach, expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type BesiegedServer, bearer, doraToken, startBesieged } from './besieged-server.ts'

let world: BesiegedServer
afterEach(() => world[Symbol.asyncDispose]())

const mib = 1024 * 1024
const path = '/api/v1/namespaces/mine/configmaps?dryRun=All'
const headers = { ...bearer(doraToken), 'content-type': 'application/yaml' }
/** Two tokens each: a comment, a line. */
const withComments = (count: number): string =>
  `${'# c\n'.repeat(count)}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: drafted}\n`
const many = withComments(50_000)
const few = withComments(17_000)

test.each([
  {
    maxMemoryBytes: 64 * mib,
    code: 413,
    text: 'The request takes more memory than the 26843545 bytes that all requests',
  },
  { maxMemoryBytes: defaultConfig.load.maxMemoryBytes, code: 201, text: '' },
])('attack: a YAML body of 100,000 tokens within $maxMemoryBytes bytes is answered $code', async (bound) => {
  world = await startBesieged({ load: { ...defaultConfig.load, maxMemoryBytes: bound.maxMemoryBytes } })
  const answer = await world.send(path, { method: 'POST', headers, body: many })
  expect([answer.code, answer.text]).toEqual([bound.code, expect.stringContaining(bound.text)])
  // What was counted for it is given back, so the next ones have room.
  for (let i = 0; i < 3; i++) {
    const next = await world.send(path, { method: 'POST', headers, body: few })
    expect([next.code, next.text]).toEqual([201, expect.any(String)])
  }
})
