/** The cluster as one request of the webhooks asks about it. */
import { Turns } from '../../base/turns.ts'
import type { Client, ServedKind } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { listAll } from '../../client/list-all.ts'
import { clusterRolesResource, type Role } from '../../kube/rbac.ts'
import type { UserInfo } from '../../kube/user.ts'
import { mayInitialize } from '../initializers/admission.ts'
import type { TemplateAdmissionDeps } from './admission.ts'
import { autoOptOut } from './auto-opt-out.ts'
import { compileMatcher, type Matcher } from './match.ts'
import { populationConfig } from './population-config.ts'
import { type RemoteAuthorizerDeps, remoteAuthorizer } from './remote-authorizer.ts'
import { RemoteLookups } from './remote-lookups.ts'
import { findHeldVersion } from './revisions.ts'
import { templateResource } from './types.ts'
import { type AskedKind, askKind } from './unanswered-kinds.ts'

export interface World {
  readonly lookups: RemoteLookups
  readonly deps: TemplateAdmissionDeps
  /** As `mayInitialize`, of the namespace of the request. */
  mayInitialize(user: UserInfo, namespace: string): boolean
  findServed(apiVersion: string, kind: string): ServedKind | undefined
  /** May we ourselves do it in all namespaces? */
  mayOurselves(verb: string, kind: ServedKind): boolean
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' } as const

export function worldOf(deps: RemoteAuthorizerDeps): World {
  const { client } = deps
  const lookups = new RemoteLookups()
  const authorizer = remoteAuthorizer(deps, lookups)
  const asked = (apiVersion: string, kind: string): AskedKind =>
    lookups.ask(`kind ${apiVersion} ${kind}`, () => askKind(client.discovery, apiVersion, kind), {})
  const findServed = (apiVersion: string, kind: string): ServedKind | undefined => asked(apiVersion, kind).served
  const { namespace, name } = populationConfig
  return {
    lookups,
    mayInitialize: (user, of) => mayInitialize(authorizer, user, of),
    mayOurselves: (verb, { group, version, resource }) =>
      lookups.ask(
        `may we ${verb} ${resource}.${group}`,
        () => reviewSelf(client, { verb, group, version, resource }),
        true,
      ),
    findServed,
    deps: {
      authorizer,
      turns: new Turns(),
      matchers: () => lookups.ask('templates', () => listMatchers(client), []),
      hasLabelGate: true,
      setsMetadata: true,
      optsOutAutomatically: autoOptOut(() =>
        lookups.ask('opted-out accounts', () => findObject(client, configMaps, { namespace, name }), undefined),
      ),
      findKind: findServed,
      whyUnanswered: (apiVersion, kind) => asked(apiVersion, kind).unanswered,
      findClusterRole: (role) =>
        lookups.ask(
          `cluster role ${role}`,
          () => findObject(client, clusterRolesResource, { name: role }) as Promise<Role | undefined>,
          undefined,
        ),
    },
  }
}

async function listMatchers(client: Client): Promise<Matcher[]> {
  return Promise.all(
    (await listAll(client, templateResource)).map(async (template) => ({
      ...compileMatcher(template),
      held: await findHeldVersion(client, template),
    })),
  )
}

async function reviewSelf(client: Client, resourceAttributes: object): Promise<boolean> {
  const { status } = (await client.request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  })) as { status?: { allowed?: boolean } }
  return status?.allowed === true
}
