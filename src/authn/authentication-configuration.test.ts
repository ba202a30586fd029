import { describe, expect, test } from 'vitest'
import { parseAuthenticationConfiguration } from './authentication-configuration.ts'

const ownIssuer = 'https://own.example'
const parse = (text: string): ReturnType<typeof parseAuthenticationConfiguration> =>
  parseAuthenticationConfiguration(text, ownIssuer)

const configuration = (fields: object, apiVersion = 'apiserver.config.k8s.io/v1'): string =>
  JSON.stringify({ apiVersion, kind: 'AuthenticationConfiguration', ...fields })

const issuer = { url: 'https://id.example', audiences: ['borough'] }
const username = { claim: 'sub', prefix: '' }

/** One issuer, right but for what is given. */
const jwt = (more: object = {}, mappings: object = {}): object => ({
  jwt: [{ issuer, claimMappings: { username, ...mappings }, ...more }],
})
const withIssuer = (more: object): object => jwt({ issuer: { ...issuer, ...more } })

test.each(['v1', 'v1beta1'])('%s is read', (version) => {
  const { issuers, anonymous } = parse(
    configuration(
      {
        ...withIssuer({
          discoveryURL: 'https://else.example/x',
          audienceMatchPolicy: 'MatchAny',
          audiences: ['a', 'b'],
        }),
        anonymous: { enabled: true, conditions: [{ path: '/livez' }] },
      },
      `apiserver.config.k8s.io/${version}`,
    ),
  )
  expect(issuers).toMatchObject([
    { url: 'https://id.example', discoveryUrl: 'https://else.example/x', audiences: ['a', 'b'] },
  ])
  expect(anonymous).toEqual({ enabled: true, paths: ['/livez'] })
})

test('no issuer at all is allowed', () => {
  expect(parse(configuration({}))).toEqual({ issuers: [] })
})

const noDocument =
  'it is no AuthenticationConfiguration of apiserver.config.k8s.io/v1 or apiserver.config.k8s.io/v1beta1'
const bothSet = "claim and expression can't both be set"

describe('refused, with the field', () => {
  test.each<[string, string, string]>([
    ['an empty file', ' ', 'it is empty'],
    ['another version', configuration({}, 'apiserver.config.k8s.io/v2'), noDocument],
    ['another kind', '{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "Secret"}', noDocument],
    ['a key that stands twice', 'a: 1\na: 2', 'it is not YAML: a is there twice'],
    ['two documents', 'a: 1\n---\na: 2', 'it holds several YAML documents, and only one is read'],
    ['an unknown field', configuration({ jwts: [] }), 'jwts: there is no such field'],
    [
      'an unknown field of an issuer',
      configuration(withIssuer({ uri: '' })),
      'jwt[0].issuer.uri: there is no such field',
    ],
    [
      'an unknown field of a uid',
      configuration(jwt({}, { username: { claim: 'sub', prefix: '' }, uid: { claim: 'a', prefix: '' } })),
      'jwt[0].claimMappings.uid.prefix: there is no such field',
    ],
    [
      'an unknown field of a condition',
      configuration({ anonymous: { enabled: true, conditions: [{ path: '/livez', verb: 'get' }] } }),
      'anonymous.conditions[0].verb: there is no such field',
    ],
    ['a list that is none', configuration({ jwt: {} }), 'jwt: it must be a list'],
    ['a list of what are no objects', configuration({ jwt: [1] }), 'jwt[0]: it must be an object'],
    [
      'a truth value that is none',
      configuration({ anonymous: { enabled: 'yes' } }),
      'anonymous.enabled: it must be true or false',
    ],
    ['a text that is none', configuration(withIssuer({ url: 1 })), 'jwt[0].issuer.url: it must be text'],
    [
      'too many issuers',
      configuration({ jwt: Array.from({ length: 65 }, () => ({})) }),
      'jwt: Too many: 65: must have at most 64 items',
    ],
  ])('%s', (_, text, says) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ name: 'AuthenticationConfigurationError', message: says }),
    )
  })

  test.each<[string, object, string]>([
    ['no URL', withIssuer({ url: '' }), 'jwt[0].issuer.url: Required value'],
    [
      'the URL of the server itself',
      withIssuer({ url: ownIssuer }),
      'jwt[0].issuer.url: Invalid value: "https://own.example": URL must not overlap with disallowed issuers: ' +
        '[https://own.example]',
    ],
    [
      'a URL that is none',
      withIssuer({ url: 'https://%zz' }),
      'jwt[0].issuer.url: Invalid value: "https://%zz": parse "https://%zz": invalid URL escape "%zz"',
    ],
    [
      'a URL with all that it must not have',
      withIssuer({ url: 'http://u:p@id.example?a=b#c' }),
      [
        'URL scheme must be https',
        'URL must not contain a username or password',
        'URL must not contain a query',
        'URL must not contain a fragment',
      ]
        .map((why) => `jwt[0].issuer.url: Invalid value: "http://u:p@id.example?a=b#c": ${why}`)
        .join(', ')
        .replace(/^.*$/, '[$&]'),
    ],
    [
      'a discovery URL that is the URL',
      withIssuer({ discoveryURL: 'https://id.example/' }),
      'jwt[0].issuer.discoveryURL: Invalid value: "https://id.example/": discoveryURL must be different from URL',
    ],
    [
      'a discovery URL with what no URL of an issuer has',
      withIssuer({ discoveryURL: 'http://d.example?a=b' }),
      '[jwt[0].issuer.discoveryURL: Invalid value: "http://d.example?a=b": URL scheme must be https, ' +
        'jwt[0].issuer.discoveryURL: Invalid value: "http://d.example?a=b": URL must not contain a query]',
    ],
    [
      'no audience',
      withIssuer({ audiences: [] }),
      'jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required',
    ],
    [
      'audiences that are empty or repeated',
      withIssuer({ audiences: ['', 'a', 'a'], audienceMatchPolicy: 'MatchAny' }),
      '[jwt[0].issuer.audiences[0]: Required value, jwt[0].issuer.audiences[2]: Duplicate value: "a"]',
    ],
    [
      'several audiences without a policy',
      withIssuer({ audiences: ['a', 'b'] }),
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for ' +
        'multiple audiences',
    ],
    [
      'another policy',
      withIssuer({ audienceMatchPolicy: 'MatchAll' }),
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "MatchAll": audienceMatchPolicy must be empty or ' +
        'MatchAny for single audience',
    ],
    [
      'authorities that are none',
      withIssuer({ certificateAuthority: 'x' }),
      'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA ' +
        'certificates',
    ],
    [
      'an egress selector',
      withIssuer({ egressSelectorType: 'cluster' }),
      'jwt[0].issuer.egressSelectorType: Invalid value: "cluster": egress selector is not supported when ' +
        'StructuredAuthenticationConfigurationEgressSelector feature gate is disabled',
    ],
    [
      'an issuer that stands twice',
      { jwt: [0, 1].map(() => ({ issuer, claimMappings: { username } })) },
      'jwt[1].issuer.url: Duplicate value: "https://id.example"',
    ],
    [
      'a discovery URL that stands twice',
      {
        jwt: ['a', 'b'].map((name) => ({
          issuer: { ...issuer, url: `https://${name}.example`, discoveryURL: 'https://d.example' },
          claimMappings: { username },
        })),
      },
      'jwt[1].issuer.discoveryURL: Duplicate value: "https://d.example"',
    ],
    [
      'conditions of what is off',
      { anonymous: { enabled: false, conditions: [{ path: '/livez' }] } },
      'anonymous.conditions: Invalid value: [{"path":"/livez"}]: enabled should be set to true when conditions are ' +
        'defined',
    ],
    [
      'no username',
      jwt({}, { username: {} }),
      'jwt[0].claimMappings.username: Required value: claim or expression is required',
    ],
    [
      'a claim and an expression',
      jwt({}, { username: { claim: 'sub', expression: 'claims.sub' }, uid: { claim: 'a', expression: 'b' } }),
      `[jwt[0].claimMappings.username: Invalid value: "": ${bothSet}, ` +
        `jwt[0].claimMappings.uid: Invalid value: "": ${bothSet}]`,
    ],
    [
      'a claim without a prefix',
      jwt({}, { groups: { claim: 'groups' } }),
      'jwt[0].claimMappings.groups.prefix: Required value: prefix is required when claim is set. It can be set to an ' +
        'empty string to disable prefixing',
    ],
    [
      'an expression with a prefix',
      jwt({}, { username: { expression: 'claims.sub', prefix: '' } }),
      'jwt[0].claimMappings.username.prefix: Invalid value: "": may not be specified when expression is set',
    ],
    [
      'a prefix that makes every group one of the cluster',
      jwt({}, { username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups', prefix: 'system:' } }),
      'jwt[0].claimMappings.groups.prefix: Invalid value: "system:": may not begin with "system:", as what ' +
        'belongs to the cluster does',
    ],
    [
      'an expression that does not compile',
      jwt({}, { username: { expression: 'claim.sub' } }),
      'jwt[0].claimMappings.username.expression: Invalid value: "claim.sub": compilation failed: ERROR: <input>:1:1: ' +
        "undeclared reference to 'claim' (in container '')",
    ],
    [
      'one of a uid that does not',
      jwt({}, { username: { claim: 'sub', prefix: '' }, uid: { expression: 'claim.sub' } }),
      'jwt[0].claimMappings.uid.expression: Invalid value: "claim.sub": compilation failed: ERROR: <input>:1:1: ' +
        "undeclared reference to 'claim' (in container '')",
    ],
    [
      'an expression with two faults, which stand in one line',
      jwt({}, { username: { expression: 'claim.sub + clam.sub' } }),
      'jwt[0].claimMappings.username.expression: Invalid value: "claim.sub + clam.sub": compilation failed: ' +
        "ERROR: <input>:1:1: undeclared reference to 'claim' (in container ''), " +
        "ERROR: <input>:1:13: undeclared reference to 'clam' (in container '')",
    ],
    [
      'an email that nothing verifies',
      jwt({}, { username: { expression: 'claims.?email.orValue("")' } }),
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.?email.orValue(\\"\\")": ' +
        'claims.email_verified must be used in claimMappings.username.expression or ' +
        'claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in ' +
        'claimMappings.username.expression',
    ],
    [
      'an extra without a key',
      jwt({}, { extra: [{ valueExpression: '"x"' }] }),
      'jwt[0].claimMappings.extra[0].key: Required value',
    ],
    [
      'keys that are no paths, reserved, or not in lower case',
      jwt({}, { extra: ['foo', 'a.k8s.io/x', 'acme.io/X'].map((key) => ({ key, valueExpression: '"x"' })) }),
      '[jwt[0].claimMappings.extra[0].key: Invalid value: "foo": must be a domain-prefixed path (such as ' +
        '"acme.io/foo"), jwt[0].claimMappings.extra[1].key: Invalid value: "a.k8s.io/x": k8s.io, kubernetes.io and ' +
        'their subdomains are reserved for Kubernetes use, ' +
        'jwt[0].claimMappings.extra[2].key: Invalid value: "acme.io/X": must be lowercase]',
    ],
    [
      'an extra that stands twice, or has no value',
      jwt({}, { extra: [{ key: 'acme.io/a' }, { key: 'acme.io/a', valueExpression: '"x"' }] }),
      '[jwt[0].claimMappings.extra[0].valueExpression: Required value, jwt[0].claimMappings.extra[1].key: Duplicate ' +
        'value: "acme.io/a"]',
    ],
    [
      'rules about claims that say too much, too little, or the same twice',
      jwt({
        claimValidationRules: [
          { claim: 'a', expression: 'true' },
          {},
          { claim: 'a', message: 'm' },
          { claim: 'a' },
          { expression: 'true', requiredValue: 'x' },
          { expression: 'true' },
          { expression: '1' },
        ],
      }),
      '[' +
        [
          `[0]: Invalid value: "a": ${bothSet}`,
          '[1]: Required value: claim or expression is required',
          '[2].message: Invalid value: "m": may not be specified when claim is set',
          '[3].claim: Duplicate value: "a"',
          '[4].requiredValue: Invalid value: "x": may not be specified when expression is set',
          '[5].expression: Duplicate value: "true"',
          '[6].expression: Invalid value: "1": must evaluate to bool',
        ]
          .map((text) => `jwt[0].claimValidationRules${text}`)
          .join(', ') +
        ']',
    ],
    [
      'rules about the user that are empty, or stand twice',
      jwt({ userValidationRules: [{}, { expression: 'true' }, { expression: 'true' }] }),
      '[jwt[0].userValidationRules[0].expression: Required value, jwt[0].userValidationRules[2].expression: ' +
        'Duplicate value: "true"]',
    ],
  ])('%s', (_, fields, says) => {
    expect(() => parse(configuration(fields))).toThrow(
      expect.objectContaining({ name: 'AuthenticationConfigurationError', message: says }),
    )
  })
})

test.each([
  ['in the name itself', { username: { expression: 'claims.email_verified ? claims.email : claims.sub' } }, {}],
  [
    'in an extra',
    {
      username: { expression: 'claims.email' },
      extra: [{ key: 'acme.io/v', valueExpression: 'string(claims.email_verified)' }],
    },
    {},
  ],
  [
    'in a rule',
    { username: { expression: '{"a": [claims.email]}.a[0]' } },
    { claimValidationRules: [{ expression: '[1].all(x, has(claims.email_verified))' }] },
  ],
])('an email may be a name where %s the address is verified', (_, mappings, more) => {
  expect(parse(configuration(jwt(more, mappings))).issuers).toHaveLength(1)
})
