/** A server as a client sees it: is it reached, how old is it, do the clocks agree, how long do certificates hold. */

import { connect } from 'node:tls'
import type { Clock } from '../base/clock.ts'
import { parseJsonText } from '../base/parse-json-text.ts'
import type { Remote } from '../client/remote.ts'
import { kubernetesVersion } from '../kube/kubernetes-version.ts'
import { examineCertificates, examineDates } from './certificates.ts'
import { type Finding, fail, ok, problemOf, warn } from './finding.ts'

const patienceMs = 10_000
/** Tokens and certificates are valid from some minutes in the past on; leases are renewed every few seconds. */
const skewWarnMs = 2000
const skewFailMs = 60_000

export interface ReachedServer {
  readonly findings: readonly Finding[]
  /** Undefined = it could not be asked. */
  readonly gitVersion: string | undefined
}

export async function examineServer(remote: Remote, clock: Clock): Promise<ReachedServer> {
  const { server, transport } = remote
  const check = `server ${server}`
  const sentMs = clock.now()
  try {
    const { status, header, body } = await transport.send({
      ...{ method: 'GET', path: '/version', query: new URLSearchParams() },
      headers: { accept: 'application/json', 'user-agent': 'borough/doctor' },
      signal: AbortSignal.timeout(patienceMs),
    })
    const text = body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : ''
    if (status !== 200) {
      const remedy =
        status === 401 ? 'its credentials are refused: make another kubeconfig' : 'see the log of the server'
      return { findings: [fail(check, `it answers ${status} to /version`, remedy)], gitVersion: undefined }
    }
    const { gitVersion = '' } = parseJsonText(text) as { gitVersion?: string }
    const findings = [
      ok(check, `it answers, version ${gitVersion}`),
      examineClock(Date.parse(header('date') ?? ''), sentMs, clock.now()),
      ...(await certificatesOf(remote, clock.now())),
    ]
    return { findings, gitVersion }
  } catch (error) {
    const remedy = 'is it started, is the address of the kubeconfig right, does its authority match?'
    const findings = [fail(check, `it can't be asked: ${problemOf(error)}`, remedy)]
    return { findings: [...findings, ...(await certificatesOf(remote, clock.now()))], gitVersion: undefined }
  }
}

/** The server says whole seconds. */
function examineClock(serverMs: number, sentMs: number, receivedMs: number): Finding {
  const check = 'clock'
  if (Number.isNaN(serverMs))
    return warn(check, 'the server does not say what time it has', 'compare the clocks yourself')
  const ahead = serverMs - receivedMs
  const behind = sentMs - (serverMs + 1000)
  const skewMs = Math.max(ahead, behind, 0)
  const way = ahead > behind ? 'ahead of' : 'behind'
  const text = `the server's clock is ${(skewMs / 1000).toFixed(1)} s ${way} this one`
  const remedy = 'let NTP set both clocks: tokens, certificates and leases go by them'
  if (skewMs >= skewFailMs) return fail(check, text, remedy)
  return skewMs >= skewWarnMs ? warn(check, text, remedy) : ok(check, "the server's clock agrees with this one")
}

async function certificatesOf(remote: Remote, nowMs: number): Promise<readonly Finding[]> {
  const { server, clientCertificate, authority } = remote
  const renew = "make another kubeconfig: 'borough kubeconfig --user NAME'"
  return [
    ...(server.startsWith('https:') ? [await examineServing(server, nowMs)] : []),
    ...(authority === undefined
      ? []
      : [examineCertificates('certificate of the authority in the kubeconfig', authority, nowMs, renew)]),
    ...(clientCertificate === undefined
      ? []
      : [examineCertificates('client certificate in the kubeconfig', clientCertificate, nowMs, renew)]),
  ]
}

/** Whether it is trusted was seen by the request. */
async function examineServing(server: string, nowMs: number): Promise<Finding> {
  const check = `serving certificate of ${server}`
  const { hostname, port } = new URL(server)
  const host = hostname.replace(/^\[|\]$/g, '')
  try {
    const { valid_from, valid_to } = await handshake({ host, port: Number(port || 443), rejectUnauthorized: false })
    const dates = { beginMs: Date.parse(valid_from), endMs: Date.parse(valid_to) }
    return examineDates(check, dates, nowMs, 'renew it: --tls-cert-file is read again, a server renews its own')
  } catch (error) {
    return fail(check, `it is not shown: ${problemOf(error)}`, 'see the log of the server')
  }
}

interface Handshake {
  readonly host: string
  readonly port: number
  readonly servername?: string
  readonly ca?: string
  readonly rejectUnauthorized: boolean
}

/** The certificate that a server shows; nothing is asked of it. @throws Error of the connection */
export function handshake(options: Handshake): Promise<{ readonly valid_from: string; readonly valid_to: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...options, allowPartialTrustChain: true }, () => {
      resolve(socket.getPeerCertificate())
      socket.destroy()
    })
    socket.setTimeout(patienceMs, () => socket.destroy(new Error(`no answer within ${patienceMs / 1000} s`)))
    socket.once('error', reject)
  })
}

/** `v1.36.3+borough.0.1.0` */
export const isBorough = (gitVersion: string): boolean => gitVersion.includes('+borough')

/** As far as population is concerned. */
export function examineVersion(gitVersion: string, oldestMinor: number): Finding {
  const check = 'version for population'
  const minor = Number(/^v1\.(\d+)/.exec(gitVersion)?.[1])
  if (minor >= oldestMinor) {
    const newer = minor > Number(kubernetesVersion.minor)
    return newer
      ? warn(
          check,
          `${gitVersion} is newer than what borough knows (1.${kubernetesVersion.minor})`,
          'look for a newer borough',
        )
      : ok(check, `${gitVersion} is new enough`)
  }
  return fail(check, `${gitVersion} is too old`, `Kubernetes 1.${oldestMinor} or newer is needed`)
}
