/**
 * What `restricted` forbids on top of `baseline`: whatever is not the practice for pods that need no rights.
 * @see k8s.io/pod-security-admission/policy v0.36
 */
import { procMount, seccompProfile } from './baseline-checks.ts'
import type { Check, Find, Finding } from './checks.ts'
import {
  distinct,
  hasOwnUsers,
  isWindows,
  type JudgedContainer,
  type JudgedPod,
  judgedContainersOf,
  named,
  namesOf,
  plural,
  quoted,
  setters,
  type Volume,
} from './judged-pod.ts'

const unless =
  (isExcused: (pod: JudgedPod) => boolean, find: Find): Find =>
  (pod) =>
    isExcused(pod) ? undefined : find(pod)

function allowPrivilegeEscalation(pod: JudgedPod): Finding | undefined {
  const bad = judgedContainersOf(pod).filter((c) => c.securityContext?.allowPrivilegeEscalation !== false)
  if (bad.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${named('container', namesOf(bad))} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

function capabilities(pod: JudgedPod): Finding | undefined {
  const added = ({ securityContext }: JudgedContainer): string[] =>
    (securityContext?.capabilities?.add ?? []).filter((name) => name !== 'NET_BIND_SERVICE')
  const containers = judgedContainersOf(pod)
  const keeping = containers.filter((c) => !c.securityContext?.capabilities?.drop?.includes('ALL'))
  const adding = containers.filter((c) => added(c).length > 0)
  if (keeping.length === 0 && adding.length === 0) return undefined
  const what = [
    ...(keeping.length > 0
      ? [`${named('container', namesOf(keeping))} must set securityContext.capabilities.drop=["ALL"]`]
      : []),
    ...(adding.length > 0
      ? [
          `${named('container', namesOf(adding))} must not include ` +
            `${quoted(distinct(adding.flatMap(added)))} in securityContext.capabilities.add`,
        ]
      : []),
  ]
  return { reason: 'unrestricted capabilities', detail: what.join('; ') }
}

const freeSources = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]

/** A volume that sets several is told by the first of these. */
const restrictedSources = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
]

function restrictedVolumes({ spec }: JudgedPod): Finding | undefined {
  const bad = (spec?.volumes ?? []).filter((volume) => !freeSources.some((source) => volume[source]))
  if (bad.length === 0) return undefined
  const sourceOf = (volume: Volume): string => restrictedSources.find((source) => volume[source]) ?? 'unknown'
  const names = bad.map(({ name }) => name)
  const sources = distinct(bad.map(sourceOf))
  return {
    reason: 'restricted volume types',
    detail:
      `${named('volume', names)} ${plural('uses', bad.length, 'use')} ` + named('restricted volume type', sources),
  }
}

function runAsNonRoot(pod: JudgedPod): Finding | undefined {
  const ofPod = pod.spec?.securityContext?.runAsNonRoot
  const containers = judgedContainersOf(pod)
  const reason = 'runAsNonRoot != true'
  const rooted = containers.filter((c) => c.securityContext?.runAsNonRoot === false)
  if (ofPod === false || rooted.length > 0) {
    return {
      reason,
      detail: `${setters(ofPod === false, namesOf(rooted))} must not set securityContext.runAsNonRoot=false`,
    }
  }
  const silent = containers.filter((c) => c.securityContext?.runAsNonRoot === undefined)
  if (ofPod || silent.length === 0) return undefined
  return { reason, detail: `pod or ${named('container', namesOf(silent))} must set securityContext.runAsNonRoot=true` }
}

function runAsUser(pod: JudgedPod): Finding | undefined {
  const ofPod = pod.spec?.securityContext?.runAsUser === 0
  const bad = judgedContainersOf(pod).filter((c) => c.securityContext?.runAsUser === 0)
  if (!ofPod && bad.length === 0) return undefined
  return { reason: 'runAsUser=0', detail: `${setters(ofPod, namesOf(bad))} must not set runAsUser=0` }
}

function seccompSet(pod: JudgedPod): Finding | undefined {
  const bad = seccompProfile(pod)
  if (bad !== undefined || pod.spec?.securityContext?.seccompProfile) return bad
  const silent = judgedContainersOf(pod).filter((c) => !c.securityContext?.seccompProfile)
  if (silent.length === 0) return undefined
  return {
    reason: 'seccompProfile',
    detail:
      `pod or ${named('container', namesOf(silent))} must set securityContext.seccompProfile.type to ` +
      '"RuntimeDefault" or "Localhost"',
  }
}

/** In the order in which they are told: by the bytes of upstream's names for them. */
export const restrictedChecks: readonly Check[] = [
  {
    name: 'allowPrivilegeEscalation',
    since: [
      [8, allowPrivilegeEscalation],
      [25, unless(isWindows, allowPrivilegeEscalation)],
    ],
  },
  {
    name: 'capabilities_restricted',
    replaces: 'capabilities_baseline',
    since: [
      [22, capabilities],
      [25, unless(isWindows, capabilities)],
    ],
  },
  { name: 'procMount_restricted', replaces: 'procMount', since: [[35, procMount]] },
  { name: 'restrictedVolumes', replaces: 'hostPathVolumes', since: [[0, restrictedVolumes]] },
  {
    name: 'runAsNonRoot',
    since: [
      [0, runAsNonRoot],
      [35, unless(hasOwnUsers, runAsNonRoot)],
    ],
  },
  {
    name: 'runAsUser',
    since: [
      [23, runAsUser],
      [35, unless(hasOwnUsers, runAsUser)],
    ],
  },
  {
    name: 'seccompProfile_restricted',
    replaces: 'seccompProfile_baseline',
    since: [
      [19, seccompSet],
      [25, unless(isWindows, seccompSet)],
    ],
  },
]
