/**
 * `PodSecurityConfiguration`: what holds in namespaces whose labels do not say it, and who is exempt.
 * @see k8s.io/pod-security-admission/admission/api/validation/validation.go v0.36
 */
import { AdmissionConfigurationError, type PluginReader } from '../../../admission/admission-configuration.ts'
import { aggregate } from '../../../kube/aggregate.ts'
import { isDns1123Label, isDns1123Subdomain } from '../../../kube/names.ts'
import type { ObjectReader } from '../../../kube/object-reader.ts'
import { duplicateFault, invalidFault } from '../../../kube/value-faults.ts'
import {
  defaultPolicy,
  type LevelVersion,
  levelOf,
  levelProblem,
  type PodPolicy,
  parseVersion,
  versionProblem,
} from './pod-policy.ts'

/** Of whom nothing is asked. */
export interface PodSecurityExemptions {
  readonly usernames: ReadonlySet<string>
  readonly namespaces: ReadonlySet<string>
  readonly runtimeClasses: ReadonlySet<string>
}

export interface PodSecuritySettings {
  readonly defaults: PodPolicy
  readonly exemptions: PodSecurityExemptions
}

export const defaultPodSecurity: PodSecuritySettings = {
  defaults: defaultPolicy,
  exemptions: { usernames: new Set(), namespaces: new Set(), runtimeClasses: new Set() },
}

export const podSecurityConfiguration: PluginReader<PodSecuritySettings> = {
  plugin: 'PodSecurity',
  kinds: {
    PodSecurityConfiguration: ['v1', 'v1beta1', 'v1alpha1'].map(
      (version) => `pod-security.admission.config.k8s.io/${version}`,
    ),
  },
  read(reader) {
    const faults: string[] = []
    const defaults = reader.nested('defaults')
    const enforce = readMode(defaults, 'enforce', faults)
    const warn = readMode(defaults, 'warn', faults)
    const audit = readMode(defaults, 'audit', faults)
    defaults.end()
    const exemptions = reader.nested('exemptions')
    const namespaces = readNames(exemptions, 'namespaces', isDns1123Label, faults)
    const runtimeClasses = readNames(exemptions, 'runtimeClasses', isDns1123Subdomain, faults)
    const usernames = readNames(exemptions, 'usernames', isNotEmpty, faults)
    exemptions.end()
    if (faults.length > 0) throw new AdmissionConfigurationError(aggregate(faults))
    return { defaults: { enforce, audit, warn }, exemptions: { usernames, namespaces, runtimeClasses } }
  },
}

function readMode(reader: ObjectReader, mode: keyof PodPolicy, faults: string[]): LevelVersion {
  const { level: defaultLevel, ...defaultVersion } = defaultPolicy[mode]
  // As upstream: what is empty is not said.
  const level = reader.text(mode) || defaultLevel
  const version = reader.text(`${mode}-version`) || defaultVersion.version
  const knownLevel = levelOf(level)
  const knownVersion = parseVersion(version)
  if (knownLevel === undefined) faults.push(invalidFault(`${reader.at}.${mode}`, level, levelProblem))
  if (knownVersion === undefined) faults.push(invalidFault(`${reader.at}.${mode}-version`, version, versionProblem))
  return { level: knownLevel ?? defaultLevel, ...(knownVersion ?? defaultVersion) }
}

const isNotEmpty = (name: string): readonly string[] => (name === '' ? ['username must not be empty'] : [])

function readNames(
  reader: ObjectReader,
  field: keyof PodSecurityExemptions,
  problemsOf: (name: string) => readonly string[],
  faults: string[],
): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [i, name] of reader.texts(field).entries()) {
    const at = `${reader.at}.${field}[${i}]`
    const problems = problemsOf(name)
    if (problems.length > 0) faults.push(invalidFault(at, name, problems.join(', ')))
    else if (names.has(name)) faults.push(duplicateFault(at, name))
    names.add(name)
  }
  return names
}
