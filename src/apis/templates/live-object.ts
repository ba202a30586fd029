/** One object as it is in the store, held against what the record says of it. */
import type { ServedKind } from '../../client/client.ts'
import { parseApiVersion } from '../../kube/gvk.ts'
import { uidOf } from '../../kube/metadata.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { ObjectVersion } from '../../registry/registry.ts'
import type { AppliedObject } from './applied-records.ts'
import { heldDigest } from './held-config.ts'
import { contentDigest, isMarked } from './marks.ts'
import type { PopulatedObject } from './populated-objects.ts'
import { templateNameLabel } from './types.ts'

export const groupOf = ({ apiVersion }: AppliedObject): string | undefined => parseApiVersion(apiVersion)?.group

export const servedKind = ({ group, version, resource, kind, namespaced }: ResourceType): ServedKind => ({
  group,
  version,
  resource,
  kind,
  namespaced,
  verbs: [],
})

export function isAsRecorded(object: KubeObject | undefined, claim: AppliedObject): boolean {
  return object !== undefined && object.metadata.uid === claim.uid && contentDigest(object) === claim.content
}

/** Read as text: mostly it is an object that no template made. */
export function isLabelled(version: ObjectVersion | undefined): boolean {
  if (version === undefined) return false
  const { buffer, byteOffset, byteLength } = version.bytes
  return Buffer.from(buffer, byteOffset, byteLength).includes(templateNameLabel)
}

/** As the record tells it. */
export function claimed(
  { name, uid, template, digest, content }: AppliedObject,
  kind: ServedKind,
  namespace: string,
): Omit<PopulatedObject, 'revision'> {
  return {
    resource: kind,
    kind: kind.kind,
    namespace,
    name,
    uid,
    template,
    isMarked: true,
    digest: content,
    applied: digest,
  }
}

/** As the object tells it; undefined = it carries no label of a template. */
export function describe(
  object: KubeObject,
  kind: ServedKind,
  { namespace, name, revision }: Pick<ObjectVersion, 'namespace' | 'name' | 'revision'>,
  claim?: AppliedObject,
): PopulatedObject | undefined {
  const template = object.metadata.labels?.[templateNameLabel]
  if (template === undefined) return undefined
  const described = {
    resource: kind,
    kind: kind.kind,
    namespace,
    name,
    uid: uidOf(object.metadata),
    revision: String(revision),
    template,
    isMarked: isMarked(object),
    digest: contentDigest(object),
  }
  if (claim !== undefined && isAsRecorded(object, claim)) return { ...described, applied: claim.digest }
  const held = described.isMarked ? heldDigest(object, kind) : undefined
  return held === undefined ? described : { ...described, held }
}
