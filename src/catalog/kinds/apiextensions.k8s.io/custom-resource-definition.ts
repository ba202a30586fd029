/**
 * Custom resource definitions, but for what they declare: that is in `src/apis/crds/`.
 * @see pkg/apis/apiextensions/v1/defaults.go of k8s.io/apiextensions-apiserver v0.36
 */
import { type DefaultRule, fillAbsent, fillUnset } from '../default-rules.ts'
import type { BuiltInKind } from '../kind.ts'

const defaultNames: DefaultRule = (names) => {
  if (typeof names.kind !== 'string' || names.kind === '') return
  fillUnset({ singular: names.kind.toLowerCase(), listKind: `${names.kind}List` })(names)
}

export const customResourceDefinition: BuiltInKind = {
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  strategy: { unconditionalUpdate: false, returnsDeleted: true, tracksGeneration: true },
  defaults: {
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec': [
      fillAbsent({ conversion: { strategy: 'None' } }),
    ],
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames': [defaultNames],
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference': [fillAbsent({ port: 443 })],
  },
}
