/** The unit for systemd, and what a server that systemd started tells it. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const unit = join(root, 'deploy/systemd/borough.service')
const main = join(root, 'src/cli/main.ts')
const analyzes = spawnSync('systemd-analyze', ['--version']).status === 0

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'borough-systemd-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.skipIf(!analyzes)('systemd-analyze finds nothing wrong with the unit (skipped where there is none)', () => {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
})

test('the flags of the unit are flags of borough up', () => {
  const start = /^ExecStart=\/usr\/bin\/env borough (.*)$/m.exec(readFileSync(unit, 'utf8'))?.[1] ?? ''
  const { stdout: help } = spawnSync(process.execPath, [main, 'up', '--help'], { encoding: 'utf8' })
  const flags = start.match(/--[a-z-]+/g) ?? []
  expect(flags).toEqual(['--config', '--data-dir'])
  for (const flag of flags) expect(help).toContain(`${flag} <`)
})

/** A server with a `systemd-notify` that writes down what it is told, or fails. */
async function served(script: string): Promise<{ readonly code: number | null; readonly log: string }> {
  const program = join(folder, 'systemd-notify')
  writeFileSync(program, `#!/bin/sh\n${script}\n`)
  chmodSync(program, 0o755)
  const flags = ['--storage', 'memory', '--data-dir', join(folder, 'data'), '--listen', '127.0.0.1:0', '-o', 'json']
  const server = spawn(process.execPath, [main, 'up', ...flags], {
    env: { ...process.env, PATH: `${folder}:${process.env['PATH']}`, NOTIFY_SOCKET: join(folder, 'socket') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  await once(server.stdout, 'data')
  server.kill('SIGTERM')
  const [code] = (await once(server, 'close')) as [number | null]
  return { code, log }
}

test('a server says that it is ready, and that it stops', async () => {
  const said = join(folder, 'said')
  expect(await served(`echo "$*" >> ${said}`)).toEqual({ code: 0, log: '' })
  expect(readFileSync(said, 'utf8')).toBe('READY=1\nSTOPPING=1\n')
}, 120_000)

test('a server that can not say so serves, and logs it', async () => {
  const { code, log } = await served('echo no such socket >&2; exit 1')
  expect(code).toBe(0)
  const lines = log.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ state: 'READY=1', msg: 'systemd could not be told' }),
    expect.objectContaining({ state: 'STOPPING=1', msg: 'systemd could not be told' }),
  ])
}, 120_000)
