/** The fields that views read of objects of the cluster, by kind. Of every other kind its metadata is read. */
import type { GroupResource } from '../../kube/gvk.ts'
import type { KubeObject } from '../../kube/types.ts'
import { fit, type Shape } from './fit.ts'

const text: Shape = { must: 'string' }
const strings: Shape = { list: 'string' }
const stringMap: Shape = { map: 'string' }
const quantities: Shape = { map: 'quantity' }

const metadata: Shape = {
  fields: {
    name: 'string',
    namespace: 'string',
    uid: 'string',
    resourceVersion: 'string',
    generation: 'number',
    creationTimestamp: 'string',
    deletionTimestamp: 'string',
    labels: stringMap,
    annotations: stringMap,
    finalizers: strings,
    ownerReferences: { list: { fields: { uid: text, kind: text, name: text } } },
  },
}

const conditions: Shape = {
  list: { fields: { type: text, status: text, reason: text, message: text, lastTransitionTime: text } },
}

const namespace = {
  spec: {
    fields: { finalizers: strings, initializers: { fields: { pending: { list: { fields: { name: text } } } } } },
  },
  status: { fields: { phase: 'string', conditions } },
} as const satisfies Readonly<Record<string, Shape>>

const selector: Shape = {
  fields: {
    matchLabels: stringMap,
    matchExpressions: { list: { fields: { key: text, operator: text, values: strings } } },
  },
}

const templateObject: Shape = {
  fields: {
    apiVersion: text,
    kind: text,
    metadata: { must: { fields: { name: text, labels: stringMap, annotations: stringMap } } },
  },
}

const template = {
  spec: {
    fields: {
      namespaces: {
        fields: {
          labelSelector: selector,
          nameSelector: { fields: { include: strings, exclude: strings } },
          creatorSelector: { fields: { users: strings, serviceAccounts: strings } },
        },
      },
      parameters: {
        list: {
          fields: {
            name: text,
            fromLabel: 'string',
            fromAnnotation: 'string',
            enum: strings,
            pattern: 'string',
            default: 'string',
            required: 'boolean',
          },
        },
      },
      namespaceMetadata: { fields: { labels: stringMap, annotations: stringMap } },
      templates: { list: templateObject },
      objects: {
        list: {
          fields: {
            when: 'string',
            drift: 'string',
            yieldTo: strings,
            protect: 'boolean',
            template: templateObject,
            cloneFrom: { fields: { namespace: text, apiVersion: text, kind: text, name: text } },
          },
        },
      },
      deletionPolicy: 'string',
      driftPolicy: 'string',
      failurePolicy: 'string',
      adopt: 'boolean',
      rollout: { fields: { maxUnavailable: 'amount', maxPrune: 'amount', pauseOnFailure: 'boolean' } },
      expiry: { fields: { default: 'string', max: 'string' } },
    },
  },
  status: {
    fields: {
      observedGeneration: 'number',
      matched: 'number',
      synced: 'number',
      failed: 'number',
      skipped: 'number',
      extended: 'number',
      waiting: 'number',
      failures: { list: { fields: { namespace: text, object: 'string', reason: text, message: text } } },
      kinds: strings,
      conditions,
    },
  },
} as const satisfies Readonly<Record<string, Shape>>

const rules: Shape = {
  list: {
    fields: {
      verbs: { must: strings },
      apiGroups: strings,
      resources: strings,
      resourceNames: strings,
      nonResourceURLs: strings,
    },
  },
}
const binding = {
  roleRef: { must: { fields: { apiGroup: text, kind: text, name: text } } },
  subjects: { list: { fields: { kind: text, name: text, apiGroup: 'string', namespace: 'string' } } },
} as const satisfies Readonly<Record<string, Shape>>

const event = {
  type: 'string',
  reason: 'string',
  message: 'string',
  count: 'number',
  lastTimestamp: 'string',
  eventTime: 'string',
  involvedObject: { fields: { kind: 'string', name: 'string' } },
} as const satisfies Readonly<Record<string, Shape>>

const limits: Shape = {
  list: {
    fields: {
      type: text,
      max: quantities,
      min: quantities,
      default: quantities,
      defaultRequest: quantities,
      maxLimitRequestRatio: quantities,
    },
  },
}

const kinds: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  'namespaces.': namespace,
  'namespacetemplates.policy.borough.dev': template,
  'roles.rbac.authorization.k8s.io': { rules },
  'clusterroles.rbac.authorization.k8s.io': { rules },
  'rolebindings.rbac.authorization.k8s.io': binding,
  'clusterrolebindings.rbac.authorization.k8s.io': binding,
  'events.': event,
  'resourcequotas.': {
    spec: { fields: { hard: quantities } },
    status: { fields: { hard: quantities, used: quantities } },
  },
  'limitranges.': { spec: { fields: { limits } } },
}

/** As its kind is read. An object that is none has no name. */
export function fitObject<T extends KubeObject>({ group, resource }: GroupResource, object: unknown): T {
  const fields = kinds[`${resource}.${group}`] ?? {}
  const shape: Shape = { must: { fields: { ...fields, metadata: { must: metadata } } } }
  return fit(object, shape) as T
}
