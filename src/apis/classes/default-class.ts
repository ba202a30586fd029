/**
 * Claims and ingresses that name no class are given the one that is marked as the default: the youngest, if there are
 * several.
 * @see plugin/pkg/admission/storage/storageclass/setdefault, plugin/pkg/admission/network/defaultingressclass of 1.36
 */
import type { AdmissionPlugin } from '../../admission/admission.ts'
import { objectOf } from '../../admission/object-of.ts'
import { type Resource, resourceOf } from '../../kube/resource.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { ClassLookup } from './class-lookup.ts'

export const storageClassResource = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' } as const
export const ingressClassResource = { group: 'networking.k8s.io', version: 'v1', resource: 'ingressclasses' } as const

interface Defaulted {
  readonly plugin: string
  readonly of: Resource<WithSpec>
  /** Under `spec`. */
  readonly field: string
  /** On an object: it names its class in the old way. */
  readonly oldAnnotation: string
  /** On a class. */
  readonly marks: readonly string[]
}

const storage: Defaulted = {
  plugin: 'DefaultStorageClass',
  of: resourceOf('', 'v1', 'persistentvolumeclaims'),
  field: 'storageClassName',
  oldAnnotation: 'volume.beta.kubernetes.io/storage-class',
  marks: ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'],
}

const ingress: Defaulted = {
  plugin: 'DefaultIngressClass',
  of: resourceOf('networking.k8s.io', 'v1', 'ingresses'),
  field: 'ingressClassName',
  oldAnnotation: 'kubernetes.io/ingress.class',
  marks: ['ingressclass.kubernetes.io/is-default-class'],
}

interface WithSpec extends KubeObject {
  spec?: Readonly<Record<string, unknown>>
}

export const defaultStorageClass = (classes: ClassLookup): AdmissionPlugin => defaulting(storage, classes)
export const defaultIngressClass = (classes: ClassLookup): AdmissionPlugin => defaulting(ingress, classes)

function defaulting({ plugin, of, field, oldAnnotation, marks }: Defaulted, classes: ClassLookup): AdmissionPlugin {
  return {
    name: plugin,
    handles: (operation, type, subresource) =>
      operation === 'CREATE' && subresource === '' && type.group === of.group && type.resource === of.resource,
    mutate(a) {
      const object = objectOf(of, a)
      const spec = object.spec ?? {}
      if (spec[field] !== undefined) return undefined
      if (object.metadata.annotations?.[oldAnnotation] !== undefined) return undefined
      const known = youngest(classes.all(), marks)?.metadata.name
      return known === undefined ? undefined : { ...object, spec: { ...spec, [field]: known } }
    },
  }
}

/** Of two that were made in one second, the first by name. */
function youngest(classes: readonly KubeObject[], marks: readonly string[]): KubeObject | undefined {
  let found: KubeObject | undefined
  for (const next of classes) {
    if (!marks.some((mark) => next.metadata.annotations?.[mark] === 'true')) continue
    if (found === undefined || (next.metadata.creationTimestamp ?? '') > (found.metadata.creationTimestamp ?? '')) {
      found = next
    }
  }
  return found
}
