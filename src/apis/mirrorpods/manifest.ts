/**
 * Pods as files and URLs describe them, and the mirror pods that stand for them here. Pure.
 * @see pkg/kubelet/config/common.go, pkg/kubelet/pod/mirror_client.go of Kubernetes 1.36
 */
import { createHash } from 'node:crypto'
import { isJsonObject } from '../../kube/json-value.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../kube/types.ts'
import { parseYaml } from '../../kube/yaml-body.ts'
import { mirrorAnnotation, type Pod } from '../pods/types.ts'

export type SourceKind = 'file' | 'http'

/** A manifest is told by one line that says what is wrong with it. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
}

export const maxManifestBytes: number = 1024 * 1024
/** Of one file or URL. */
const maxPods = 500

const hashAnnotation = 'kubernetes.io/config.hash'
const sourceAnnotation = 'kubernetes.io/config.source'
const seenAnnotation = 'kubernetes.io/config.seen'

/**
 * One Pod, a list of them, or several YAML documents of either.
 * @throws ManifestError
 */
export function podsIn(bytes: Uint8Array): Pod[] {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ManifestError('it is not UTF-8 text', { cause })
  }
  const documents = documentsIn(text)
  // A source without pods must be an empty list.
  if (documents.length === 0) throw new ManifestError('it is empty')
  const pods = documents.flatMap(podsOf)
  if (pods.length > maxPods) throw new ManifestError(`it holds ${pods.length} pods, and may hold ${maxPods}`)
  return pods
}

function documentsIn(text: string): JsonObject[] {
  const parts = /^\s*\{/.test(text) ? [text] : text.split(/^---(?=\s|$).*$/m)
  return parts.flatMap((part) => {
    let value: JsonValue
    try {
      ;({ value } = parseYaml(part))
    } catch (cause) {
      throw new ManifestError(cause instanceof Error ? cause.message : String(cause), { cause })
    }
    if (value === null) return []
    if (!isJsonObject(value)) throw new ManifestError('it is neither a Pod nor a list of Pods')
    return [value]
  })
}

function podsOf(object: JsonObject): Pod[] {
  const { apiVersion, kind, items } = object
  if (apiVersion === 'v1' && (kind === 'PodList' || kind === 'List') && Array.isArray(items)) {
    return items.flatMap((item) => podsOf(isJsonObject(item) ? { apiVersion: 'v1', kind: 'Pod', ...item } : {}))
  }
  if (apiVersion !== 'v1' || kind !== 'Pod') {
    throw new ManifestError(
      `it holds ${JSON.stringify(kind ?? null)} of ${JSON.stringify(apiVersion ?? null)}, not a Pod of "v1"`,
    )
  }
  const { metadata, spec } = object
  if (!isJsonObject(metadata) || typeof metadata['name'] !== 'string' || metadata['name'] === '') {
    throw new ManifestError('a pod in it has no metadata.name')
  }
  if (!isJsonObject(spec)) throw new ManifestError(`pod ${metadata['name']} has no spec`)
  return [object as unknown as Pod]
}

export interface MirrorPod {
  readonly name: string
  readonly hash: string
  /** Without its namespace. */
  readonly object: Pod
}

/** @param seenAt RFC 3339 */
export function mirrorPodOf(pod: Pod, source: SourceKind, clusterId: string, seenAt: string): MirrorPod {
  const { name = '', labels, annotations } = pod.metadata
  const hash = createHash('sha256')
    .update(JSON.stringify([clusterId, source, pod]))
    .digest('hex')
    .slice(0, 32)
  const tolerations = (pod.spec?.['tolerations'] as object[] | undefined) ?? []
  return {
    name: `${name}-${clusterId}`,
    hash,
    object: {
      metadata: {
        name: `${name}-${clusterId}`,
        ...(labels ? { labels } : {}),
        annotations: {
          ...annotations,
          [hashAnnotation]: hash,
          [mirrorAnnotation]: hash,
          [sourceAnnotation]: source,
          [seenAnnotation]: seenAt,
        },
      },
      spec: {
        ...pod.spec,
        nodeName: clusterId,
        // A static pod runs whatever is wrong with its node.
        tolerations: [...tolerations, { operator: 'Exists', effect: 'NoExecute' }],
      },
    },
  }
}

export const hashOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[mirrorAnnotation]

/** undefined = not a mirror pod of ours. */
export function sourceOf({ metadata }: KubeObject): SourceKind | undefined {
  const source = metadata.annotations?.[sourceAnnotation]
  return hashOf({ metadata }) !== undefined && (source === 'file' || source === 'http') ? source : undefined
}
