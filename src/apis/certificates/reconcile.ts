/**
 * Signs approved requests for client certificates of this server (`kubernetes.io/kube-apiserver-client`), as upstream's
 * certificate controller does. Other signers are left to their own controllers.
 * @see pkg/controller/certificates/signer of Kubernetes 1.36
 */
import type { KeyObject } from 'node:crypto'
import type { Client } from '../../client/client.ts'
import type { Reconciler } from '../../controller/controller.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import { parseCertificateRequest } from './certificate-request.ts'
import { clientSigner, conditionsOf, type SigningRequest, signingRequestResource } from './types.ts'

export const certificateControllerName = 'certificate-controller'

export interface ClientCertificateSigner {
  readonly client: Client
  /** PEM. */
  sign(request: ClientCertificate, publicKey: KeyObject): string
}

export interface ClientCertificate {
  readonly user: string
  readonly groups: readonly string[]
  readonly durationMs: number
}

/** A year, as upstream, unless the request says less. */
const longestMs = 365 * 86_400_000
const allowedUsages = new Set(['digital signature', 'key encipherment', 'client auth'])

/** Approved, not refused, not signed yet: waits for us. */
export function awaitsSignature(request: SigningRequest): boolean {
  const has = (type: string): boolean => conditionsOf(request).some((c) => c.type === type)
  return (
    request.spec.signerName === clientSigner &&
    has('Approved') &&
    !has('Denied') &&
    !has('Failed') &&
    !request.status?.certificate
  )
}

export function certificateSigner({ client, sign }: ClientCertificateSigner): Reconciler {
  return {
    async reconcile({ name }, signal) {
      try {
        const request = (await client.get(signingRequestResource, { name }, { signal })) as SigningRequest
        if (!awaitsSignature(request)) return undefined
        const status = { ...request.status, ...verdict(request, sign) }
        await client.update(
          signingRequestResource,
          { ...request, status },
          { subresource: 'status', fieldManager: certificateControllerName, signal },
        )
      } catch (error) {
        // Another writer changed or removed it first: that change brings the key back.
        if (!isNotFound(error) && !isConflict(error)) throw error
      }
      return undefined
    },
  }
}

/** A certificate, or why there is none. */
function verdict(
  request: SigningRequest,
  sign: ClientCertificateSigner['sign'],
): NonNullable<SigningRequest['status']> {
  const { request: encoded, usages = [], expirationSeconds } = request.spec
  const { commonName, organizations, publicKey } = parseCertificateRequest(encoded)
  const refuse = (message: string): NonNullable<SigningRequest['status']> => ({
    conditions: [
      ...conditionsOf(request),
      { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message },
    ],
  })
  if (commonName === '') return refuse('the subject has no common name: it would be the name of the user')
  if (!usages.includes('client auth')) return refuse('usages must include "client auth"')
  const odd = usages.find((usage) => !allowedUsages.has(usage))
  if (odd !== undefined) return refuse(`usage ${JSON.stringify(odd)} is not one of a client certificate`)
  const durationMs = Math.min(longestMs, expirationSeconds === undefined ? longestMs : expirationSeconds * 1000)
  const pem = sign({ user: commonName, groups: organizations, durationMs }, publicKey)
  return { certificate: Buffer.from(pem).toString('base64') }
}
