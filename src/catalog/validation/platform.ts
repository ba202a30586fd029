/**
 * Kinds about the platform: leases, events, runtime classes, API services, webhooks, signing requests, CSI.
 * @see the validation packages of the same groups in Kubernetes 1.36
 */
import { validateLabelSelector } from '../../kube/label-selector.ts'
import { isDns1123Label, isDns1123Subdomain, isQualifiedName } from '../../kube/names.ts'
import type { KubeObject } from '../../kube/types.ts'
import { findPart, numberIn, type Part, partIn, partsIn, type Report, sameValue, textIn, textsIn } from './report.ts'

export function checkLease(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  const seconds = numberIn(spec, 'leaseDurationSeconds')
  if (seconds !== undefined && seconds <= 0)
    report.invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')
  report.notNegative(spec, 'spec', 'leaseTransitions')
}

/** The object it is about; both API groups store it as `involvedObject`. */
export function checkEvent(report: Report, next: KubeObject): void {
  const namespace = next.metadata.namespace ?? ''
  const about = textIn(partIn(next, 'involvedObject'), 'namespace')
  // Events about cluster-scoped objects live in default.
  if (about === '' ? namespace !== 'default' && namespace !== 'kube-system' : about !== namespace) {
    report.invalid('involvedObject.namespace', about, 'does not match event.namespace')
  }
  const type = textIn(next, 'type')
  if (next.eventTime === undefined || next.eventTime === null) return
  // Only the new library sets a time: what it leaves out is a mistake of its user.
  if (textIn(next, 'reportingComponent') === '') report.required('reportingController')
  else
    report.each(
      'reportingController',
      textIn(next, 'reportingComponent'),
      isQualifiedName(textIn(next, 'reportingComponent')),
    )
  for (const [field, max] of [
    ['reportingInstance', 128],
    ['action', 128],
    ['reason', 128],
  ] as const) {
    const value = textIn(next, field)
    if (value === '') report.required(field)
    else if (value.length > max) report.invalid(field, '', `can have at most ${max} characters`)
  }
  if (textIn(next, 'message').length > 1024) report.invalid('message', '', 'can have at most 1024 characters')
  if (type !== 'Normal' && type !== 'Warning') report.invalid('type', '', 'has invalid value: ' + type)
}

export function checkRuntimeClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const handler = textIn(next, 'handler')
  if (old) report.immutable('handler', handler, old.handler)
  report.each('handler', handler, isDns1123Label(handler))
}

export function checkApiService(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  const group = textIn(spec, 'group')
  const version = textIn(spec, 'version')
  const wanted = `${version}.${group}`
  if (next.metadata.name !== wanted)
    report.invalid('metadata.name', next.metadata.name, `must be \`spec.version+"."+spec.group\`: "${wanted}"`)
  if (group !== '') report.subdomain('spec.group', group)
  if (version === '') report.required('spec.version')
  else report.each('spec.version', version, isDns1123Label(version))
  const service = findPart(spec, 'service')
  for (const [field, max] of [
    ['groupPriorityMinimum', 20_000],
    ['versionPriority', 1000],
  ] as const) {
    const value = numberIn(spec, field) ?? 0
    if (value <= 0 || value > max) report.invalid(`spec.${field}`, value, `must be positive and less than ${max}`)
  }
  if (!service) {
    if (textIn(spec, 'caBundle') !== '')
      report.invalid('spec.caBundle', '', 'local APIServices may not have a caBundle')
    if (spec.insecureSkipTLSVerify === true)
      report.invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify')
    return
  }
  for (const field of ['namespace', 'name']) if (textIn(service, field) === '') report.required(`spec.service.${field}`)
  if (spec.insecureSkipTLSVerify === true && textIn(spec, 'caBundle') !== '') {
    report.invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')
  }
}

const operations = ['*', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT']
const knownReviewVersions = ['v1', 'v1beta1']

export function checkWebhooks(report: Report, next: KubeObject, mutating: boolean): void {
  const names = new Set<string>()
  partsIn(next, 'webhooks').forEach((hook, i) => {
    const at = `webhooks[${i}]`
    const name = textIn(hook, 'name')
    report.unique(`${at}.name`, name, names)
    checkQualifiedDomain(report, `${at}.name`, name)
    const versions = textsIn(hook, 'admissionReviewVersions')
    if (versions.length === 0) report.required(`${at}.admissionReviewVersions`, 'must specify one of v1, v1beta1')
    else if (!versions.some((v) => knownReviewVersions.includes(v))) {
      report.invalid(`${at}.admissionReviewVersions`, versions, 'must include at least one of v1, v1beta1')
    }
    if (hook.sideEffects === undefined) report.required(`${at}.sideEffects`, 'must specify one of None, NoneOnDryRun')
    else report.oneOf(`${at}.sideEffects`, textIn(hook, 'sideEffects'), ['None', 'NoneOnDryRun'])
    report.oneOfIfSet(`${at}.failurePolicy`, hook.failurePolicy, ['Fail', 'Ignore'])
    report.oneOfIfSet(`${at}.matchPolicy`, hook.matchPolicy, ['Equivalent', 'Exact'])
    if (mutating) report.oneOfIfSet(`${at}.reinvocationPolicy`, hook.reinvocationPolicy, ['IfNeeded', 'Never'])
    const timeout = numberIn(hook, 'timeoutSeconds')
    if (timeout !== undefined && (timeout < 1 || timeout > 30)) {
      report.invalid(`${at}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds')
    }
    report.add(validateLabelSelector(findPart(hook, 'namespaceSelector'), `${at}.namespaceSelector`))
    report.add(validateLabelSelector(findPart(hook, 'objectSelector'), `${at}.objectSelector`))
    partsIn(hook, 'rules').forEach((rule, j) => checkWebhookRule(report, `${at}.rules[${j}]`, rule))
    checkClientConfig(report, `${at}.clientConfig`, partIn(hook, 'clientConfig'))
  })
}

function checkQualifiedDomain(report: Report, field: string, name: string): void {
  if (name === '') return report.required(field)
  const errors = isDns1123Subdomain(name)
  report.each(field, name, errors)
  if (errors.length === 0 && name.split('.').length < 3) {
    report.invalid(field, name, 'should be a domain with at least three segments separated by dots')
  }
}

function checkWebhookRule(report: Report, at: string, rule: Part): void {
  const given = textsIn(rule, 'operations')
  if (given.length === 0) report.required(`${at}.operations`)
  given.forEach((operation, i) => report.oneOf(`${at}.operations[${i}]`, operation, operations))
  if (given.length > 1 && given.includes('*')) {
    report.invalid(`${at}.operations`, given, "if '*' is present, must not specify other operations")
  }
  for (const field of ['apiGroups', 'apiVersions', 'resources']) {
    const values = textsIn(rule, field)
    if (values.length === 0) report.required(`${at}.${field}`)
    if (field !== 'resources' && values.length > 1 && values.includes('*')) {
      const what = field === 'apiGroups' ? 'API groups' : 'API versions'
      report.invalid(`${at}.${field}`, values, `if '*' is present, must not specify other ${what}`)
    }
  }
  report.oneOfIfSet(`${at}.scope`, rule.scope, ['*', 'Cluster', 'Namespaced'])
}

function checkClientConfig(report: Report, at: string, config: Part): void {
  const url = config.url
  const service = findPart(config, 'service')
  if ((typeof url === 'string') === (service !== undefined))
    return report.required(at, 'exactly one of url or service is required')
  if (service) {
    for (const field of ['name', 'namespace']) {
      if (textIn(service, field) === '') report.required(`${at}.service.${field}`, `service ${field} is required`)
    }
    if (service.port !== undefined) report.port(`${at}.service.port`, service.port)
    const path = service.path
    if (typeof path === 'string' && !path.startsWith('/'))
      report.invalid(`${at}.service.path`, path, "must start with a '/'")
    return
  }
  const parsed = URL.canParse(String(url)) ? new URL(String(url)) : undefined
  const form = '; desired format: https://host[/path]'
  if (!parsed) return report.required(`${at}.url`, `url must be a valid URL${form}`)
  if (parsed.protocol !== 'https:')
    report.invalid(`${at}.url`, parsed.protocol.slice(0, -1), `'https' is the only allowed URL scheme${form}`)
  if (parsed.host === '') report.invalid(`${at}.url`, parsed.host, `host must be specified${form}`)
  if (parsed.username !== '')
    report.invalid(`${at}.url`, parsed.username, 'user information is not permitted in the URL')
  if (parsed.hash !== '') report.invalid(`${at}.url`, parsed.hash, 'fragments are not permitted in the URL')
  if (parsed.search !== '') report.invalid(`${at}.url`, parsed.search, 'query parameters are not permitted in the URL')
}

export function checkSigningRequest(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  if (old) {
    if (!sameValue(spec, old.spec)) report.invalid('spec', spec, 'field is immutable')
    return
  }
  const request = textIn(spec, 'request')
  if (!Buffer.from(request, 'base64').toString('latin1').includes('-----BEGIN CERTIFICATE REQUEST-----')) {
    report.invalid('spec.request', request, 'PEM block type must be CERTIFICATE REQUEST')
  }
  if (textsIn(spec, 'usages').length === 0) report.required('spec.usages')
  const signer = textIn(spec, 'signerName')
  if (signer === '') report.required('spec.signerName')
  else if (!/^[^/]+\/.+$/.test(signer) || isDns1123Subdomain(signer.split('/', 1)[0] ?? '').length > 0) {
    report.invalid(
      'spec.signerName',
      signer,
      'must be a fully qualified domain and path of the form "example.com/signer-name"',
    )
  }
  const seconds = numberIn(spec, 'expirationSeconds')
  if (seconds !== undefined && seconds < 600) {
    report.invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 600 seconds (10 minutes)')
  }
}

export function checkCsiNode(report: Report, next: KubeObject): void {
  const names = new Set<string>()
  partsIn(partIn(next, 'spec'), 'drivers').forEach((driver, i) => {
    const at = `spec.drivers[${i}]`
    const name = textIn(driver, 'name')
    if (name === '') report.required(`${at}.name`)
    else report.unique(`${at}.name`, name, names)
    if (textIn(driver, 'nodeID') === '') report.required(`${at}.nodeID`)
  })
}

export function checkCsiDriver(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  for (const field of ['attachRequired', 'podInfoOnMount', 'storageCapacity']) {
    if (spec[field] === undefined) report.required(`spec.${field}`)
  }
  report.oneOfIfSet('spec.fsGroupPolicy', spec.fsGroupPolicy, ['ReadWriteOnceWithFSType', 'File', 'None'])
  if (!old) return
  for (const field of ['attachRequired', 'volumeLifecycleModes']) {
    report.immutable(`spec.${field}`, spec[field], partIn(old, 'spec')[field])
  }
}

export function checkVolumeAttachment(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  if (textIn(spec, 'attacher') === '') report.required('spec.attacher')
  if (textIn(spec, 'nodeName') === '') report.required('spec.nodeName')
  const source = partIn(spec, 'source')
  if (source.persistentVolumeName === undefined && source.inlineVolumeSpec === undefined) {
    report.required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName')
  }
  if (old && !sameValue(spec, old.spec)) report.invalid('spec', spec, 'field is immutable')
}
