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
  ['1,025 characters', 'a'.repeat(1025), 'must have at most 1024 characters'],
]

export const oddOwners: readonly string[] = [
  'system:serviceaccount:a:b',
  'alice@example.com',
  'https://issuer.example.com/realms/a#5f1c7b1e-0a51',
  'oidc:Zoë Müller',
  '王小明',
  'CN=alice,OU=dev',
  'DOMAIN\\alice',
  '$(CREATOR)',
  // Of the most characters, none of which fits in one unit of UTF-16.
  '😀'.repeat(1024),
]
