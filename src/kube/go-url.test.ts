import { expect, test } from 'vitest'
import { type GoUrl, parseGoUrl } from './go-url.ts'

/** All compared with what Go 1.26 says. */
const read: readonly { given: string; want: Partial<GoUrl> }[] = [
  { given: 'HTTPS://H:1/p', want: { scheme: 'https', host: 'H:1' } },
  { given: '', want: {} },
  { given: '*', want: {} },
  { given: 'https:opaque%zz', want: { scheme: 'https' } },
  { given: 'https:///p', want: { scheme: 'https' } },
  { given: '///p', want: {} },
  { given: '//h:1:2', want: { host: 'h:1:2' } },
  { given: 'https://h:', want: { scheme: 'https', host: 'h:' } },
  { given: 'https://h<>"%C3%A9', want: { scheme: 'https', host: 'h<>"é' } },
  { given: 'https://[fe80::1%25en%200]:1', want: { scheme: 'https', host: '[fe80::1%en 0]:1' } },
  { given: 'https://u%41:p!@h', want: { scheme: 'https', host: 'h', user: 'uA:p%21' } },
  { given: 'https://@h', want: { scheme: 'https', host: 'h', user: '' } },
  { given: 'https://h/a b?%zz#%41', want: { scheme: 'https', host: 'h', query: '%zz', fragment: 'A' } },
]
test.each(read)('$given is read', ({ given, want }) => {
  expect(parseGoUrl(given)).toEqual({ url: { scheme: '', host: '', query: '', fragment: '', ...want } })
})

const refused: readonly { given: string; want: string }[] = [
  { given: 'https://h\n#f', want: 'parse "https://h\\n": net/url: invalid control character in URL' },
  { given: '://h', want: 'parse "://h": missing protocol scheme' },
  { given: '1a://h', want: 'parse "1a://h": first path segment in URL cannot contain colon' },
  { given: 'https://h h', want: 'parse "https://h h": invalid character " " in host name' },
  { given: 'https://h\\', want: 'parse "https://h\\\\": invalid character "\\\\" in host name' },
  { given: 'https://h:port/', want: 'parse "https://h:port/": invalid port ":port" after host' },
  { given: 'https://h:1:2/', want: 'parse "https://h:1:2/": invalid port ":1:2" after host' },
  { given: '//h:1:x', want: 'parse "//h:1:x": invalid port ":x" after host' },
  { given: 'https://[::1', want: `parse "https://[::1": missing ']' in host` },
  { given: 'https://[::1]x', want: 'parse "https://[::1]x": invalid port "x" after host' },
  { given: 'https://a[::1]', want: 'parse "https://a[::1]": invalid IP-literal' },
  { given: 'https://[1.2.3.4]', want: 'parse "https://[1.2.3.4]": invalid IP-literal' },
  { given: 'https://[]', want: 'parse "https://[]": invalid host: ParseAddr(""): unable to parse IP' },
  { given: 'https://[%25z]', want: 'parse "https://[%25z]": invalid host: ParseAddr("%z"): missing IPv6 address' },
  {
    given: 'https://[::1%25]',
    want: 'parse "https://[::1%25]": invalid host: ParseAddr("::1%"): zone must be a non-empty string',
  },
  { given: 'https://[::1%25%2F]', want: 'parse "https://[::1%25%2F]": invalid URL escape "%2F"' },
  { given: 'https://%41', want: 'parse "https://%41": invalid URL escape "%41"' },
  { given: 'https://h/%2', want: 'parse "https://h/%2": invalid URL escape "%2"' },
  { given: 'https://h/%€', want: 'parse "https://h/%€": invalid URL escape "%\\xe2\\x82"' },
  { given: '%zz', want: 'parse "%zz": invalid URL escape "%zz"' },
  { given: 'https://h#%zz', want: 'parse "https://h#%zz": invalid URL escape "%zz"' },
  { given: 'https://u u@h', want: 'parse "https://u u@h": net/url: invalid userinfo' },
  { given: 'https://u%zz@h', want: 'parse "https://u%zz@h": invalid URL escape "%zz"' },
]
test.each(refused)('$given is refused', ({ given, want }) => {
  expect(parseGoUrl(given)).toEqual({ problem: want })
})
