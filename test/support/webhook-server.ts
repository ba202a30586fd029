/** A webhook on a real port: HTTPS under an authority of its own. Answers what a test tells it to, and remembers. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { generateKeyPair, issueCertificate, privateKeyPem } from '../../src/base/x509-certificate.ts'
import type { KubeObject } from '../../src/kube/types.ts'

export interface Question {
  readonly uid: string
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string }
  readonly subResource?: string
  readonly requestKind: Question['kind']
  readonly requestResource: Question['resource']
  readonly name?: string
  readonly namespace?: string
  readonly operation: string
  readonly userInfo: { readonly username: string; readonly groups?: readonly string[] }
  readonly object: KubeObject | null
  readonly oldObject: KubeObject | null
  readonly dryRun: boolean
  readonly options: Record<string, unknown> | null
}

/** What stands in `response`; `uid` is added. `raw` is sent instead of a review, with its status. */
export type Reply = Record<string, unknown> & { readonly raw?: { readonly status: number; readonly body: string } }

export type Answerer = (question: Question, path: string) => Reply | Promise<Reply>

export interface Received {
  readonly path: string
  /** Common name of the certificate that the caller showed. */
  readonly caller: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly review: { readonly apiVersion: string; readonly kind: string; readonly request: Question }
}

export interface WebhookServer extends AsyncDisposable {
  readonly port: number
  /** `https://127.0.0.1:<port>` */
  readonly url: string
  /** PEM in base64, as configurations want it. */
  readonly caBundle: string
  /** Its own certificate, likewise. */
  readonly certificate: string
  readonly received: Received[]
  answer: Answerer
}

const hourMs = 3_600_000

export function webhookCertificates(names: readonly string[]): { key: string; cert: string; ca: string } {
  const authority = generateKeyPair()
  const key = generateKeyPair()
  const issuer = { subject: { commonName: 'webhook-ca' }, key: authority }
  const dates = { notBeforeMs: Date.now() - hourMs, notAfterMs: Date.now() + hourMs }
  const ca = issueCertificate({
    subject: issuer.subject,
    publicKey: authority.publicKey,
    issuer,
    ...dates,
    usage: 'authority',
  })
  const cert = issueCertificate({
    subject: { commonName: 'webhook' },
    publicKey: key.publicKey,
    issuer,
    ...dates,
    usage: 'server',
    names,
  })
  return { key: privateKeyPem(key.privateKey), cert, ca }
}

export async function startWebhookServer(
  answer: Answerer = () => ({ allowed: true }),
  names: readonly string[] = ['127.0.0.1', 'localhost', 'hooks.team-a.svc'],
): Promise<WebhookServer> {
  const { key, cert, ca } = webhookCertificates(names)
  const received: Received[] = []
  const server = createServer({ key, cert, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    void (async () => {
      const text = Buffer.concat(await request.toArray()).toString('utf8')
      const review = JSON.parse(text) as Received['review']
      const { subject } = (request.socket as TLSSocket).getPeerCertificate()
      const caller = (subject as { CN?: string } | undefined)?.CN
      received.push({ path: request.url ?? '', caller, headers: request.headers, review })
      const path = (request.url ?? '').split('?')[0] ?? ''
      const { raw, ...reply } = await hooks.answer(review.request, path)
      response.writeHead(raw?.status ?? 200, { 'content-type': 'application/json' })
      const { uid } = review.request
      response.end(raw?.body ?? JSON.stringify({ ...review, request: undefined, response: { uid, ...reply } }))
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const hooks: WebhookServer = {
    port,
    url: `https://127.0.0.1:${port}`,
    caBundle: Buffer.from(ca).toString('base64'),
    certificate: Buffer.from(cert).toString('base64'),
    received,
    answer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return hooks
}

/** As a webhook sends it. */
export const patchReply = (...operations: readonly object[]): Reply => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

export interface ConversionReview {
  readonly apiVersion: string
  readonly kind: string
  readonly request: {
    readonly uid: string
    readonly desiredAPIVersion: string
    readonly objects: readonly KubeObject[]
  }
}

export interface ConversionServer extends AsyncDisposable {
  readonly url: string
  readonly caBundle: string
  readonly received: ConversionReview[]
  convert: (object: KubeObject, desired: string) => KubeObject
  /** Instead of a good answer: fields of `response`. */
  answer: (() => Record<string, unknown>) | undefined
  /** Each answer comes after it. */
  wait: Promise<void> | undefined
}

export async function startConversionServer(convert: ConversionServer['convert']): Promise<ConversionServer> {
  const { key, cert, ca } = webhookCertificates(['127.0.0.1'])
  const received: ConversionReview[] = []
  const server = createServer({ key, cert }, (request, response) => {
    void (async () => {
      const review = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8')) as ConversionReview
      received.push(review)
      await hooks.wait
      const { uid, objects, desiredAPIVersion } = review.request
      const result = { status: 'Success' }
      const convertedObjects = objects.map((o) => hooks.convert(o, desiredAPIVersion))
      response.end(
        JSON.stringify({
          kind: review.kind,
          apiVersion: review.apiVersion,
          response: { uid, result, convertedObjects, ...hooks.answer?.() },
        }),
      )
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const hooks: ConversionServer = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caBundle: Buffer.from(ca).toString('base64'),
    received,
    convert,
    answer: undefined,
    wait: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return hooks
}
