/** NamespaceTemplate as a CustomResourceDefinition, for clusters that do not serve it: the schema that Borough has. */

import { featureLevel } from '../apis/templates/feature-level.ts'
import { templateKind, templateKinds } from '../apis/templates/kind.ts'
import {
  featureLevelAnnotation,
  templateGroup,
  templateProperties,
  templateResourceName,
  templateVersion,
} from '../apis/templates/types.ts'
import { inlineSchema } from '../http/openapi/inline-schema.ts'
import type { Schema } from '../kube/schema/schema.ts'
import type { KubeObject } from '../kube/types.ts'

export const definitionName: string = `${templateResourceName}.${templateGroup}`

export function templateDefinition(): KubeObject {
  const declared = templateKinds.find((kind) => kind.group === templateGroup && kind.kind === templateKind)
  const root: Schema = {
    type: 'object',
    ...(declared?.description === undefined ? {} : { description: declared.description }),
    properties: templateProperties,
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: definitionName, annotations: { [featureLevelAnnotation]: String(featureLevel) } },
    spec: {
      group: templateGroup,
      scope: 'Cluster',
      names: {
        plural: templateResourceName,
        singular: 'namespacetemplate',
        kind: templateKind,
        listKind: `${templateKind}List`,
        shortNames: ['nstpl'],
      },
      versions: [
        {
          name: templateVersion,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: inlineSchema(root, { style: 'v3', reference: () => undefined }) },
          subresources: { status: {} },
          additionalPrinterColumns: (declared?.columns ?? []).map((column) => ({ ...column })),
        },
      ],
    },
  }
}
