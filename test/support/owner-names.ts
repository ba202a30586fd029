/** Names of users and groups: what no owner of a namespace is called, and what one may well be. */

/** What is wrong with it, the name, and why it is refused. */
export const wrongOwners: readonly (readonly [what: string, owner: string, why: string])[] = [
  ['a blank before it', ' alice', 'must not begin or end with a blank'],
  ['a blank behind it', 'alice ', 'must not begin or end with a blank'],
  ['a blank and nothing else', ' ', 'must not begin or end with a blank'],
  ['a blank that does not break behind it', 'alice\u00a0', 'must not begin or end with a blank'],
  ['a line break behind it', 'alice\n', 'must have no control characters and no line breaks'],
  ['a line break in it', 'alice\nbob', 'must have no control characters and no line breaks'],
  ['a carriage return', 'alice\rbob', 'must have no control characters and no line breaks'],
  ['a tab', 'alice\tbob', 'must have no control characters and no line breaks'],
  ['a NUL', 'alice\u0000', 'must have no control characters and no line breaks'],
  ['an escape sequence of a terminal', 'alice\u001b[2K', 'must have no control characters and no line breaks'],
  ['a next line of Latin-1', 'alice\u0085', 'must have no control characters and no line breaks'],
  ['a line separator of Unicode', 'alice\u2028', 'must have no control characters and no line breaks'],
  ['a change of direction', 'ali\u202ece', 'must have no characters that are not seen'],
  ['an isolate around it', '\u2066alice\u2069', 'must have no characters that are not seen'],
  ['a space of no width', 'ali\u200bce', 'must have no characters that are not seen'],
  ['a joiner of no width', 'alice\u200d', 'must have no characters that are not seen'],
  ['a soft hyphen', 'ali\u00adce', 'must have no characters that are not seen'],
  ['a mark of byte order', '\ufeffalice', 'must have no characters that are not seen'],
  ['a tag of Unicode', 'alice\u{e0061}', 'must have no characters that are not seen'],
  ['a filler of Hangul', '\u3164', 'must have no characters that are not seen'],
  ['a choice of glyph', 'alice\ufe0f', 'must have no characters that are not seen'],
  ['a joiner of graphemes', 'al\u034fice', 'must have no characters that are not seen'],
  ['a pattern of Braille without dots', 'alice\u2800bob', 'must have no characters that are not seen'],
  ['half a pair of UTF-16', 'alice\ud800', 'must have no characters that are not seen'],
  ['the other half before it', '\udc00alice', 'must have no characters that are not seen'],
  ['1,025 characters', 'a'.repeat(1025), 'must have at most 1024 characters'],
]

export const oddOwners: readonly string[] = [
  'system:serviceaccount:a:b',
  'alice@example.com',
  'https://issuer.example.com/realms/a#5f1c7b1e-0a51',
  'oidc:Zoë Müller',
  '王小明',
  // Marks that are put upon letters are seen.
  'Zoe\u0308',
  'علي',
  'नमिता',
  'CN=alice,OU=dev',
  'DOMAIN\\alice',
  '$(CREATOR)',
  // Of the most characters, none of which fits in one unit of UTF-16.
  '😀'.repeat(1024),
]
