import { describe, expect, it } from 'vitest'
import type { Transport } from '../client/transport.ts'
import { examineReadiness } from './readiness.ts'

const server = 'https://borough.test'
const check = `readiness of ${server}`

const examined = (status: number, text: string): ReturnType<typeof examineReadiness> =>
  examineReadiness({
    server,
    transport: {
      send: () => Promise.resolve({ status, header: () => undefined, body: Buffer.from(text) }),
    } as unknown as Transport,
  })

describe('what a server says of itself', () => {
  it('is in order where every check is ok, at any API server', async () => {
    const lines = '[+]ping ok\n[+]etcd excluded: ok\nwarn: some health checks cannot be excluded\nreadyz check passed\n'
    expect(await examined(200, lines)).toEqual([{ check, status: 'ok', message: 'it is ready, and warns of nothing' }])
  })

  it('fails where values are damaged or opened by no key, and where a check fails', async () => {
    const lines =
      '[-]kms-providers failed: reason withheld\n[+]storage ok, with 2 warnings\n' +
      'warn: the stored value of /a is damaged\nwarn: the stored value of /b is damaged\nreadyz check failed\n'
    expect(await examined(500, lines)).toEqual([
      {
        check: `${check}: kms-providers`,
        status: 'fail',
        message: 'it fails: no request should be sent there',
        remedy: 'the log of the server has the reason',
      },
      {
        check: `${check}: storage`,
        status: 'fail',
        message: 'the stored value of /a is damaged (and 1 more)',
        remedy:
          "'borough storage verify' names what is damaged, and with --encryption-provider-config what no key opens; " +
          "'borough storage repair' lists what can be done",
      },
    ])
  })

  it('warns of a full store, of backups that fail and of what is not known here', async () => {
    const lines =
      '[+]storage-room ok, with 1 warnings\nwarn: the store in /d is full\n[+]backups ok, with 1 warnings\n' +
      'warn: no backup\n[+]storage-format ok, with 3 warnings\nreadyz check passed\n'
    expect(await examined(200, lines)).toEqual([
      {
        check: `${check}: storage-room`,
        status: 'warn',
        message: 'the store in /d is full',
        remedy: "'A full disk' and 'A full etcd' in docs/operations.md say what is taken meanwhile, and what helps",
      },
      {
        check: `${check}: backups`,
        status: 'warn',
        message: 'no backup',
        remedy: 'see the log of the server; the next one is tried by itself, and a backup by hand counts as well',
      },
      {
        check: `${check}: storage-format`,
        status: 'warn',
        message: '3 warnings, told to known users alone',
        remedy: 'see the log of the server',
      },
    ])
  })

  it('is not known where it may not be asked, or does not answer', async () => {
    expect(await examined(403, '')).toEqual([
      {
        check,
        status: 'warn',
        message: 'it answers 403 to /readyz?verbose',
        remedy: 'ask as a user who may get that path',
      },
    ])
    const transport = { send: () => Promise.reject(new Error('gone')) } as unknown as Transport
    expect(await examineReadiness({ server, transport })).toEqual([
      { check, status: 'fail', message: 'it does not say: gone', remedy: 'see the log of the server' },
    ])
  })
})
