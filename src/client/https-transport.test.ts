import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { webhookCertificates } from '../../test/support/webhook-server.ts'
import { httpsTransport, type Patience } from './https-transport.ts'
import { RestClient } from './rest-client.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' } as const
/** Short only where the end of it is what is tried: a machine may stand still for a second. */
const patient = (ms = 60_000): Patience => ({ answerMs: ms, watchMs: ms, watchSeconds: 240 })

let server: Pick<Server, 'close' | 'closeAllConnections'> | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serving(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  patience: Patience = patient(),
): Promise<RestClient> {
  const listening = createServer(answer)
  server = listening
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const { port } = listening.address() as AddressInfo
  const transport = httpsTransport({ server: `http://127.0.0.1:${port}`, credentials: () => ({}), patience })
  return new RestClient({ transport, userAgent: 'test' })
}

const ref = { namespace: 'a', name: 'b' }
const event = `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'b' } } })}\n`

describe('a server elsewhere', () => {
  test('is trusted by its own certificate as by that of its authority, and by no other', async () => {
    const { key, cert, ca } = webhookCertificates(['127.0.0.1'])
    const listening = createSecureServer({ key, cert }, (_, response) => response.end('{"metadata":{"name":"b"}}'))
    server = listening
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    const { port } = listening.address() as AddressInfo
    const trusting = (certificate: string): RestClient => {
      const credentials = (): { ca: string } => ({ ca: certificate })
      const transport = httpsTransport({ server: `https://127.0.0.1:${port}`, credentials, patience: patient() })
      return new RestClient({ transport, userAgent: 'test' })
    }
    for (const certificate of [ca, cert]) {
      expect((await trusting(certificate).get(configMaps, ref)).metadata.name).toBe('b')
    }
    const stranger = webhookCertificates(['127.0.0.1'])
    await expect(trusting(stranger.cert).get(configMaps, ref)).rejects.toThrow("can't be reached")
  })

  test('that does not answer is taken for dead', async () => {
    const client = await serving(() => {}, patient(150))
    await expect(client.get(configMaps, ref)).rejects.toThrow('no word from')
  })

  test('that stops in the middle of an answer is taken for dead', async () => {
    const client = await serving((_, response) => response.write('{"metadata":'), patient(150))
    await expect(client.get(configMaps, ref)).rejects.toThrow()
  })

  test('whose watch says nothing past the time it should have ended is taken for dead after what it said', async () => {
    const client = await serving((_, response) => response.write(event), patient(1500))
    const seen: (string | undefined)[] = []
    const following = (async () => {
      for await (const { object } of client.watch(configMaps, { signal: new AbortController().signal })) {
        seen.push(object.metadata.name)
      }
    })()
    await expect(following).rejects.toThrow()
    expect(seen).toEqual(['b'])
  })

  test('that goes on saying something is listened to for as long as it does', async () => {
    const client = await serving((_, response) => {
      let n = 0
      const timer = setInterval(() => {
        if (n++ < 6) response.write(event)
        else {
          clearInterval(timer)
          response.end()
        }
      }, 300)
    }, patient(1500))
    let seen = 0
    for await (const _ of client.watch(configMaps, { signal: new AbortController().signal })) seen += 1
    expect(seen).toBe(6)
  })

  test('is asked to end a watch after some minutes, not all watches at once', async () => {
    const asked: number[] = []
    const client = await serving((request, response) => {
      asked.push(Number(new URL(request.url ?? '', 'http://x').searchParams.get('timeoutSeconds')))
      response.end()
    })
    for (let i = 0; i < 20; i++) {
      for await (const _ of client.watch(configMaps, { signal: new AbortController().signal }))
        throw new Error('an event')
    }
    expect(new Set(asked).size).toBeGreaterThan(1)
    for (const seconds of asked) expect(seconds >= 240 && seconds <= 300).toBe(true)
  })
})
