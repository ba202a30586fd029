/** CertificateSigningRequests: who may approve and sign, and the signer of client certificates of this server. */
import { changesOf } from '../../controller/source.ts'
import type { Feature } from '../../feature/feature.ts'
import { typeFeed } from '../../feature/type-feed.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import { signingRequestAdmission } from './admission.ts'
import {
  awaitsSignature,
  type ClientCertificateSigner,
  certificateControllerName,
  certificateSigner,
} from './reconcile.ts'
import { signingRequestStrategy } from './strategy.ts'
import { signingRequestResource } from './types.ts'

export const certificates = (sign: ClientCertificateSigner['sign']): Feature => ({
  name: 'certificates',
  controllerRules: {
    // Signs approved requests for client certificates of this server.
    [certificateControllerName]: [
      may(read, 'certificates.k8s.io', 'certificatesigningrequests'),
      may('patch update', 'certificates.k8s.io', 'certificatesigningrequests/status'),
      { ...may('sign', 'certificates.k8s.io', 'signers'), resourceNames: ['kubernetes.io/kube-apiserver-client'] },
      events,
    ],
  },
  open: ({ authorizer, lister, typeOf }) => ({
    strategies: { 'certificatesigningrequests.certificates.k8s.io': signingRequestStrategy },
    admission: [signingRequestAdmission(authorizer)],
    controllers: ({ client }) => [
      {
        name: certificateControllerName,
        workers: 1,
        sources: [
          changesOf(typeFeed(lister, typeOf(signingRequestResource))).map((next) =>
            next && awaitsSignature(next.object) ? { namespace: '', name: next.name } : undefined,
          ),
        ],
        reconciler: certificateSigner({ client: client(certificateControllerName), sign }),
      },
    ],
  }),
})
