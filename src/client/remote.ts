/**
 * Any cluster as a `Client`: the server and the credentials of a kubeconfig, found and read as kubectl does, with its
 * plugins for credentials. The official client library knows how; it is slow to load, so only who needs it imports
 * this.
 */
import { existsSync, readFileSync } from 'node:fs'

import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node/dist/config.js'
import { parse } from 'yaml'
import { readBoundedFile } from '../base/bounded-file.ts'
import { systemClock } from '../base/clock.ts'
import { headerOfText } from '../base/header-bytes.ts'
import { checkSecretFile } from '../base/secret-file.ts'
import type { Client } from './client.ts'
import { httpsTransport, type RequestCredentials } from './https-transport.ts'
import { type OnAnswer, observedTransport } from './observed-transport.ts'
import { RestClient } from './rest-client.ts'
import { retryingTransport } from './retrying-transport.ts'
import type { Transport } from './transport.ts'
import type { OnWarning } from './warnings.ts'

const nothingFound = 'http://localhost:8080'

export interface RemoteOptions {
  /** Absent = `$KUBECONFIG`, `~/.kube/config`, or the account of the pod that this runs in. */
  readonly kubeconfigPath?: string
  /** Absent = the current one of the file. */
  readonly context?: string
  readonly userAgent: string
  /**
   * Of a server's own configuration: its secrets must not be open to every user. kubectl's files are kubectl's
   * business.
   */
  readonly refuseOpenSecrets?: boolean
  /** Told of each request that was answered, or not. */
  readonly onAnswer?: OnAnswer
  /** Told of each warning of the server. */
  readonly onWarning?: OnWarning
}

export interface Remote {
  readonly client: Client
  readonly transport: Transport
  /** `https://127.0.0.1:6443` */
  readonly server: string
  /** Of the context, where it names one. */
  readonly namespace: string | undefined
  /** PEM, of the kubeconfig; undefined where it has none, or its file can't be read. */
  readonly clientCertificate?: string | undefined
  readonly authority?: string | undefined
  /** Of all contexts of the same server and user: what the file knows of where its user is at home. */
  readonly namespaces: readonly string[]
}

/** @throws Error that says in one line what is wrong with the kubeconfig */
export function openRemote(options: RemoteOptions): Remote {
  const { kubeconfigPath, context, userAgent, refuseOpenSecrets = false } = options
  const config = new KubeConfig()
  const source = kubeconfigPath ?? process.env['KUBECONFIG'] ?? 'the kubeconfig'
  try {
    if (kubeconfigPath === undefined) config.loadFromDefault()
    else config.loadFromFile(kubeconfigPath)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    throw new Error(`${source} can't be read: ${why}`, { cause })
  }
  // The library's word for 'found none', which it would refuse for being HTTP.
  if (kubeconfigPath === undefined && config.getCurrentCluster()?.server === nothingFound) {
    throw new Error('there is no kubeconfig: name one with --kubeconfig or $KUBECONFIG')
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null)
      throw new Error(`${source} has no context ${JSON.stringify(context)}`)
    config.setCurrentContext(context)
  }
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw new Error(`${source} names no cluster: choose one with --kubeconfig or --context`)
  // A proxy needs an agent that knows it.
  const proxied = cluster.proxyUrl !== undefined && cluster.proxyUrl !== ''
  const tokenFile = tokenFileOf(config, kubeconfigPath)
  if (refuseOpenSecrets && kubeconfigPath !== undefined) checkSecrets(config, kubeconfigPath, tokenFile)
  const direct = httpsTransport({
    server: cluster.server,
    async credentials() {
      const { agent, ...credentials }: RequestCredentials = await credentialsOf(config, tokenFile)
      return proxied && agent !== undefined ? { ...credentials, agent } : credentials
    },
  })
  const observed = options.onAnswer === undefined ? direct : observedTransport(direct, options.onAnswer)
  const transport = retryingTransport(observed, systemClock)
  const current = config.getContextObject(config.getCurrentContext())
  const alike = config.getContexts().filter((c) => c.cluster === current?.cluster && c.user === current.user)
  return {
    client: new RestClient({ transport, userAgent, onWarning: options.onWarning }),
    transport,
    server: cluster.server,
    namespace: current?.namespace,
    clientCertificate: pemOf(config.getCurrentUser()?.certData, config.getCurrentUser()?.certFile),
    authority: pemOf(cluster.caData, cluster.caFile),
    namespaces: [...new Set(alike.flatMap((c) => c.namespace ?? []))].sort(),
  }
}

/** A key without a value is null in the file, whatever its type says. */
function pemOf(data: string | null | undefined, file: string | undefined): string | undefined {
  if (data) return Buffer.from(data, 'base64').toString('utf8')
  return file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

async function credentialsOf(config: KubeConfig, tokenFile: string | undefined): Promise<RequestCredentials> {
  const options = { headers: {} as Record<string, string> }
  await config.applyToHTTPSOptions(options)
  const token = tokenFile === undefined ? undefined : (await readBoundedFile(tokenFile)).toString().trim()
  const headers = { ...options.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
  // Whom to act as (`as` of a kubeconfig) may have any name.
  const sent = Object.entries(headers).map(([name, value]) => [name, headerOfText(value)])
  return { ...options, headers: Object.fromEntries(sent) as Record<string, string> }
}

/** The file itself, where it holds the credential, and the files that it names. @throws OpenSecretError */
function checkSecrets(config: KubeConfig, kubeconfigPath: string, tokenFile: string | undefined): void {
  const { token, password, keyData, keyFile } = config.getCurrentUser() ?? {}
  if ((token ?? password ?? keyData) !== undefined) checkSecretFile(kubeconfigPath)
  for (const path of [keyFile, tokenFile]) if (path !== undefined) checkSecretFile(path)
}

interface FileWithUsers {
  readonly users?: readonly { readonly name?: string; readonly user?: { readonly tokenFile?: string } }[]
}

/**
 * `users[].user.tokenFile`, which the library does not know. Read at each request, since a process that keeps a token
 * in a file renews it there.
 */
function tokenFileOf(config: KubeConfig, kubeconfigPath: string | undefined): string | undefined {
  const user = config.getCurrentUser()
  if (user === null || user.token !== undefined || user.authProvider !== undefined) return undefined
  const files = kubeconfigPath === undefined ? defaultFiles() : [kubeconfigPath]
  for (const file of files.filter((path) => existsSync(path))) {
    const { users } = (parse(readFileSync(file, 'utf8')) ?? {}) as FileWithUsers
    const tokenFile = users?.find(({ name }) => name === user.name)?.user?.tokenFile
    // As kubectl does: counted from the file that names it.
    if (tokenFile !== undefined) return resolve(dirname(file), tokenFile)
  }
  return undefined
}

const defaultFiles = (): string[] =>
  process.env['KUBECONFIG']?.split(delimiter).filter((path) => path !== '') ?? [join(homedir(), '.kube', 'config')]
