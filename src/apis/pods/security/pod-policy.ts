/**
 * What the labels of a namespace say about its pods: a level and a version of it for each of three modes. What they
 * leave unsaid is said by the operator's defaults. Knows nothing of pods.
 *
 * Always answers a policy, whatever the labels: enforcement fails closed (`restricted`, `latest`), the other two open.
 * @see k8s.io/pod-security-admission/api/helpers.go v0.36
 */
import { type FieldError, fieldInvalid } from '../../../kube/field-error.ts'

const versionPattern = /^v1\.(0|[1-9][0-9]*)$/
const maxMinor = 2n ** 63n - 1n

/** Each forbids what those before it forbid, and more. */
const levels = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof levels)[number]

export interface LevelVersion {
  readonly level: Level
  /** `latest` or `v1.N`, as the label says it. */
  readonly version: string
  /** N of the version; Infinity for `latest`. */
  readonly minor: number
}

export interface PodPolicy {
  /** Pods that violate it are refused. */
  readonly enforce: LevelVersion
  /** Violations stand in the audit log. */
  readonly audit: LevelVersion
  /** Writers are warned of violations. */
  readonly warn: LevelVersion
}

export interface ReadPolicy {
  readonly policy: PodPolicy
  /** What is wrong with the labels. */
  readonly faults: readonly FieldError[]
}

/** Of labels, and of the keys in the audit log. */
export const prefix = 'pod-security.kubernetes.io/'

/** Written out: they are looked up at every write of a pod. */
const names = {
  enforce: { level: `${prefix}enforce`, version: `${prefix}enforce-version` },
  audit: { level: `${prefix}audit`, version: `${prefix}audit-version` },
  warn: { level: `${prefix}warn`, version: `${prefix}warn-version` },
} as const

const latest = { version: 'latest', minor: Number.POSITIVE_INFINITY } as const
const unrestricted: LevelVersion = { level: 'privileged', ...latest }
/** Upstream's own. */
export const defaultPolicy: PodPolicy = { enforce: unrestricted, audit: unrestricted, warn: unrestricted }

export const modeLabels = (mode: keyof PodPolicy): readonly string[] => Object.values(names[mode])

/** `restricted:v1.30` */
export const printPolicy = ({ level, version }: LevelVersion): string => `${level}:${version}`

export const isSame = (a: LevelVersion, b: LevelVersion): boolean => a.level === b.level && a.version === b.version

export const isPrivileged = ({ enforce, audit, warn }: PodPolicy): boolean =>
  [enforce, audit, warn].every(({ level }) => level === 'privileged')

export const isStricter = (a: Level, b: Level): boolean => levels.indexOf(a) > levels.indexOf(b)

/** Its answer never throws: it is asked for every write of a pod. */
export function policyReader(
  defaults: PodPolicy,
): (labels: Readonly<Record<string, string>> | undefined) => ReadPolicy {
  const unlabelled: ReadPolicy = { policy: defaults, faults: [] }
  return (labels) => {
    if (labels === undefined) return unlabelled
    const faults: FieldError[] = []
    const read = (mode: keyof PodPolicy): LevelVersion => {
      const unsaid = defaults[mode]
      const level = labels[names[mode].level]
      const version = labels[names[mode].version]
      if (level === undefined && version === undefined) return unsaid
      return {
        level: level === undefined ? unsaid.level : readLevel(mode, level, faults),
        ...(version === undefined ? versionOf(unsaid) : readVersion(mode, version, faults)),
      }
    }
    const enforce = read('enforce')
    const audit = read('audit')
    const warn = read('warn')
    if (enforce === defaults.enforce && audit === defaults.audit && warn === defaults.warn) return unlabelled
    return { policy: { enforce, audit, warn: warnedOf(labels, enforce, warn) }, faults }
  }
}

const versionOf = ({ version, minor }: LevelVersion): Pick<LevelVersion, 'version' | 'minor'> => ({ version, minor })

/** Undefined = there is no such level. */
export const levelOf = (text: string): Level | undefined => levels.find((known) => known === text)

/** Undefined = it is no version. */
export function parseVersion(text: string): Pick<LevelVersion, 'version' | 'minor'> | undefined {
  if (text === 'latest') return latest
  const minor = versionPattern.exec(text)?.[1]
  return minor !== undefined && BigInt(minor) <= maxMinor ? { version: text, minor: Number(minor) } : undefined
}

export const levelProblem: string = `must be one of ${levels.join(', ')}`
export const versionProblem = 'must be "latest" or "v1.x"'

function readLevel(mode: keyof PodPolicy, value: string, faults: FieldError[]): Level {
  const level = levelOf(value)
  if (level !== undefined) return level
  faults.push(fieldInvalid(fieldOf(names[mode].level), value, levelProblem))
  return mode === 'enforce' ? 'restricted' : 'privileged'
}

function readVersion(
  mode: keyof PodPolicy,
  value: string,
  faults: FieldError[],
): Pick<LevelVersion, 'version' | 'minor'> {
  const version = parseVersion(value)
  if (version !== undefined) return version
  faults.push(fieldInvalid(fieldOf(names[mode].version), value, versionProblem))
  return latest
}

/** Who enforces something and says nothing of warnings wants to be warned of it in Deployments too. */
function warnedOf(labels: Readonly<Record<string, string>>, enforce: LevelVersion, warn: LevelVersion): LevelVersion {
  const isAsked = labels[names.enforce.level] === enforce.level && labels[names.warn.level] === undefined
  if (!isAsked || !isStricter(enforce.level, warn.level)) return warn
  return labels[names.warn.version] === undefined ? enforce : { ...warn, level: enforce.level }
}

const fieldOf = (label: string): string => `metadata.labels[${label}]`
