/** Files of flags that hold something else, such as a disk image: the server says which, before it takes all memory. */
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { serve } from '../../src/app/serve.ts'
import { readAuthorities } from '../../src/authn/identity-config.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-oversized-'))
  path = join(folder, 'disk.img')
  await writeFile(path, '', { mode: 0o600 })
  await truncate(path, 3 * 1024 ** 3)
})

afterEach(() => rm(folder, { recursive: true }))

const of = (file: string): [name: string, config: Partial<Config>, says: string][] => [
  ['--token-auth-file', { tokenFile: file }, `can't read the token file ${file} (EFBIG: more than 16 MiB)`],
  ['--client-ca-file', { clientCaFile: file }, `--client-ca-file ${file}: it has more than 1 MiB`],
  [
    '--tls-cert-file',
    { tlsFiles: { certFile: file, keyFile: file } },
    `--tls-cert-file ${file}: it has more than 1 MiB`,
  ],
  [
    '--authentication-config',
    { authenticationConfigFile: file },
    `can't read the authentication configuration ${file} (EFBIG: more than 1 MiB)`,
  ],
  [
    '--admission-control-config-file',
    { admissionConfigFile: file },
    `can't read the admission configuration ${file} (EFBIG: more than 1 MiB)`,
  ],
  [
    '--audit-policy',
    { audit: { path: join(file, '..', 'log'), maxBytes: 1e6, keep: 1, policyPath: file } },
    `can't read the audit policy ${file} (EFBIG: more than 1 MiB)`,
  ],
]

test.each(of('').map(([name], index) => ({ name, index })))('$name', async ({ index }) => {
  const [, config, says] = of(path)[index] ?? []
  await expect(serve({ ...defaultConfig, listen: { host: '127.0.0.1', port: 0 }, ...config })).rejects.toThrow(says)
})

test('--oidc-ca-file and --requestheader-client-ca-file', () => {
  expect(() => readAuthorities(path)).toThrow('it has more than 1 MiB')
})
