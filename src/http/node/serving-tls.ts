/**
 * What listeners show and whom they trust, as it is now: the operator may replace the files of either while the server
 * runs, and the server's own certificate is made anew before it ends.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { readBoundedFile } from '../../base/bounded-file.ts'
import { type Clock, sleep } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { readSecretFile } from '../../base/secret-file.ts'
import type { Listener, TlsMaterial } from './listen.ts'

/** PEM. */
type Credential = Pick<TlsMaterial, 'cert' | 'key'>

export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

export interface ServingTlsSources {
  readonly clock: Clock
  readonly log: Log
  /** Absent = the server's own certificate. */
  readonly files?: TlsFiles
  /** The server's own. */
  readonly ownCredential: () => Promise<Credential>
  /** PEM of all who may vouch for clients. */
  readonly clientAuthorities: () => Promise<string>
}

/** How long a changed file may go unnoticed, as upstream. */
const checkMs = 60_000

/** @throws Error, one line for the operator, for files that can't be read or do not belong together */
export async function readServingTls(sources: ServingTlsSources): Promise<TlsMaterial> {
  const { key, cert } = await (sources.files ? readCredential(sources.files) : sources.ownCredential())
  return { key, cert, clientCa: await sources.clientAuthorities() }
}

/** Until the signal aborts. What can't be read again changes nothing, and is told once. Never rejects. */
export async function followServingTls(
  sources: ServingTlsSources,
  first: TlsMaterial,
  listeners: readonly Pick<Listener, 'setTls'>[],
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = sources
  let known = first
  let told = ''
  for (;;) {
    await sleep(clock, checkMs, signal)
    if (signal.aborted) return
    try {
      const next = await readServingTls(sources)
      told = ''
      if (next.key === known.key && next.cert === known.cert && next.clientCa === known.clientCa) continue
      for (const listener of listeners) listener.setTls(next)
      known = next
      log.info({}, 'new connections are served with changed certificates')
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (message !== told) log.error({ error: message }, 'certificates could not be read again; the ones known stay')
      told = message
    }
  }
}

async function readCredential({ certFile, keyFile }: TlsFiles): Promise<Credential> {
  const cert = await named('--tls-cert-file', certFile, async () => (await readBoundedFile(certFile)).toString())
  const key = await named('--tls-private-key-file', keyFile, async () => (await readSecretFile(keyFile)).toString())
  const certificate = await named('--tls-cert-file', certFile, () => new X509Certificate(cert))
  const privateKey = await named('--tls-private-key-file', keyFile, () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`--tls-private-key-file ${keyFile} is not the key of --tls-cert-file ${certFile}`)
  }
  // Of the intermediates too: a listener would refuse them without a word of the file.
  await named('--tls-cert-file', certFile, () => createSecureContext({ cert, key }))
  return { cert, key }
}

async function named<T>(flag: string, path: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    throw new Error(`${flag} ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}
