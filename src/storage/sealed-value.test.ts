import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DamagedValueError,
  hasHeader,
  headerBytes,
  headerLength,
  nearlyHasHeader,
  openValue,
  sealValue,
} from './sealed-value.ts'

const place = { key: '/registry/configmaps/team-a/c', revision: 5 * 1024 + 3 }
const given = { position: 3, timeMs: Date.UTC(2026, 10, 22), previous: 2048 }
const value = Buffer.from('{"metadata":{"name":"c"}}')

const places = fc.record({
  key: fc.string({ unit: 'grapheme', minLength: 1 }),
  revision: fc.option(fc.maxSafeNat(), { nil: undefined }),
})
const headers = fc.record({
  position: fc.nat({ max: 1023 }),
  timeMs: fc.nat({ max: 2 ** 43 }),
  previous: fc.maxSafeNat(),
})
const contents = fc.option(fc.uint8Array({ maxLength: 200 }), { nil: undefined })

describe('a sealed value', () => {
  it('opens to what was sealed', () => {
    fc.assert(
      fc.property(places, headers, contents, (at, header, bytes) => {
        const sealed = sealValue(at, header, bytes)
        expect(sealed.byteLength).toBe(headerBytes)
        expect(openValue(at, sealed, bytes)).toEqual({ ...header, deletes: bytes === undefined })
      }),
    )
  })

  it('is damaged when any single byte of header or value was changed', () => {
    fc.assert(
      fc.property(
        places,
        headers,
        contents,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (at, header, bytes, n, flip) => {
          const whole = Buffer.concat([sealValue(at, header, bytes), bytes ?? Buffer.alloc(0)])
          whole.writeUInt8((whole[n % whole.length] ?? 0) ^ flip, n % whole.length)
          const rest = bytes && whole.subarray(headerBytes)
          expect(() => openValue(at, whole.subarray(0, headerBytes), rest)).toThrow(DamagedValueError)
        },
      ),
    )
  })

  it('still shows that it has a header, or nearly, when any single byte was changed', () => {
    for (let at = 0; at < headerBytes; at++) {
      for (let byte = 0; byte < 256; byte++) {
        const header = sealValue(place, given, value)
        header[at] = byte
        expect(hasHeader(header) || nearlyHasHeader(header)).toBe(true)
      }
    }
  })

  it.each([
    { name: 'under another key', at: { ...place, key: '/registry/configmaps/team-a/d' }, bytes: value },
    { name: 'at another revision', at: { ...place, revision: place.revision + 1024 }, bytes: value },
    { name: 'without its bytes', at: place, bytes: undefined },
    { name: 'with more bytes', at: place, bytes: Buffer.concat([value, Buffer.from(' ')]) },
  ])('does not open $name', ({ at, bytes }) => {
    expect(() => openValue(at, sealValue(place, given, value), bytes)).toThrow(DamagedValueError)
  })

  it('opens at any revision where it was sealed before the revision was known', () => {
    const sealed = sealValue({ key: place.key, revision: undefined }, given, value)
    expect(openValue(place, sealed, value)).toEqual({ ...given, deletes: false })
  })

  it('names key, revision and what was expected', () => {
    const sealed = sealValue(place, given, value)
    const expected = Buffer.from(sealed)
      .readUInt32BE(headerBytes - 4)
      .toString(16)
      .padStart(8, '0')
    expect(() => openValue(place, sealed, Buffer.from('{}'))).toThrow(
      new DamagedValueError(
        'the stored value of /registry/configmaps/team-a/c at revision 5123 is damaged: ' +
          `its checksum is 39066a98, ${expected} was written with it`,
      ),
    )
  })

  it.each([
    { name: 'no header', bytes: value, message: 'its header is not one' },
    {
      name: 'a header cut off',
      bytes: sealValue(place, given, value).subarray(0, 20),
      message: 'its header is not one',
    },
    { name: 'a later form', bytes: change(3, 2), message: 'its header has form 2, this version reads 1' },
    { name: 'a length beyond the bytes', bytes: change(7, 255), message: 'its header has no sound length' },
    { name: 'a length that is too short', bytes: change(7, 3), message: 'its header has no sound length' },
  ])('refuses $name', ({ bytes, message }) => {
    expect(() => headerLength(bytes, place)).toThrow(
      `the stored value of /registry/configmaps/team-a/c at revision 5123 is damaged: ${message}`,
    )
  })

  it('refuses a sound value whose flags are of a later version', () => {
    const header = sealValue(place, given, value)
    header[5] = 0x82
    const sum = resealed(header)
    expect(() => openValue(place, sum, value)).toThrow('it is in a form that this version does not read (flags 130)')
  })
})

function change(at: number, byte: number): Uint8Array {
  const header = sealValue(place, given, value)
  header[at] = byte
  return header
}

/** The header with the checksum that a writer which knows its flags would have given it. */
function resealed(header: Uint8Array): Uint8Array {
  const found = /its checksum is ([0-9a-f]{8})/.exec(messageOf(() => openValue(place, header, value)))?.[1] ?? ''
  Buffer.from(header.buffer).writeUInt32BE(Number.parseInt(found, 16), headerBytes - 4)
  return header
}

function messageOf(act: () => unknown): string {
  try {
    act()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
