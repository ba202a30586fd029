import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { bmpBytes, respelledCertificate, stringTags } from '../../test/support/respelled-certificate.ts'
import { generateKeyPair, issueCertificate } from '../base/x509-certificate.ts'
import { subjectOfCertificate } from './subject-name.ts'

const issuer = { subject: { commonName: 'ca' }, key: generateKeyPair() }
const { utf8, printable, t61, ia5, universal, bmp } = stringTags
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

const bytesOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----.*-----/g, ''), 'base64')
const nameOf = (tag: number, bytes: Buffer): string | undefined =>
  subjectOfCertificate(bytesOf(respelledCertificate(issuer, tag, bytes).cert))?.commonName

test.each([
  { type: 'UTF8String', tag: utf8, bytes: Buffer.from('ünï→') },
  { type: 'BMPString', tag: bmp, bytes: bmpBytes('ünï→') },
  { type: 'BMPString with a terminator', tag: bmp, bytes: bmpBytes('ünï→\0') },
])('a name is the same as $type', ({ tag, bytes }) => {
  expect(nameOf(tag, bytes)).toBe('ünï→')
})

test('a T61String is read as Latin-1', () => {
  expect(nameOf(t61, latin1('ünï'))).toBe('ünï')
})

test.each([
  { name: 'Latin-1 as UTF8String', tag: utf8, bytes: latin1('ünï') },
  { name: 'Latin-1 as PrintableString', tag: printable, bytes: latin1('ünï') },
  { name: 'UTF-8 as PrintableString', tag: printable, bytes: Buffer.from('ünï') },
  { name: 'an @ as PrintableString', tag: printable, bytes: Buffer.from('a@b') },
  { name: 'Latin-1 as IA5String', tag: ia5, bytes: latin1('ünï') },
  { name: 'half a character as BMPString', tag: bmp, bytes: Buffer.from([0, 0x41, 0]) },
  { name: 'a surrogate pair as BMPString', tag: bmp, bytes: bmpBytes('😀') },
  { name: 'a noncharacter as BMPString', tag: bmp, bytes: bmpBytes('\uffff') },
  { name: 'a UniversalString', tag: universal, bytes: Buffer.from([0, 0, 0, 0x41]) },
  { name: 'an OCTET STRING', tag: 4, bytes: Buffer.from('admin') },
])('attack: $name is no name', ({ tag, bytes }) => {
  expect(nameOf(tag, bytes)).toBeUndefined()
})

test('groups are the organizations, and of several common names the last counts, as in Go', () => {
  const certificate = (subject: { commonName: string; organizations?: string[] }): Buffer =>
    new X509Certificate(
      issueCertificate({
        subject,
        publicKey: issuer.key.publicKey,
        issuer,
        notBeforeMs: 0,
        notAfterMs: 1e12,
        usage: 'client',
      }),
    ).raw as Buffer
  expect(subjectOfCertificate(certificate({ commonName: 'jane', organizations: ['a', 'ü'] }))).toEqual({
    commonName: 'jane',
    organizations: ['a', 'ü'],
  })
  // The type of the organization becomes that of a common name.
  const two = certificate({ commonName: 'last', organizations: ['first'] })
  const at = two.lastIndexOf(Buffer.from([0x55, 0x04, 0x0a]))
  two[at + 2] = 0x03
  expect(subjectOfCertificate(two)).toEqual({ commonName: 'last', organizations: [] })
})

test('what is cut short is no certificate', () => {
  const whole = bytesOf(respelledCertificate(issuer, utf8, Buffer.from('jane')).cert)
  for (let end = 0; end < whole.length; end++) expect(subjectOfCertificate(whole.subarray(0, end))).toBeUndefined()
})
