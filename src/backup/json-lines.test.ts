/** Values whose text looks like the end of a line to some readers: a backup that holds them is read back as it was. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { backupSource, backupTarget } from './backup-file.ts'
import { type KeptChange, readChangeFile, writeChangeFile } from './change-file.ts'

/** A stream reads 64 KiB at a time: these characters of three bytes do not end where a piece does. */
const long = '\u2028\u20ac'.repeat(50_000)
const texts = ['a\u2028b', 'a\u2029b', 'a\u0085b', 'a\u000bb', 'a\u000cb', 'a\rb', 'a\nb', 'a\r\nb', '\ufeffa', long]
const pairs = texts.map((text, i) => ({ key: `/a/${i}\u2028${i}`, value: Buffer.from(text) }))

async function* changes(): AsyncGenerator<KeptChange> {
  for (const pair of pairs) yield { ...pair, revision: 2048, timeMs: 1 }
}

const folder = await mkdtemp(join(tmpdir(), 'json-lines-'))

it('a backup keeps values with line separators of Unicode', async () => {
  const path = join(folder, 'backup')
  await using target = await backupTarget(path, systemClock)
  await target.begin(2048, 'x')
  for (const pair of pairs) await target.write(pair)
  await target.finish()

  await using contents = await backupSource(path).read()
  const read = []
  for await (const { key, value } of contents.pairs()) read.push({ key, value: Buffer.from(value) })
  expect(read).toEqual(pairs)
})

it('a file of changes keeps values with line separators of Unicode', async () => {
  const path = join(folder, 'changes')
  await writeChangeFile(path, { after: 1, previous: 'x', revision: 2048, time: '2026-11-23T00:00:00Z' }, changes())
  const read = (await readChangeFile(path)).changes
  expect(read.map(({ key, value }) => ({ key, value: Buffer.from(value ?? '') }))).toEqual(pairs)
})
