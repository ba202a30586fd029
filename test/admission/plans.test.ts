/** Which plugins a write asks: those that have something to say about its operation and type, and no others. */
import { beforeAll, expect, test } from 'vitest'
import type { Operation } from '../../src/admission/admission.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { createControlPlane } from '../../src/app/control-plane.ts'
import { decidingParts, type Features, featuresOf } from '../../src/app/features.ts'
import type { FeatureParts } from '../../src/feature/feature.ts'
import type { ResourceType } from '../../src/kube/resource-type.ts'
import { AdmissionPlans } from '../../src/registry/admission-plan.ts'

interface Asked {
  readonly mutating?: string
  readonly validating?: string
  readonly creatingMore?: string
  readonly deciding?: string
}

const halves = ['mutating', 'validating', 'creatingMore', 'deciding'] as const

/** Operation, resource and sub-resource, each with the names of the plugins in their order. */
const rows: Readonly<Record<string, Asked>> = {
  'CREATE configmaps': {
    mutating: 'NamespaceLifecycle NamespaceInitializers',
    deciding: 'NamespaceLifecycle AppliedRecord',
  },
  'UPDATE configmaps': { mutating: 'NamespaceLifecycle NamespaceInitializers', deciding: 'AppliedRecord' },
  'DELETE configmaps': { mutating: 'NamespaceInitializers' },
  'CREATE rolebindings': {
    mutating: 'NamespaceLifecycle NamespaceInitializers',
    validating: 'RbacEscalation',
    deciding: 'NamespaceLifecycle AppliedRecord',
  },
  'CREATE deployments': {
    mutating: 'NamespaceLifecycle NamespaceInitializers',
    validating: 'PodSecurity',
    deciding: 'NamespaceLifecycle AppliedRecord',
  },
  'CREATE pods': {
    mutating:
      'NamespaceLifecycle LimitRanger ServiceAccount Priority DefaultTolerationSeconds RuntimeClass ' +
      'NamespaceInitializers',
    validating: 'LimitRanger ServiceAccount PodSecurity RuntimeClass',
    deciding: 'NamespaceLifecycle PodSecurity AppliedRecord',
  },
  'UPDATE pods': {
    mutating: 'NamespaceLifecycle Priority DefaultTolerationSeconds NamespaceInitializers',
    validating: 'PodSecurity',
    deciding: 'PodSecurity AppliedRecord',
  },
  'UPDATE pods status': { mutating: 'NamespaceLifecycle NamespaceInitializers' },
  'UPDATE pods resize': {
    mutating: 'NamespaceLifecycle NamespaceInitializers',
    validating: 'LimitRanger PodSecurity',
    deciding: 'PodSecurity',
  },
  'CREATE persistentvolumeclaims': {
    mutating: 'NamespaceLifecycle DefaultStorageClass NamespaceInitializers',
    validating: 'LimitRanger',
    deciding: 'NamespaceLifecycle AppliedRecord',
  },
  'CREATE priorityclasses': { validating: 'Priority' },
  'CREATE namespaces': {
    mutating: 'NamespaceTemplates NamespaceInitializers',
    validating: 'PodSecurity NamespaceTemplates NamespaceExpiry NamespacePopulation',
    creatingMore: 'NamespacePopulation',
    deciding: 'NamespaceDefaultObjects',
  },
  'UPDATE namespaces finalize': {
    mutating: 'NamespaceTemplates NamespaceFinalization',
    validating: 'NamespaceTemplates NamespaceExpiry',
    deciding: 'NamespaceFinalization AppliedRecord',
  },
  'DELETE namespaces': { validating: 'NamespaceLifecycle' },
  'DELETE namespacetemplates': { validating: 'NamespaceTemplates' },
  'CREATE nodes': {},
}

let plans: AdmissionPlans
const types = new Map<string, ResourceType>()

beforeAll(async () => {
  const opened: FeatureParts[] = []
  const features = (...given: Parameters<typeof featuresOf>): Features => {
    const made = featuresOf(...given)
    const list = made.list.map((feature) => ({
      ...feature,
      open(context: Parameters<typeof feature.open>[0]) {
        for (const type of context.catalog.types.all()) types.set(type.resource, types.get(type.resource) ?? type)
        const parts = feature.open(context)
        opened.push(parts)
        return parts
      },
    }))
    return { ...made, list }
  }
  await using _plane = await createControlPlane(defaultConfig, { features })
  const { admission, accountants } = decidingParts(opened)
  plans = new AdmissionPlans(admission, accountants)
})

test.each(Object.entries(rows))('%s', (row, expected) => {
  const [operation, resource = '', subresource = ''] = row.split(' ')
  const type = types.get(resource)
  if (type === undefined) throw new Error(`there are no ${resource}`)
  const plan = plans.of({ operation: operation as Operation, type, subresource })
  const asked = halves.map((half) => [half, plan[half].map(({ name }) => name).join(' ')] as const)
  expect(Object.fromEntries(asked.filter(([, names]) => names !== ''))).toEqual(expected)
})
