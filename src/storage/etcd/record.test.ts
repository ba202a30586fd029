import { describe, expect, it } from 'vitest'
import { damageOf } from '../damaged-value.ts'
import { toEntry } from './record.ts'

const key = '/registry/configmaps/a/b'
const entryOf = (at: string, value: Buffer) =>
  toEntry(at, { key: Buffer.from(at), createRevision: 3, modRevision: 3, value })

describe('what other hands put under the key of an object, without a header', () => {
  it.each(['', 'garbage', '{"metadata":', '[]', 'null', '7', '"text"'])('%j is damage, and named', (text) => {
    const { revision, value } = entryOf(key, Buffer.from(text))
    expect(revision).toBe(3072)
    expect(damageOf(value)).toBe(`the stored value of ${key} at revision 3072 is damaged: it is no object`)
  })

  it.each(['{}', '{"kind":"ConfigMap"}', 'k8s:enc:aesgcm:v1:key1:bytes'])('%j is taken', (text) => {
    expect(Buffer.from(entryOf(key, Buffer.from(text)).value).toString()).toBe(text)
  })

  it('elsewhere anything is', () => {
    expect(Buffer.from(entryOf('/borough/format-level', Buffer.from('7')).value).toString()).toBe('7')
  })
})
