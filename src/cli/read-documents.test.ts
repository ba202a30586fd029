import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readDocuments } from './read-documents.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-documents-'))
})

afterEach(() => rm(folder, { recursive: true }))

test('a file that is larger than any text can be is named, in a folder too', async () => {
  const path = join(folder, 'large.yaml')
  await writeFile(path, '')
  await truncate(path, 1024 ** 3)
  const refusal = `${path}: it has more than 16 MiB`
  await expect(readDocuments(path, '-f')).rejects.toThrow(refusal)
  await expect(readDocuments(folder, '-f')).rejects.toThrow(refusal)
})

async function read(text: string): Promise<unknown> {
  const path = join(folder, 'file.yaml')
  await writeFile(path, text)
  return readDocuments(path, '-f')
}

test('words and numbers are what kubectl takes them for', async () => {
  const data = '{enabled: yes, off: no, octal: 010, day: 2024-01-02, big: 9007199254740993, quoted: "yes"}'
  expect(JSON.stringify(await read(`data: ${data}\n`))).toBe(
    '[{"data":{"enabled":true,"false":false,"octal":8,"day":"2024-01-02","big":9007199254740993,"quoted":"yes"}}]',
  )
})

test('documents end where they end for kubectl, and a List is its items', async () => {
  const list = '{"kind":"ConfigMapList","items":[{"a":3},{"a":4}]}'
  expect(await read(`# one\na: 1\n--- # two\na: |\n  x---\n  ---\n---\r\n---\n${list}\n--- \nkind: List\n---`)).toEqual(
    [{ a: 1 }, { a: 'x---\n---\n' }, { a: 3 }, { a: 4 }, { kind: 'List' }],
  )
  expect(await read('')).toEqual([])
})

test('JSON objects stand in a row as well, and a fault in one has its line', async () => {
  expect(await read('a: 1\n---\n{"b":1}{"c":"}"}\n{"kind":"List","items":[{"d":1}]}\n---\n{"e":1}')).toEqual([
    { a: 1 },
    { b: 1 },
    { c: '}' },
    { d: 1 },
    { e: 1 },
  ])
  await expect(read('{}\n{"a":1,"a":2}')).rejects.toThrow('the document that begins at line 2 has a twice')
})

test.each([
  { what: 'is no YAML', text: 'a: 1\n---\n\nb: [\nc: 1\n', why: /^yaml: line 5: / },
  {
    what: 'has a key twice',
    text: 'a: 1\n---\nb: {c: 1, c: 2}\n',
    why: 'the document that begins at line 3 has b.c twice',
  },
  { what: 'is a text', text: 'a: 1\n---\nb\n', why: 'the document that begins at line 3 holds what is no object' },
  {
    what: 'lists a text',
    text: '{"kind":"List","items":[1]}',
    why: 'the document that begins at line 1 holds what is no object',
  },
])('what $what is told with its place in the file', async ({ text, why }) => {
  const { message } = await read(text).then(
    () => new Error('it was read'),
    (error: unknown) => error as Error,
  )
  const path = `${join(folder, 'file.yaml')}: `
  if (typeof why === 'string') expect(message).toBe(path + why)
  else expect(message.slice(path.length)).toMatch(why)
})
