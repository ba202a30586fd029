import { sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { bmpBytes, respelledCertificate, stringTags } from '../../../test/support/respelled-certificate.ts'
import {
  bobRequest,
  janeRequest,
  mastersRequest,
  md5Request,
  sha1EcRequest,
  sha1Request,
  someCertificate,
} from '../../../test/support/signing-requests.ts'
import { elementsIn, elementsOf } from '../../base/der.ts'
import { generateKeyPair } from '../../base/x509-certificate.ts'
import { parseCertificateRequest } from './certificate-request.ts'

describe('a request', () => {
  test.each([
    { name: 'Ed25519', request: janeRequest, want: ['jane', ['devs', 'ops'], 'ed25519'] },
    { name: 'ECDSA', request: mastersRequest, want: ['root', ['system:masters'], 'ec'] },
    { name: 'RSA', request: bobRequest, want: ['bob', [], 'rsa'] },
    { name: 'RSA, signed with SHA-1,', request: sha1Request, want: ['old', [], 'rsa'] },
    { name: 'ECDSA, signed with SHA-1,', request: sha1EcRequest, want: ['olde', [], 'ec'] },
  ])('with a key of $name says who asks', ({ request, want }) => {
    const { commonName, organizations, publicKey } = parseCertificateRequest(request)
    expect([commonName, organizations, publicKey.asymmetricKeyType]).toEqual(want)
  })

  const bytesOf = (request: string): Buffer =>
    Buffer.from(
      Buffer.from(request, 'base64')
        .toString()
        .replace(/-----.*-----/g, ''),
      'base64',
    )
  const pemOf = (der: Buffer): string =>
    Buffer.from(
      `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`,
    ).toString('base64')

  /** A request for a common name of any bytes, as a string of any type. */
  const requestNaming = (tag: number, bytes: Uint8Array): string => {
    const issuer = { subject: { commonName: 'ca' }, key: generateKeyPair() }
    const { cert, key } = respelledCertificate(issuer, tag, bytes)
    const [certificate] = elementsOf(Buffer.from(cert.replace(/-----.*-----/g, ''), 'base64'))
    const [, , , , , subject, publicKey] = elementsIn(elementsIn(certificate)[0]).map(({ whole }) => whole)
    const sequence = (...parts: (Uint8Array | undefined)[]): Buffer => {
      const content = Buffer.concat(parts.map((part) => part ?? new Uint8Array()))
      return Buffer.concat([Buffer.from([0x30, 0x82, content.length >> 8, content.length & 0xff]), content])
    }
    const info = sequence(Buffer.from([2, 1, 0]), subject, publicKey, Buffer.from([0xa0, 0]))
    const signature = sign('sha256', info, key)
    const ecdsaWithSha256 = Buffer.from('300a06082a8648ce3d040302', 'hex')
    const bits = Buffer.from([0x03, signature.length + 1, 0, ...signature])
    return pemOf(sequence(info, ecdsaWithSha256, bits))
  }

  test.each([
    { type: 'UTF8String', tag: stringTags.utf8, bytes: Buffer.from('ünï') },
    { type: 'BMPString', tag: stringTags.bmp, bytes: bmpBytes('ünï') },
    { type: 'T61String', tag: stringTags.t61, bytes: Buffer.from('ünï', 'latin1') },
  ])('names the same user as $type', ({ tag, bytes }) => {
    expect(parseCertificateRequest(requestNaming(tag, bytes)).commonName).toBe('ünï')
  })

  test('attack: a name whose bytes are no text of its type is refused', () => {
    const latin1 = Buffer.from('ünï', 'latin1')
    expect(() => parseCertificateRequest(requestNaming(stringTags.utf8, latin1))).toThrow('x509: invalid UTF8String')
  })

  test('signed with MD5 is refused', () => {
    expect(() => parseCertificateRequest(md5Request)).toThrow('x509: cannot verify signature: algorithm unimplemented')
  })

  test.each([
    { name: 'Ed25519', request: janeRequest, want: 'x509: Ed25519 verification failure' },
    { name: 'ECDSA', request: mastersRequest, want: 'x509: ECDSA verification failure' },
    { name: 'RSA', request: bobRequest, want: 'crypto/rsa: verification error' },
  ])('with a key of $name and the signature of something else is refused in the words of Go', ({ request, want }) => {
    const der = bytesOf(request)
    // A letter of the common name, which the signature covers.
    const at = der.indexOf(Buffer.from([0x55, 0x04, 0x03])) + 5
    der[at] = (der[at] ?? 0) ^ 1
    expect(() => parseCertificateRequest(pemOf(der))).toThrow(want)
  })

  test('that was changed anywhere is refused', () => {
    const der = bytesOf(janeRequest)
    let refused = 0
    for (let i = 0; i < der.length; i++) {
      const changed = Buffer.from(der)
      changed[i] = (changed[i] ?? 0) ^ 1
      try {
        parseCertificateRequest(pemOf(changed))
      } catch {
        refused++
      }
    }
    expect(refused).toBe(der.length)
  })

  test('that is cut short anywhere is refused in words, not by a crash', () => {
    const der = bytesOf(janeRequest)
    for (let i = 0; i < der.length; i++) {
      expect(() => parseCertificateRequest(pemOf(der.subarray(0, i)))).toThrow(/PEM|asn1|x509/)
    }
  })

  test.each([
    { name: 'nothing', request: '' },
    { name: 'no PEM', request: Buffer.from('hello').toString('base64') },
    { name: 'a certificate', request: someCertificate },
  ])('that is $name is refused', ({ request }) => {
    expect(() => parseCertificateRequest(request)).toThrow('PEM block type must be CERTIFICATE REQUEST')
  })
})
