/**
 * Reads a kubeconfig that holds credentials for webhooks: who the server is, by name. Of clusters it needs nothing.
 * Everything is read once at the start, so that what is wrong is told there; files that a user names are read again at
 * each call, since what keeps a token or a certificate in a file renews it there. No error quotes the file.
 */

import { dirname, resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { AdmissionConfigurationError } from '../../admission/admission-configuration.ts'
import { readBoundedFile } from '../../base/bounded-file.ts'
import { headerOfText } from '../../base/header-bytes.ts'
import { checkSecretFile, OpenSecretError, readSecretFile } from '../../base/secret-file.ts'
import type { WebhookCredentials } from '../../client/webhook-client.ts'
import { ObjectReader } from '../../kube/object-reader.ts'
import type { JsonValue } from '../../kube/types.ts'
import { parseYaml } from '../../kube/yaml-body.ts'

export interface KubeconfigUser {
  /** @throws Error for a file that can't be read any more */
  credentials(): Promise<WebhookCredentials>
}

export interface WebhookKubeconfig {
  readonly users: ReadonlyMap<string, KubeconfigUser>
  /** Of the current context. */
  readonly currentUser: string | undefined
}

class KubeconfigError extends Error {}

/** A value that stands in the kubeconfig, or in a file of its own. */
type Source = { readonly text: string } | { readonly path: string }

interface UserSources {
  readonly token: Source | undefined
  readonly basic: string | undefined
  readonly cert: Source | undefined
  readonly key: Source | undefined
}

/** @throws AdmissionConfigurationError in one line */
export async function readWebhookKubeconfig(path: string): Promise<WebhookKubeconfig> {
  try {
    return await readKubeconfig(path)
  } catch (cause) {
    if (cause instanceof OpenSecretError) throw new AdmissionConfigurationError(cause.message, { cause })
    const { code, message } = cause as NodeJS.ErrnoException
    const why = cause instanceof KubeconfigError ? message : (code ?? 'it makes no sense')
    throw new AdmissionConfigurationError(`the kubeconfig for webhooks ${path} can't be used: ${why}`, { cause })
  }
}

async function readKubeconfig(path: string): Promise<WebhookKubeconfig> {
  const reader = new ObjectReader(parse((await readBoundedFile(path)).toString()), '', KubeconfigError)
  const users = new Map<string, KubeconfigUser>()
  for (const entry of reader.objects('users')) {
    const sources = sourcesOf(entry.nested('user'), dirname(path))
    if (holdsSecret(sources)) checkSecretFile(path)
    const user = { credentials: () => load(sources) }
    await check(entry.at, user)
    const name = entry.text('name')
    if (users.has(name)) throw new KubeconfigError(`${entry.at}.name: ${JSON.stringify(name)} is there twice`)
    users.set(name, user)
  }
  const current = reader.text('current-context')
  const context = reader.objects('contexts').find((each) => each.text('name') === current)
  const currentUser = context?.nested('context').text('user')
  return { users, currentUser: currentUser === '' ? undefined : currentUser }
}

function parse(text: string): JsonValue {
  if (text.trim() === '') throw new KubeconfigError('it is empty')
  try {
    return parseYaml(text).value
  } catch {
    // Without what the parser says: it may quote the file, which holds secrets.
    throw new KubeconfigError('it is not YAML')
  }
}

/** @throws KubeconfigError for what the server can't be to a webhook */
function sourcesOf(user: ObjectReader, folder: string): UserSources {
  for (const field of ['exec', 'auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra']) {
    if (user.has(field)) throw new KubeconfigError(`${user.at}.${field}: it is not supported for webhooks`)
  }
  const file = (field: string): Source | undefined => {
    const path = user.text(field)
    return path === '' ? undefined : { path: resolve(folder, path) }
  }
  const inline = (text: string): Source | undefined => (text === '' ? undefined : { text })
  const data = (field: string): Source | undefined => {
    const text = user.text(field).replaceAll(/\s/g, '')
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new KubeconfigError(`${user.at}.${field}: it is not base64`)
    return inline(Buffer.from(text, 'base64').toString('utf8'))
  }
  const [username, password] = [user.text('username'), user.text('password')]
  const sources = {
    token: inline(user.text('token')) ?? file('tokenFile'),
    basic: username === '' && password === '' ? undefined : `${username}:${password}`,
    cert: data('client-certificate-data') ?? file('client-certificate'),
    key: data('client-key-data') ?? file('client-key'),
  }
  if (sources.token !== undefined && sources.basic !== undefined) {
    throw new KubeconfigError(`${user.at}: it must be a token or a username and password, not both`)
  }
  if ((sources.cert === undefined) !== (sources.key === undefined)) {
    throw new KubeconfigError(`${user.at}: a client certificate needs its key, and the key its certificate`)
  }
  return sources
}

const holdsSecret = ({ token, basic, key }: UserSources): boolean =>
  basic !== undefined || [token, key].some((source) => source !== undefined && 'text' in source)

/** Fails at the start, not at the first question. */
async function check(at: string, user: KubeconfigUser): Promise<void> {
  const { headers, cert, key } = await user.credentials()
  if (/[^\t\x20-\x7e\x80-\xff]/.test(headers?.['authorization'] ?? '')) {
    throw new KubeconfigError(`${at}: its token holds a line break, or another character that no header can have`)
  }
  if (cert === undefined || key === undefined) return
  try {
    createSecureContext({ cert, key })
  } catch (cause) {
    const { code = 'no PEM' } = cause as NodeJS.ErrnoException
    throw new KubeconfigError(`${at}: its client certificate and key can't be used together (${code})`, { cause })
  }
}

async function load({ token, basic, cert, key }: UserSources): Promise<WebhookCredentials> {
  const secret = (source: Source): Promise<string> => textOf(source, readSecretFile)
  const authorization =
    token === undefined
      ? basic && `Basic ${Buffer.from(basic).toString('base64')}`
      : `Bearer ${(await secret(token)).trim()}`
  return {
    ...(authorization === undefined ? {} : { headers: { authorization: headerOfText(authorization) } }),
    ...(cert === undefined || key === undefined
      ? {}
      : { cert: await textOf(cert, readBoundedFile), key: await secret(key) }),
  }
}

async function textOf(source: Source, read: (path: string) => Promise<Buffer>): Promise<string> {
  if ('text' in source) return source.text
  try {
    return (await read(source.path)).toString('utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (cause instanceof OpenSecretError || code === undefined) throw cause
    throw new KubeconfigError(`${source.path} can't be read (${code})`, { cause })
  }
}
