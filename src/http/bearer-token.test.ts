import { describe, expect, test } from 'vitest'
import { bearerTokenOf, websocketTokenOf } from './bearer-token.ts'

describe('where a token stands', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER abc def', 'abc'],
    [' Bearer abc ', 'abc'],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    ['Bearer  abc', undefined],
    ['Basic YTpi', undefined],
    [undefined, undefined],
  ])('Authorization: %s', (header, want) => {
    expect(bearerTokenOf(header)).toBe(want)
  })

  test.each([
    ['v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.YWJj', 'abc'],
    ['base64url.bearer.authorization.k8s.io.', undefined],
    ['base64url.bearer.authorization.k8s.io.a+b', undefined],
    ['v4.channel.k8s.io', undefined],
  ])('Sec-WebSocket-Protocol: %s', (header, want) => {
    expect(websocketTokenOf(header)).toBe(want)
  })
})
