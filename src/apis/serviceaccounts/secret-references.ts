/**
 * Which secrets a pod refers to, and what its account has against that: an account annotated
 * `kubernetes.io/enforce-mountable-secrets: "true"` lends its pods only the secrets that it lists.
 * @see limitSecretReferences in plugin/pkg/admission/serviceaccount/admission.go of Kubernetes 1.36
 */
import type { KubeObject } from '../../kube/types.ts'
import type { Pod } from '../pods/types.ts'

const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets'

interface Container {
  name?: string
  env?: { name?: string; valueFrom?: { secretKeyRef?: { name?: string } } }[]
  envFrom?: { secretRef?: { name?: string } }[]
}

interface Volume {
  secret?: { secretName?: string }
  projected?: { sources?: { secret?: { name?: string }; serviceAccountToken?: object }[] }
}

interface SecretReference {
  readonly secret: string
  /** `container main with envFrom` */
  readonly place: string
}

const roles = { initContainers: 'init container', containers: 'container', ephemeralContainers: 'ephemeral container' }
type Role = keyof typeof roles

const named = <T>(list: unknown): readonly T[] => (list as T[] | undefined) ?? []
const volumesOf = (pod: Pod): readonly Volume[] => named<Volume>(pod.spec?.['volumes'])

function* inContainers(pod: Pod, asked: readonly Role[]): Generator<SecretReference> {
  for (const role of asked) {
    for (const { name = '', env, envFrom } of named<Container>(pod.spec?.[role])) {
      for (const { name: variable = '', valueFrom } of env ?? []) {
        const secret = valueFrom?.secretKeyRef?.name
        if (secret) yield { secret, place: `${roles[role]} ${name} with envVar ${variable}` }
      }
      for (const { secretRef } of envFrom ?? []) {
        if (secretRef?.name) yield { secret: secretRef.name, place: `${roles[role]} ${name} with envFrom` }
      }
    }
  }
}

/** Also by way of projected volumes and pull secrets. */
export function refersToSecrets(pod: Pod): boolean {
  if ((pod.spec?.imagePullSecrets ?? []).length > 0) return true
  const byVolume = volumesOf(pod).some(
    (v) => v.secret !== undefined || (v.projected?.sources ?? []).some((s) => s.secret !== undefined),
  )
  return byVolume || !inContainers(pod, ['initContainers', 'containers', 'ephemeralContainers']).next().done
}

export const projectsToken = (pod: Pod): boolean =>
  volumesOf(pod).some((v) => (v.projected?.sources ?? []).some((s) => s.serviceAccountToken !== undefined))

const isTrue = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])

export const limitsSecrets = (account: KubeObject): boolean =>
  isTrue.has(account.metadata.annotations?.[enforceAnnotation] ?? '')

/**
 * What the account does not lend; undefined = nothing. @param ephemeral only the ephemeral containers are asked about
 */
export function unlentSecret(pod: Pod, account: KubeObject, ephemeral: boolean): string | undefined {
  const lent = new Set(named<{ name?: string }>(account['secrets']).map((s) => s.name))
  const reason = `is not allowed because service account ${account.metadata.name} does not reference that`
  const refuse = ({ secret, place }: SecretReference): string | undefined =>
    lent.has(secret)
      ? undefined
      : `${place}${place.startsWith('volume') ? ' with' : ' referencing'} ` +
        `secret.secretName=${JSON.stringify(secret)} ${reason} secret`
  if (!ephemeral) {
    for (const { secret } of volumesOf(pod)) {
      const problem = secret && refuse({ secret: secret.secretName ?? '', place: 'volume' })
      if (problem) return problem
    }
  }
  for (const reference of inContainers(pod, ephemeral ? ['ephemeralContainers'] : ['initContainers', 'containers'])) {
    const problem = refuse(reference)
    if (problem) return problem
  }
  if (ephemeral) return undefined
  const pulled = new Set(named<{ name?: string }>(account['imagePullSecrets']).map((s) => s.name))
  for (const [i, { name = '' }] of (pod.spec?.imagePullSecrets ?? []).entries()) {
    if (!pulled.has(name)) return `imagePullSecrets[${i}].name=${JSON.stringify(name)} ${reason} imagePullSecret`
  }
  return undefined
}
