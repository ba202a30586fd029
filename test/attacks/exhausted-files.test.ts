/** A process that may open few files: connections end before files do. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-files-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

// The limit is read from there.
test.skipIf(!existsSync('/proc/self/limits'))(
  'attack: more connections than the system has files for, where a user still gets in, and the log says so once',
  async () => {
    const args = ['up', '--data-dir', join(folder, 'data'), '--listen', '127.0.0.1:0', '--no-population', '-o', 'json']
    const command = `ulimit -n 256; exec "$0" "$@"`
    const server = spawn('sh', ['-c', command, process.execPath, main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    const exited = once(server, 'exit')
    const lines: string[] = []
    createInterface({ input: server.stderr }).on('line', (line) => lines.push(line))
    const [ready] = (await once(createInterface({ input: server.stdout }), 'line')) as [string]
    const { url, kubeconfig } = JSON.parse(ready) as { url: string; kubeconfig: string }
    const { port } = new URL(url)
    const silent: Socket[] = []
    for (let i = 0; i < 400; i++) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
      silent.push(socket)
      await once(socket, 'connect')
    }
    expect(await namespaces(url, kubeconfig)).toBe(200)
    for (const socket of silent) socket.destroy()
    server.kill('SIGTERM')
    await exited
    const said = lines.map((line) => JSON.parse(line) as { bound: string; flow: string })
    expect(said.map(({ bound, flow }) => ({ bound, flow }))).toEqual([
      { bound: 'connections', flow: 'address 127.0.0.1' },
    ])
  },
  120_000,
)

/** As the administrator. */
async function namespaces(url: string, kubeconfig: string): Promise<number> {
  const { clusters, users } = parse(await readFile(kubeconfig, 'utf8')) as {
    clusters: [{ cluster: { 'certificate-authority-data': string } }]
    users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }]
  }
  const pem = (text: string): Buffer => Buffer.from(text, 'base64')
  const { user } = users[0]
  const asked = request(new URL('/api/v1/namespaces', url), {
    ca: pem(clusters[0].cluster['certificate-authority-data']),
    cert: pem(user['client-certificate-data']),
    key: pem(user['client-key-data']),
    agent: false,
  })
  asked.end()
  const [response] = await once(asked, 'response')
  response.resume()
  return response.statusCode
}
