/**
 * What listeners show and whom they trust, as it is now: the operator may replace the files of either while the server
 * runs, and the server's own certificate is made anew before it ends.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { readBoundedFile } from '../../base/bounded-file.ts'
import { type Clock, sleep } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { readSecretFile } from '../../base/secret-file.ts'
import { formatTime } from '../../kube/time.ts'
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
  const { key, cert } = await readShownBy(sources)
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
  const [readShown, readTrusted] = [toldOnce(log), toldOnce(log)]
  for (;;) {
    await sleep(clock, checkMs, signal)
    if (signal.aborted) return
    // Each by itself: an authority that was removed is trusted no longer, whatever else can't be read.
    const { cert: present } = known
    const shown = await readShown(async () => instead(await readShownBy(sources), present, clock.now()))
    const clientCa = await readTrusted(() => sources.clientAuthorities())
    const { key, cert } = shown ?? known
    const next = { key, cert, clientCa: clientCa ?? known.clientCa }
    if (next.key === known.key && next.cert === known.cert && next.clientCa === known.clientCa) continue
    for (const listener of listeners) listener.setTls(next)
    known = next
    log.info({}, 'new connections are served with changed certificates')
  }
}

/** A certificate whose time is over does not take the place of one that is good. @throws Error */
function instead(found: Credential, present: string, nowMs: number): Credential {
  const end = new X509Certificate(found.cert).validToDate
  if (end.getTime() > nowMs || new X509Certificate(present).validToDate.getTime() <= nowMs) return found
  throw new Error(`the certificate that is there now ended at ${formatTime(end.getTime())}`)
}

/** Answers undefined for what can't be read. */
function toldOnce(log: Log): <T>(read: () => Promise<T>) => Promise<T | undefined> {
  let told = ''
  return async (read) => {
    try {
      const content = await read()
      told = ''
      return content
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (message !== told) log.error({ error: message }, 'certificates could not be read again; the ones known stay')
      told = message
      return undefined
    }
  }
}

const readShownBy = ({ files, ownCredential }: ServingTlsSources): Promise<Credential> =>
  files ? readCredential(files) : ownCredential()

async function readCredential({ certFile, keyFile }: TlsFiles): Promise<Credential> {
  const cert = await named('--tls-cert-file', certFile, async () => (await readBoundedFile(certFile)).toString())
  const key = await named('--tls-private-key-file', keyFile, async () => (await readSecretFile(keyFile)).toString())
  const certificate = await named('--tls-cert-file', certFile, () => new X509Certificate(cert))
  const privateKey = await named('--tls-private-key-file', keyFile, () => openedKey(key))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`--tls-private-key-file ${keyFile} is not the key of --tls-cert-file ${certFile}`)
  }
  // Of the intermediates too: a listener would refuse them without a word of the file.
  await named('--tls-cert-file', certFile, () => createSecureContext({ cert, key }))
  return { cert, key }
}

function openedKey(pem: string): KeyObject {
  // OpenSSL would say that it was interrupted: it had no way to ask for the passphrase.
  if (/^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem)) {
    throw new Error("a key with a passphrase can't be used: take the passphrase off, with openssl pkey")
  }
  return createPrivateKey(pem)
}

async function named<T>(flag: string, path: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    throw new Error(`${flag} ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}
