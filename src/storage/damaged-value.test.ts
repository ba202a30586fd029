import { expect, it } from 'vitest'
import { damageNote, damageOf } from './damaged-value.ts'

it('a note tells what is wrong, in any script', () => {
  expect(damageOf(damageNote('the value of /größe is damaged'))).toBe('the value of /größe is damaged')
})

it.each([new Uint8Array(0), Buffer.from('{"metadata":{}}'), new Uint8Array(100).fill(0xff), Uint8Array.of(0xff)])(
  'a sound value is none: %j',
  (value) => {
    expect(damageOf(value)).toBeUndefined()
  },
)

it('a window on a larger buffer is read as what it shows', () => {
  const note = damageNote('gone')
  const larger = Buffer.concat([Buffer.from('before'), note, Buffer.from('after')])
  expect(damageOf(larger.subarray(6, 6 + note.byteLength))).toBe('gone')
})
