/**
 * Who asks for a certificate is who sends the request, whatever it says. Who approves for a signer, or signs in its
 * name, needs the verbs `approve` and `sign` on that signer.
 * @see plugin/pkg/admission/certificates of Kubernetes 1.36
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import { objectOf } from '../../admission/object-of.ts'
import type { Authorizer } from '../../authz/authz.ts'
import { quote } from '../../kube/go-quote.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { Unvalidated } from '../../kube/types.ts'
import { mastersGroup } from '../../kube/user.ts'
import { parseCertificateRequest } from './certificate-request.ts'
import { certificatesGroup, clientSigner, conditionsOf, type SigningRequest, signingRequestResource } from './types.ts'

export function signingRequestAdmission(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigningRequests',
    handles: (operation, type, subresource) =>
      type.group === certificatesGroup &&
      type.resource === signingRequestResource.resource &&
      (operation === 'CREATE' ? subresource === '' : operation === 'UPDATE' && subresource !== ''),
    mutate(a) {
      return a.operation === 'CREATE' ? byRequester(a) : undefined
    },
    validate(a) {
      const request = objectOf(signingRequestResource, a)
      if (a.operation === 'CREATE') return checkSubject(a, request)
      const old = a.oldObject as SigningRequest
      if (a.subresource === 'approval') requireVerb(authorizer, a, old, 'approve', 'approve')
      else if (isSigned(request, old)) requireVerb(authorizer, a, old, 'sign', 'sign')
    },
  }
}

function byRequester({ object, user }: Attributes<Unvalidated>): Unvalidated<SigningRequest> {
  const request = object as Unvalidated<SigningRequest>
  const { username: _u, uid: _i, groups: _g, extra: _e, ...asked } = request.spec ?? {}
  const extra = Object.fromEntries(Object.entries(user.extra ?? {}).map(([key, values]) => [key, [...values]]))
  return {
    ...request,
    spec: {
      ...asked,
      username: user.username,
      ...(user.uid ? { uid: user.uid } : {}),
      groups: [...user.groups],
      ...(Object.keys(extra).length > 0 ? { extra } : {}),
    },
  }
}

/** No certificate makes its bearer a member of `system:masters`. */
function checkSubject(a: Attributes, { spec }: SigningRequest): void {
  if (spec.signerName !== clientSigner) return
  // What can't be read is refused before: validation comes first.
  const { organizations } = parseCertificateRequest(spec.request)
  if (!organizations.includes(mastersGroup)) return
  throw forbidden(a.type, a.name, `use of ${clientSigner} signer with ${mastersGroup} group is not allowed`)
}

function isSigned(next: SigningRequest, old: SigningRequest): boolean {
  const failures = (request: SigningRequest): unknown => conditionsOf(request).filter((c) => c.type === 'Failed')
  return next.status?.certificate !== old.status?.certificate || !jsonEqual(failures(next), failures(old))
}

/** On the signer, or on all of its domain. */
function requireVerb(
  authorizer: Authorizer,
  a: Attributes,
  { spec }: SigningRequest,
  verb: string,
  what: string,
): void {
  const { signerName } = spec
  const may = (name: string): boolean =>
    authorizer.authorize({
      user: a.user,
      verb,
      group: certificatesGroup,
      version: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
    }).allowed
  if (may(signerName) || may(`${signerName.split('/')[0]}/*`)) return
  throw forbidden(a.type, a.name, `user not permitted to ${what} requests with signerName ${quote(signerName)}`)
}
