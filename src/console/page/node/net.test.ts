import * as ofNode from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as ofPage from './net.ts'

const addresses = [
  ...['10.9.8.7', '255.255.255.255', '256.1.1.1', '010.1.1.1', '1.2.3', '1.2.3.4.5', ' 1.2.3.4', '', 'host'],
  ...['::', '::1', '2001:db8::ffff', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7', '1::2::3', ':1', '1:', '12345::', 'g::'],
  ...['::ffff:10.0.0.1', '::ffff:010.0.0.1', '::1.2.3', '1:2:3:4:5:6:1.2.3.4', '1.2.3.4::', 'fe80::1%eth0', 'fe80::1%'],
]

test.each(addresses)('%j is judged as by Node', (text) => {
  expect(ofPage.isIP(text)).toBe(ofNode.isIP(text))
  expect(ofPage.isIPv4(text)).toBe(ofNode.isIPv4(text))
  expect(ofPage.isIPv6(text)).toBe(ofNode.isIPv6(text))
})

test('so is any other text', () => {
  const near = fc.stringMatching(/^[0-9a-f:.]{0,12}$/)
  fc.assert(
    fc.property(fc.oneof(near, fc.ipV4(), fc.ipV6()), (text) => {
      expect(ofPage.isIP(text)).toBe(ofNode.isIP(text))
    }),
  )
})
