/**
 * For every flag of every command what is right and what is wrong for it. A flag that is not here fails the test that
 * reads this. Paths are below the folder that the test makes: `file` can be read, `folder` is one, `missing` is not
 * there, `closed` can't be read.
 */

export interface FlagValues {
  /** Taken by the parser. */
  readonly right: readonly string[]
  /** Refused, each with a part of what is said. */
  readonly wrong: readonly (readonly [value: string, says: RegExp])[]
  /** Further words that the refusal takes: without them another flag is asked for first. */
  readonly beside?: readonly string[]
}

const count: FlagValues = {
  right: ['1', '7'],
  wrong: [...['0', '-1', '1.5', 'x', '1e3', '', '99999999999999999999'].map((text) => [text, /whole number/] as const)],
}
const positive: FlagValues = {
  right: ['1', '0.5'],
  wrong: [...['0', '-1', 'x', 'Infinity', ''].map((text) => [text, /a number above 0/] as const)],
}
const duration: FlagValues = {
  right: ['90s', '1h30m', '7d'],
  wrong: [
    ['5', /5 has no unit/],
    ['-1s', /duration like 90s/],
    ['soon', /duration like 90s/],
    ['', /duration like 90s/],
    ['400d', /It must be from/],
  ],
}
const validity: FlagValues = { ...duration, wrong: [...duration.wrong.slice(0, 4), ['1ms', /It must be from 1s/]] }
const named = (...names: string[]): FlagValues => ({
  right: names,
  wrong: ['nonsense', ''].map((text) => [text, /Allowed choices are/] as const),
})
const text: FlagValues = { right: ['name'], wrong: [['', /it is empty/]] }
const point: FlagValues = {
  right: ['17', '2026-11-21T06:00:00Z'],
  wrong: ['now', '', '2026-11-21T06:00:00'].map((value) => [value, /It must be a revision/]),
}
const address: FlagValues = {
  right: ['127.0.0.1:0', '[::1]:6443'],
  wrong: ['6443', 'host', 'host:99999', ''].map((value) => [value, /It must be host:port/] as const),
}
const namespace: FlagValues = {
  right: ['team-a'],
  wrong: ['Team A', ''].map((value) => [value, /It names a namespace/] as const),
}
const server: FlagValues = {
  right: ['https://borough.example:6443'],
  wrong: ['http://borough.example', 'borough.example', ''].map((value) => [value, /It must be https:/] as const),
}
const prefix: FlagValues = { right: ['/one/two'], wrong: ['one', '/one/', '/a b'].map((v) => [v, /begin with \//]) }
const input = (...beside: string[]): FlagValues => ({
  right: ['file'],
  beside,
  wrong: [
    ['missing', /there is no file .*missing/],
    ['folder', /folder is a folder/],
    ['closed', /closed can't be read: permission denied/],
    ['', /it is empty/],
  ],
})
/** Of files, or of a folder with files. */
const inputOrFolder: FlagValues = {
  right: ['file', 'folder', '-'],
  wrong: input().wrong.filter(([value]) => value !== 'folder'),
}
const output = (...beside: string[]): FlagValues => ({
  right: ['new'],
  beside,
  wrong: [
    ['folder', /folder is a folder/],
    ['missing/new', /there is no folder .*missing/],
    ['', /it is empty/],
  ],
})
const folder = (...beside: string[]): FlagValues => ({
  right: ['folder'],
  beside,
  wrong: [
    ['file', /file is no folder/],
    ['file/below', /file is no folder|above .* is no folder/],
    ['', /it is empty/],
  ],
})
const headers: FlagValues = {
  right: ['X-Remote-User,X-User'],
  wrong: ['a b', ':', ''].map((value) => [value, /It must be names of headers/] as const),
}
const etcd = ['--storage', 'etcd://127.0.0.1:1']
const asked = ['--oidc-issuer-url', 'https://issuer.example', '--oidc-client-id', 'a']

/** Without a value: anything that is given is wrong. */
export const switches: ReadonlySet<string> = new Set([
  ...[
    'accept-loss',
    'all-namespaces',
    'dry-run',
    'each',
    'encryption-provider-config-automatic-reload',
    'etcd-checksums',
  ],
  ...['fail-open', 'force', 'incremental', 'index', 'list-own-namespaces', 'no-anonymous-auth', 'no-open'],
  ...['no-population', 'print-manifests', 'quiet', 'uninstall', 'version', 'wait', 'yes'],
])

/** By the name of the flag; one that means something else in a command also by `command --flag`. */
export const flagValues: Readonly<Record<string, FlagValues>> = {
  'admin-listen': address,
  admission: named('auto', 'policies', 'webhooks'),
  'admission-control-config-file': input(),
  audience: text,
  'audit-log': output(),
  'audit-log-keep': count,
  'audit-log-max-mib': positive,
  'audit-policy': input('--audit-log', 'new'),
  'authentication-config': input(),
  'authorization-webhook-cache-authorized-ttl': { ...duration, right: ['0', '1m'] },
  'authorization-webhook-cache-unauthorized-ttl': { ...duration, right: ['0', '1m'] },
  'authorization-webhook-config-file': input(),
  'backup-dir': folder(),
  'backup-every': duration,
  'backup-full-every': duration,
  'backup-keep': count,
  'client-ca-file': input(),
  'cluster-id': namespace,
  color: named('auto', 'always', 'never'),
  config: { ...input(), right: ['settings'] },
  context: text,
  controllers: {
    right: ['*', '*,-namespace-controller'],
    wrong: ['nonsense', ''].map((value) => [value, /known: namespace-controller/] as const),
  },
  'data-dir': folder(),
  // What is wrong with a folder that could be one is a finding.
  'doctor --data-dir': { ...text, right: ['folder'] },
  delete: text,
  duration: validity,
  'enable-admission-plugins': named('NamespaceExists'),
  'encryption-provider-config': input(),
  'etcd-cafile': input(...etcd),
  'etcd-certfile': input(...etcd, '--etcd-keyfile', 'file'),
  'etcd-format-level': { right: ['0', '1'], wrong: ['2', 'x', ''].map((value) => [value, /It must be 0/] as const) },
  'etcd-keyfile': input(...etcd, '--etcd-certfile', 'file'),
  'etcd-password-file': input('--storage', 'etcd://me@127.0.0.1:1'),
  'etcd-prefix': prefix,
  'feature-gates': {
    right: ['NamespaceInitializers=false'],
    wrong: ['Nonsense=true', 'NamespaceInitializers=maybe', ''].map((value) => [value, /It must be Names/] as const),
  },
  'kubeconfig --group': text,
  'populate --filename': { ...inputOrFolder, beside: ['--print-manifests'] },
  'template plan --filename': inputOrFolder,
  from: input(),
  'restore --from': {
    right: ['file', 'folder'],
    wrong: [
      ['missing', /there is no file or folder .*missing/],
      ['', /it is empty/],
    ],
  },
  'storage copy --from': {
    right: ['sqlite:here', 'etcd://127.0.0.1:2379/one'],
    wrong: ['here', 'sqlite:', 'etcd://', ''].map((value) => [value, /It must be sqlite:/] as const),
  },
  group: { ...text, beside: ['--user', 'one'] },
  groups: text,
  'headers-timeout': duration,
  'history-age': duration,
  'history-mib': positive,
  'http2-max-streams-per-connection': count,
  'idle-timeout': duration,
  image: { ...text, beside: ['--print-manifests'] },
  key: { ...text, beside: ['--with', 'removal', '--yes'] },
  kubeconfig: input(),
  'up --kubeconfig': output(),
  'leader-elect-lease-duration': duration,
  'leader-elect-renew-deadline': duration,
  'leader-elect-retry-period': duration,
  listen: address,
  'log-level': named('debug', 'info', 'warn', 'error'),
  'manifest-path': folder('--cluster-id', 'one'),
  'manifest-url': {
    right: ['http://one.example/pods'],
    wrong: ['file:///a', 'x', ''].map((v) => [v, /http or https/]),
  },
  'max-connections': count,
  'max-connections-per-address': count,
  'max-connections-per-user': count,
  'max-memory': { right: ['512'], wrong: ['1', 'x', ''].map((value) => [value, /whole number of MiB/] as const) },
  'max-mutating-requests-inflight': count,
  'max-requests-inflight': count,
  'max-store-size': { right: ['8Gi'], wrong: ['8', '1Mi', 'x', ''].map((value) => [value, /like 512Mi/] as const) },
  'min-bytes-per-second': count,
  namespace,
  'namespace-initialization-timeout': { ...duration, right: ['0', '30s'] },
  'oidc-ca-file': input(...asked),
  'oidc-client-id': { ...text, beside: ['--oidc-issuer-url', 'https://issuer.example'] },
  'oidc-groups-claim': text,
  'oidc-groups-prefix': { right: ['oidc:', ''], wrong: [] },
  'oidc-issuer-url': { ...server, wrong: server.wrong.map(([value]) => [value, /It must be an https URL/] as const) },
  'oidc-required-claim': {
    right: ['a=b'],
    wrong: ['a', '=b', ''].map((value) => [value, /like tenant=team-a/] as const),
  },
  'oidc-signing-algs': {
    right: ['RS256,ES256'],
    wrong: ['none', ''].map((value) => [value, /It must be of/] as const),
  },
  'oidc-username-claim': text,
  'oidc-username-prefix': { right: ['-', ''], wrong: [] },
  out: output(),
  output: named('json'),
  remove: text,
  'request-timeout': duration,
  'requestheader-allowed-names': { right: ['front,back', ''], wrong: [] },
  'requestheader-client-ca-file': input(),
  'requestheader-extra-headers-prefix': headers,
  'requestheader-group-headers': headers,
  'requestheader-uid-headers': headers,
  'requestheader-username-headers': headers,
  'scrub-every': { ...duration, right: ['12h', 'never'] },
  server,
  'service-address': {
    right: ['team-a/hooks=127.0.0.1:8443'],
    wrong: ['hooks=127.0.0.1:8443', 'a/b=c:99999', ''].map((value) => [value, /It must be like team-a/] as const),
  },
  'service-cluster-ip-range': {
    right: ['10.0.0.0/16'],
    wrong: [
      ['10.0.0.0', /no CIDR like/],
      ['', /no CIDR like/],
    ],
  },
  'service-node-port-range': {
    right: ['30000-30100'],
    wrong: ['5', '9-1', ''].map((value) => [value, /It must be two ports/] as const),
  },
  serviceaccount: { right: ['a/b'], wrong: ['a', 'a/b/c', ''].map((value) => [value, /namespace\/name/] as const) },
  'slow-timeout': duration,
  storage: {
    right: ['etcd://127.0.0.1:1'],
    wrong: ['mysql', 'etcd://', ''].map((value) => [value, /sqlite/] as const),
  },
  timeout: duration,
  'tls-cert-file': input('--tls-private-key-file', 'file'),
  'tls-handshake-timeout': duration,
  'tls-private-key-file': input('--tls-cert-file', 'file'),
  'tls-san': {
    right: ['a.example', '10.0.0.7'],
    wrong: ['a b', ''].map((value) => [value, /a host name or an/] as const),
  },
  'backup --to': output(),
  'restore --to': point,
  'storage copy --to': {
    right: ['sqlite:here'],
    wrong: ['here', ''].map((value) => [value, /It must be sqlite:/] as const),
  },
  'to-generation': {
    right: ['3'],
    wrong: ['0', '-1', 'x', ''].map((value) => [value, /whole number from 1/] as const),
  },
  'token-file': input(),
  user: text,
  'webhook-url': server,
  with: named('previous', 'backup', 'removal'),
  'storage repair --to': point,
  'storage repair --from': {
    ...inputOrFolder,
    right: ['file', 'folder'],
    beside: ['--key', '/a', '--with', 'backup', '--yes'],
  },
  workers: { ...count, wrong: [...count.wrong, ['257', /from 1 to 256/]] },
}
