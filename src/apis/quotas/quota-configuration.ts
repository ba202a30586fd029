/**
 * `ResourceQuotaConfiguration`: what may be used only where a quota covers it.
 * @see k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/validation v0.36
 */
import { AdmissionConfigurationError, type PluginReader } from '../../admission/admission-configuration.ts'
import { aggregate } from '../../kube/aggregate.ts'
import type { ObjectReader } from '../../kube/object-reader.ts'
import { requiredFault } from '../../kube/value-faults.ts'
import type { LimitedResource } from './limited-resources.ts'
import type { ScopeRequirement } from './types.ts'

const legacy = ['v1beta1', 'v1alpha1'].map((version) => `resourcequota.admission.k8s.io/${version}`)

export const quotaConfiguration: PluginReader<readonly LimitedResource[]> = {
  plugin: 'ResourceQuota',
  kinds: { ResourceQuotaConfiguration: ['apiserver.config.k8s.io/v1'], Configuration: legacy },
  read(reader) {
    const faults: string[] = []
    const limited = reader.objects('limitedResources').map((each) => readLimited(each, faults))
    if (faults.length > 0) throw new AdmissionConfigurationError(aggregate(faults))
    return limited
  },
}

function readLimited(reader: ObjectReader, faults: string[]): LimitedResource {
  const limited = {
    group: reader.text('apiGroup'),
    resource: reader.text('resource'),
    matchContains: reader.texts('matchContains'),
    matchScopes: reader.objects('matchScopes').map((scope) => readScope(scope, faults)),
  }
  reader.end()
  if (limited.resource === '') faults.push(requiredFault(`${reader.at}.resource`))
  return limited
}

const scopeNames = [
  ...['BestEffort', 'CrossNamespacePodAffinity', 'NotBestEffort', 'NotTerminating', 'PriorityClass', 'Terminating'],
  'VolumeAttributesClass',
]
const operators = ['DoesNotExist', 'Exists', 'In', 'NotIn']

/** Upstream starts with a scope that it does not know, and then lets every request pass. */
function readScope(reader: ObjectReader, faults: string[]): ScopeRequirement {
  const scopeName = reader.text('scopeName')
  const operator = reader.text('operator')
  const values = [...reader.texts('values')]
  reader.end()
  faultUnless(scopeNames, scopeName, `${reader.at}.scopeName`, faults)
  faultUnless(operators, operator, `${reader.at}.operator`, faults)
  return { scopeName, operator, values }
}

function faultUnless(known: readonly string[], value: string, at: string, faults: string[]): void {
  if (known.includes(value)) return
  const supported = known.map((each) => JSON.stringify(each)).join(', ')
  faults.push(`${at}: Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`)
}
