/** @see pkg/apis/batch/v1/defaults.go of Kubernetes 1.36 */
import {
  type DefaultRule,
  type DefaultRules,
  fillAbsent,
  fillUnset,
  findStruct,
  listIn,
  structIn,
} from '../default-rules.ts'

const unlimited = 2_147_483_647
const backoffLimit = 6

const jobSpec: DefaultRule = (spec) => {
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1
  if (spec.parallelism === undefined) spec.parallelism = 1
  if (spec.backoffLimit === undefined) {
    spec.backoffLimit = spec.backoffLimitPerIndex === undefined ? backoffLimit : unlimited
  }
  const policy = findStruct(spec, 'podFailurePolicy')
  if (spec.podReplacementPolicy === undefined) spec.podReplacementPolicy = policy ? 'Failed' : 'TerminatingOrFailed'
  for (const rule of policy ? listIn(policy, 'rules') : []) {
    for (const pattern of listIn(rule, 'onPodConditions')) fillUnset({ status: 'True' })(pattern)
  }
}

/** A job without labels takes those of its pods. */
const job: DefaultRule = (object) => {
  const template = findStruct(structIn(object, 'spec'), 'template')
  const labels = template && findStruct(structIn(template, 'metadata'), 'labels')
  const metadata = structIn(object, 'metadata')
  if (labels && Object.keys(findStruct(metadata, 'labels') ?? {}).length === 0) metadata.labels = { ...labels }
}

export const batchDefaults: DefaultRules = {
  'io.k8s.api.batch.v1.Job': [
    job,
    // Not in the rules of the spec: the jobs inside a CronJob get them when they are made.
    (object) => jobSpec(structIn(object, 'spec')),
    (object) => fillAbsent({ completionMode: 'NonIndexed', suspend: false })(structIn(object, 'spec')),
  ],
  'io.k8s.api.batch.v1.CronJobSpec': [
    fillUnset({ concurrencyPolicy: 'Allow' }),
    fillAbsent({ suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 }),
  ],
}
