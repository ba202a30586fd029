/** CertificateSigningRequest of certificates.k8s.io/v1. */
import type { Resource } from '../../kube/resource.ts'
import type { KubeObject } from '../../kube/types.ts'

export const certificatesGroup = 'certificates.k8s.io'
export const signingRequestResource: Resource<SigningRequest> = {
  group: certificatesGroup,
  version: 'v1',
  resource: 'certificatesigningrequests',
}

/** Signs client certificates for this server itself. */
export const clientSigner = 'kubernetes.io/kube-apiserver-client'

export interface SigningRequestCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastUpdateTime?: string | null
  lastTransitionTime?: string | null
}

export interface SigningRequest extends KubeObject {
  spec: {
    request: string
    signerName: string
    expirationSeconds?: number
    usages?: string[]
    username?: string
    uid?: string
    groups?: string[]
    extra?: Record<string, string[]>
  }
  status?: { conditions?: SigningRequestCondition[]; certificate?: string }
}

export const conditionsOf = (request: SigningRequest | undefined): readonly SigningRequestCondition[] =>
  request?.status?.conditions ?? []
