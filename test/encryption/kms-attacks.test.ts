/**
 * KMS plugins that are slow, sick or another's: nothing waits for them for ever, nothing is written that could not be
 * read again or that others could read, and none counts as well.
 */
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import type { ServerHttp2Stream } from 'node:http2'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { ProtoWriter } from '../../src/base/protobuf.ts'
import { EncryptedStorage } from '../../src/encryption/encrypted-storage.ts'
import { Encryption } from '../../src/encryption/encryption.ts'
import { writeAnnotations } from '../../src/encryption/kms-client.ts'
import { damageOf } from '../../src/storage/damaged-value.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { prefixSpan, type Storage } from '../../src/storage/storage.ts'
import { put, text } from '../contract/storage-reader.ts'
import { identity, kms, writeConfiguration } from './configurations.ts'
import { answer, KmsPlugin } from './kms-plugin.ts'

let folder: string
let plugin: KmsPlugin
let clock: FakeClock
let memory: MemoryStorage
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-kms-'))
  plugin = await KmsPlugin.start(folder)
  clock = new FakeClock()
  memory = new MemoryStorage({})
})
afterEach(async () => {
  await plugin[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const timeout = '900ms'
async function opened(endpoint = plugin.endpoint, within = timeout): Promise<EncryptedStorage> {
  const entry = { resources: ['secrets'], providers: [kms(endpoint, 'test', within), identity] }
  const choice = { path: await writeConfiguration(folder, entry), automaticReload: false }
  const encryption = await Encryption.open({ choice, storage: memory, clock, log: silentLog })
  return new EncryptedStorage(memory, encryption)
}
const key = '/registry/secrets/a/b'
const write = (storage: Storage, value: string, of = key) =>
  storage.commit({ guards: [], writes: [put(of, value)] }).done
const read = async (storage: Storage, of = key): Promise<string> =>
  text((await storage.get(of)).entry?.value ?? new Uint8Array(0)) ?? ''
const seeds = async (): Promise<number> => (await memory.range(prefixSpan('/borough/encryption/kms/'))).entries.length
/** Has the time come, and waits until what follows has been done in real time. */
async function passes(ms: number, until: () => boolean): Promise<void> {
  await clock.advance(ms)
  await expect.poll(until).toBe(true)
}

const encryption = (ciphertext: Uint8Array, keyId: string, annotations: Record<string, Buffer> = {}): Buffer => {
  const writer = new ProtoWriter()
  writer.bytes(1, ciphertext)
  writer.bytes(2, Buffer.from(keyId))
  writeAnnotations(writer, 3, new Map(Object.entries(annotations)))
  return writer.finish()
}
const texts = (...fields: readonly string[]): Buffer => {
  const writer = new ProtoWriter()
  for (const [i, field] of fields.entries()) writer.bytes(i + 1, Buffer.from(field))
  return writer.finish()
}
/** A message. */
const says = (message: Uint8Array) => (stream: ServerHttp2Stream) => answer(stream, { message })
const some = Buffer.from('something encrypted')
const hang = (): void => undefined
function trickle(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
  const timer = setInterval(() => stream.write(Buffer.alloc(1)), 20)
  stream.on('close', () => clearInterval(timer))
}
const bare =
  (head: readonly number[], status = 200) =>
  (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': status, 'grpc-status': '0' })
    stream.end(Buffer.from(head))
  }

interface Attack {
  readonly name: string
  readonly call: 'Status' | 'Encrypt' | 'Decrypt'
  readonly instead: (stream: ServerHttp2Stream, request: Buffer) => void
  readonly named: string
  /** Where it is found out in another way when the key is another. */
  readonly later?: string
}

const attacks: readonly Attack[] = [
  ...(['Status', 'Encrypt', 'Decrypt'] as const).flatMap((call) => [
    { name: `${call} hangs`, call, instead: hang, named: `: ${call}: no answer within 900 ms` },
    { name: `${call} comes in drops`, call, instead: trickle, named: `: ${call}: no answer within 900 ms` },
    { name: `${call} breaks off`, call, instead: (stream: ServerHttp2Stream) => stream.session?.destroy(), named: '' },
    {
      name: `${call} is no message`,
      call,
      instead: says(Buffer.from([0xff])),
      named: `: ${call}: the answer is no message`,
    },
    { name: `${call} is cut`, call, instead: bare([0, 0, 0, 0, 9, 1]), named: `: ${call}: the answer is no message` },
    {
      name: `${call} is compressed`,
      call,
      instead: bare([1, 0, 0, 0, 0]),
      named: `: ${call}: the answer is no message`,
    },
    {
      name: `${call} has no end`,
      call,
      instead: says(Buffer.alloc(2 * 1024 * 1024)),
      named: `: ${call}: the answer is too long`,
    },
    {
      name: `${call} is no gRPC`,
      call,
      instead: (stream: ServerHttp2Stream) => stream.respond({ ':status': 404 }, { endStream: true }),
      named: `: ${call}: HTTP status 404, and no gRPC`,
    },
  ]),
  {
    name: 'another version',
    call: 'Status',
    instead: says(texts('v1', 'ok', '1')),
    named: ' speaks version v1, not v2',
  },
  {
    name: 'not well, at length',
    call: 'Status',
    instead: says(texts('v2', `not\nok\u001b[31m ${'.'.repeat(1000)}`, '1')),
    named: ` is not healthy: not ok [31m ${'.'.repeat(488)}`,
  },
  { name: 'no key', call: 'Status', instead: says(texts('v2', 'ok', '')), named: ': keyID is empty' },
  {
    name: 'a long key',
    call: 'Status',
    instead: says(texts('v2', 'ok', 'k'.repeat(1025))),
    named: ': keyID has more than 1024 bytes',
  },
  {
    name: 'nothing',
    call: 'Encrypt',
    instead: says(encryption(Buffer.alloc(0), '1')),
    named: ': encrypted DEK source is empty',
  },
  {
    name: 'much',
    call: 'Encrypt',
    instead: says(encryption(Buffer.alloc(1025), '1')),
    named: ': encrypted DEK source has more than 1024 bytes',
  },
  { name: 'no key after all', call: 'Encrypt', instead: says(encryption(some, '')), named: ': keyID is empty' },
  {
    name: 'a long key after all',
    call: 'Encrypt',
    instead: says(encryption(some, 'k'.repeat(1025))),
    named: ': keyID has more than 1024 bytes',
  },
  {
    name: 'another key',
    call: 'Encrypt',
    instead: says(encryption(some, '2')),
    named: ' encrypts with another key than it says',
    later: ': Decrypt: gRPC code 3: annotations are missing',
  },
  {
    name: 'long annotations',
    call: 'Encrypt',
    instead: says(encryption(some, '1', { 'a.example.com': Buffer.alloc(32 * 1024) })),
    named: ': annotations have more than 32768 bytes',
  },
  {
    name: 'annotations of nobody',
    call: 'Encrypt',
    instead: says(encryption(some, '1', { version: Buffer.from('1') })),
    named: ': the name of an annotation is not fully qualified: version',
  },
  {
    name: 'something that is not its own',
    call: 'Encrypt',
    instead: says(encryption(some, '1', { 'version.kms.example.com': Buffer.from('one') })),
    named: ': Decrypt: the plaintext has 19 bytes, not 32',
    later: ' encrypts with another key than it says',
  },
  {
    name: 'something else',
    call: 'Decrypt',
    instead: says(texts('0'.repeat(32))),
    named: ' decrypts to something else than it encrypted',
  },
  {
    name: 'an empty seed',
    call: 'Decrypt',
    instead: says(texts()),
    named: ': Decrypt: the plaintext has 0 bytes, not 32',
  },
]

describe('a plugin that is not as it should be', () => {
  it.each(attacks)('at the start, $call: $name', async ({ call, instead, named }) => {
    plugin.instead.set(call, instead)
    const failed = await opened().catch((error: Error) => error)
    expect(failed).toMatchObject({ name: 'EncryptionError' })
    expect((failed as Error).message).toMatch(/^KMS provider test[: ]/)
    expect((failed as Error).message).toContain(`KMS provider test${named}`)
    expect(await seeds()).toBe(0)
    plugin.instead.clear()
    await using _ = await opened()
  })

  it.each(attacks)('when its key changes, $call: $name', async ({ call, instead, named, later = named }) => {
    await using storage = await opened()
    await write(storage, 'old')
    plugin.keyId = '2'
    plugin.instead.set(call, instead)
    await passes(60_000, () => storage.encryption.problems().length > 0)
    expect(storage.encryption.problems()).toEqual([expect.stringContaining(`KMS provider test${later}`)])
    expect(await seeds()).toBe(1)
    // It goes on with the key before, for three minutes and no longer.
    await write(storage, 'meanwhile', '/registry/secrets/a/c')
    expect(await read(memory, '/registry/secrets/a/c')).toMatch(/^k8s:enc:kms:v2:test:/)
    await clock.advance(121_000)
    expect(() => write(storage, 'later', '/registry/secrets/a/d')).toThrow(
      expect.objectContaining({ name: 'StorageError', code: 'unavailable' }),
    )
    expect((await memory.get('/registry/secrets/a/d')).entry).toBeUndefined()
    expect(await read(storage)).toBe('old')
    plugin.instead.clear()
    await expect
      .poll(async () => {
        await clock.advance(10_000)
        return storage.encryption.problems()
      })
      .toEqual([])
    await write(storage, 'later', '/registry/secrets/a/d')
    expect(await seeds()).toBe(2)
  })

  it.each([
    { name: 'nothing', plaintext: Buffer.alloc(0), named: 'the plaintext has 0 bytes, not 32' },
    { name: 'too little', plaintext: Buffer.alloc(31), named: 'the plaintext has 31 bytes, not 32' },
    { name: 'something else', plaintext: Buffer.alloc(32), named: 'the plaintext is not what was encrypted' },
  ])('that decrypts a kept seed to $name: no server starts', async ({ plaintext, named }) => {
    await using first = await opened()
    await write(first, 'one')
    plugin.instead.set('Decrypt', says(texts(plaintext.toString('latin1'))))
    await expect(opened()).rejects.toThrow(
      expect.objectContaining({ name: 'EncryptionError', message: `KMS provider test: Decrypt: ${named}` }),
    )
  })

  it('that told something else once is asked again', async () => {
    await using first = await opened()
    plugin.keyId = '2'
    await using second = await opened()
    await write(second, 'by the second')
    plugin.instead.set('Decrypt', says(texts('0'.repeat(32))))
    expect(damageOf((await first.get(key)).entry?.value ?? new Uint8Array(0))).toMatch(
      /^the stored value of \/registry\/secrets\/a\/b at revision \d+ can't be decrypted: it does not fit the key, or the place where it lies$/,
    )
    plugin.instead.clear()
    expect(await read(first)).toBe('by the second')
  })

  it('an answer that comes too late is not used, and what comes next goes another way', async () => {
    const late: (() => void)[] = []
    plugin.instead.set('Decrypt', (stream, request) => late.push(() => plugin.handle(stream, 'Decrypt', request)))
    await expect(opened()).rejects.toThrow('KMS provider test: Decrypt: no answer within 900 ms')
    expect(await seeds()).toBe(0)
    plugin.instead.clear()
    await using storage = await opened()
    for (const each of late) each()
    await write(storage, 'one')
    expect(await read(storage)).toBe('one')
    expect(await seeds()).toBe(1)
  })

  it('reads that wait for one seed ask for it once, and none waits longer than the timeout', async () => {
    await using first = await opened()
    plugin.keyId = '2'
    await using second = await opened()
    await write(second, 'by the second')
    plugin.instead.set('Decrypt', hang)
    const before = plugin.calls.length
    const reads = await Promise.allSettled(Array.from({ length: 500 }, () => first.get(key)))
    for (const each of reads) {
      const reason = 'nothing can be decrypted: KMS provider test: Decrypt: no answer within 900 ms'
      expect(each).toMatchObject({ status: 'rejected', reason: { code: 'unavailable', message: reason } })
    }
    expect(plugin.calls.slice(before)).toEqual(['Decrypt'])
    plugin.instead.clear()
    expect(await read(first)).toBe('by the second')
  })

  it('a kept seed that is none is named', async () => {
    await using first = await opened()
    const [record] = (await memory.range(prefixSpan('/borough/encryption/kms/'))).entries
    const at = record?.key ?? ''
    await memory.commit({ guards: [], writes: [{ ...put(at, '{"keyId":"1"}'), expect: record?.revision ?? 0 }] }).done
    first.encryption[Symbol.dispose]()
    await expect(opened()).rejects.toThrow(
      /^the stored value of \S+ at revision \d+ is damaged: it is no seed of a KMS provider$/,
    )
  })

  it.each(['600h', '30000h'])('a timeout of %s is one', async (long) => {
    await using storage = await opened(plugin.endpoint, long)
    await write(storage, 'one')
    expect(await read(storage)).toBe('one')
  })
})

describe('a socket', () => {
  const silent = async (run: (path: string) => Promise<void>): Promise<void> => {
    const path = join(folder, 'silent.sock')
    const server = createServer((socket) => void socket.on('error', () => undefined).resume())
    await new Promise<void>((resolve) => server.listen(path, resolve))
    try {
      await run(path)
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  }

  it('that accepts and says nothing is given up', () =>
    silent(async (path) => {
      await expect(opened(`unix://${path}`)).rejects.toThrow('KMS provider test: Status: no answer within 900 ms')
    }))

  it('that is a file is named', async () => {
    const path = join(folder, 'file.sock')
    await writeFile(path, '')
    await expect(opened(`unix://${path}`)).rejects.toThrow(`KMS provider test: Status: ${path} is no socket`)
  })

  it('that is a symbolic link is followed', async () => {
    const path = join(folder, 'link.sock')
    await symlink(plugin.endpoint.slice('unix://'.length), path)
    await using storage = await opened(`unix://${path}`)
    await write(storage, 'one')
    expect(await read(storage)).toBe('one')
  })

  it('where every user may put one is not spoken to; through a link neither', async () => {
    const open = join(folder, 'open')
    await mkdir(open)
    await chmod(open, 0o777)
    await using _ = await KmsPlugin.start(open)
    const link = join(folder, 'link')
    await symlink(join(open, 'kms.sock'), link)
    for (const path of [join(open, 'kms.sock'), link]) {
      await expect(opened(`unix://${path}`)).rejects.toThrow(
        `KMS provider test: Status: every user may put a socket into ${open}, so ${path} may be anyone's: ` +
          `run: chmod o-w ${open}`,
      )
    }
    // As /tmp: what is ours there nobody else can replace.
    await chmod(open, 0o1777)
    await using storage = await opened(`unix://${link}`)
    await write(storage, 'one')
  })
})
