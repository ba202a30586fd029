import { describe, expect, test } from 'vitest'
import { threadMs } from '../../test/support/thread-time.ts'
import {
  isConfigMapKey,
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isPathSegment,
  isQualifiedName,
  nameIsLabel,
} from './names.ts'

const badLabel =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and " +
  "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const badKeyName =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

describe('names', () => {
  const cases: { name: string; given: () => readonly string[]; want: readonly string[] }[] = [
    { name: 'a label is accepted', given: () => isDns1123Label('a-1'), want: [] },
    { name: 'a label with an underscore is told the pattern', given: () => isDns1123Label('A_b'), want: [badLabel] },
    { name: 'a label with dots is told so', given: () => isDns1123Label('a.b'), want: ['must not contain dots'] },
    {
      name: 'a label of 64 characters is too long',
      given: () => isDns1123Label('a'.repeat(64)),
      want: ['must be no more than 63 characters'],
    },
    {
      name: 'length counts bytes, so 40 two-byte letters are too long and malformed',
      given: () => isDns1123Label('é'.repeat(40)),
      want: ['must be no more than 63 characters', badLabel],
    },
    { name: 'an empty label is malformed', given: () => isDns1123Label(''), want: [badLabel] },
    { name: 'a subdomain may have dots', given: () => isDns1123Subdomain('a.b-c.d'), want: [] },
    {
      name: 'a subdomain must not have empty parts',
      given: () => isDns1123Subdomain('a..b'),
      want: [
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and " +
          "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    },
    {
      name: 'a DNS-1035 label starts with a letter',
      given: () => isDns1035Label('1a'),
      want: [
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " +
          "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex " +
          "used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
    },
    { name: 'a qualified name may have a domain', given: () => isQualifiedName('example.com/Name_1'), want: [] },
    {
      name: 'a qualified name has one slash at most',
      given: () => isQualifiedName('a/b/c'),
      want: [
        "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
          "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " +
          "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and " +
          "'/' (e.g. 'example.com/MyName')",
      ],
    },
    {
      name: 'a qualified name with empty parts is told of each',
      given: () => isQualifiedName('/'),
      want: ['prefix part must be non-empty', 'name part must be non-empty', badKeyName],
    },
    {
      name: 'a long name part is counted in bytes',
      given: () => isQualifiedName(`a/${'b'.repeat(64)}`),
      want: ['name part must be no more than 63 bytes'],
    },
    {
      name: 'a long prefix is counted in bytes too',
      given: () => isQualifiedName(`${'a'.repeat(254)}/b`),
      want: ['prefix part must be no more than 253 bytes'],
    },
    { name: 'a label value may be empty', given: () => isLabelValue(''), want: [] },
    {
      name: 'a label value has no blanks',
      given: () => isLabelValue('a b'),
      want: [
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and " +
          "must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', " +
          "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    },
    {
      name: 'a config key does not climb directories',
      given: () => isConfigMapKey('..x'),
      want: ["must not start with '..'"],
    },
    { name: 'a path segment is not two dots', given: () => isPathSegment('..'), want: ["may not be '..'"] },
    {
      name: 'a path segment has no slash and no percent sign',
      given: () => isPathSegment('a/%'),
      want: ["may not contain '/'", "may not contain '%'"],
    },
    { name: 'a generateName may end in a dash', given: () => nameIsLabel('abc-', true), want: [] },
    { name: 'a name may not end in a dash', given: () => nameIsLabel('abc-', false), want: [badLabel] },
  ]
  test.each(cases)('$name', ({ given, want }) => expect(given()).toEqual(want))

  test('a hostile name of a megabyte is refused at once', () => {
    const hostile = `${'a-'.repeat(500_000)}!`
    const before = threadMs()
    expect(isDns1123Subdomain(hostile)).toHaveLength(2)
    expect(isQualifiedName(hostile)).toHaveLength(2)
    expect(threadMs() - before).toBeLessThan(1000)
  })
})
