/**
 * Features of a Borough that stands for a cluster of another kind: it knows no ends of namespaces, so that what keeps
 * them there is `borough populate` alone.
 */
import { namespaces } from '../../src/apis/namespaces/feature.ts'
import { featuresOf } from '../../src/app/features.ts'

export const foreignFeatures: typeof featuresOf = (config, deps) => {
  const { hold, list } = featuresOf(config, deps)
  const withoutEnds = namespaces({
    extraAdmission: config.extraAdmission,
    initializers: false,
    deadlineOf: () => undefined,
    settleExpiry: (namespace) => namespace,
    hasExpired: () => false,
  })
  const kept = list.filter(({ name }) => name !== 'expiry')
  return { hold, list: kept.map((feature) => (feature.name === withoutEnds.name ? withoutEnds : feature)) }
}
