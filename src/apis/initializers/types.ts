/**
 * NamespaceInitializerConfiguration: who acts on a new namespace before it may be used, and its schema. The list that a
 * namespace itself carries (`spec.initializers`) belongs to `namespaces/types.ts`.
 */

import type { LabelSelectorObject } from '../../kube/label-selector.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { KubeObject } from '../../kube/types.ts'

/** What an initializer's silence means at its deadline (ours). */
export type InitializerFailurePolicy = 'Ignore' | 'Fail'

export interface NamespaceInitializer {
  /** `provisioner.example.com`: fully qualified. */
  name: string
  /** Only namespaces with these labels wait for it; absent = all. */
  namespaceSelector?: LabelSelectorObject
  /** Seconds from when its turn comes; absent = no deadline. */
  timeoutSeconds?: number
  /** Default Fail. */
  failurePolicy?: InitializerFailurePolicy
}

export interface NamespaceInitializerConfiguration extends KubeObject {
  initializers?: NamespaceInitializer[]
}

/** The initializer that populates from templates: built in, always first. */
export const namespaceTemplateInitializer = 'namespace-template'

/** On a namespace, set by the server: its list came from its creator, so no configuration stands behind it. */
export const givenInitializersAnnotation = 'borough.dev/given-initializers'

export const initializerConfigurationResource: Resource<NamespaceInitializerConfiguration> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
}

const string: Schema = { type: 'string' }
const selector: Schema = {
  type: 'object',
  properties: new Map<string, Schema>([
    ['matchLabels', { type: 'object', additionalProperties: string }],
    [
      'matchExpressions',
      {
        type: 'array',
        listType: 'atomic',
        items: {
          type: 'object',
          required: ['key', 'operator'],
          properties: new Map<string, Schema>([
            ['key', string],
            ['operator', string],
            ['values', { type: 'array', listType: 'atomic', items: string }],
          ]),
        },
      },
    ],
  ]),
}

/** Everything but metadata, which every kind shares. */
export const initializerConfigurationProperties: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  [
    'initializers',
    {
      type: 'array',
      listType: 'map',
      listMapKeys: ['name'],
      patchStrategy: ['merge'],
      patchMergeKey: 'name',
      description: 'Initializers of new namespaces, in the order in which they act.',
      items: {
        type: 'object',
        required: ['name'],
        properties: new Map<string, Schema>([
          ['name', { ...string, description: 'Fully qualified: provisioner.example.com.' }],
          [
            'namespaceSelector',
            { ...selector, description: 'Namespaces that wait for this initializer; absent means all.' },
          ],
          [
            'timeoutSeconds',
            {
              type: 'integer',
              format: 'int32',
              minimum: 1,
              description: 'How long its turn may take before failurePolicy decides; absent means for ever.',
            },
          ],
          [
            'failurePolicy',
            {
              type: 'string',
              enum: ['Ignore', 'Fail'],
              description: 'At the deadline: Ignore goes on without it, Fail (default) deletes the namespace.',
            },
          ],
        ]),
      },
    },
  ],
])
