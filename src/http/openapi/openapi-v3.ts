/**
 * OpenAPI 3.0: one document per group version.
 */
import type { Resumable } from '../../base/resumable.ts'
import { apiVersionOf, type GroupVersionKind } from '../../kube/gvk.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { JsonObject } from '../../kube/types.ts'
import { type DefinitionNames, metaType, type TypeCatalog } from './definition-names.ts'
import { Definitions } from './definitions.ts'
import { type Operation, operationsOf, type Parameter } from './operations.ts'

/** @param types All of one group version. */
export function* makingOpenapiV3(
  types: readonly ResourceType[],
  catalog: TypeCatalog,
  names: DefinitionNames,
  version: string,
): Resumable<JsonObject> {
  const groupVersions = new Set(types.map((type) => apiVersionOf(type)))
  // What other groups serve must not change this document.
  const kindsOf = (definition: string): readonly GroupVersionKind[] =>
    definition === metaType('DeleteOptions')
      ? names.kindsOf(definition).filter((kind) => kind.group === '' || groupVersions.has(apiVersionOf(kind)))
      : names.kindsOf(definition)
  const definitions = new Definitions('v3', catalog, names, kindsOf)
  const paths: JsonObject = {}
  for (const type of types) {
    definitions.addType(type)
    for (const { path, parameters, operations } of operationsOf(type, names)) {
      const item: JsonObject = { parameters: parameters.map(writeParameter) }
      for (const operation of operations) item[operation.method] = writeOperation(operation, definitions)
      paths[path] = item
    }
    yield
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version },
    paths,
    components: {
      schemas: yield* definitions.finishing(),
      securitySchemes: { BearerToken: { type: 'apiKey', in: 'header', name: 'authorization' } },
    },
  }
}

function writeParameter({ name, in: place, type, description }: Parameter): JsonObject {
  return {
    name,
    in: place,
    description,
    ...(place === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  }
}

const statusText: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

function writeOperation(operation: Operation, definitions: Definitions): JsonObject {
  const content = (mediaTypes: readonly string[], definition: string): JsonObject =>
    Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema: definitions.reference(definition) }]))
  const answers: JsonObject = {}
  for (const [code, definition] of Object.entries(operation.answers)) {
    answers[code] = { description: statusText[code] ?? '', content: content(operation.answerTypes, definition) }
  }
  const { group, kind, version } = operation.kind
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    ...(operation.parameters.length > 0 ? { parameters: operation.parameters.map(writeParameter) } : {}),
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            content: content(operation.bodyTypes ?? operation.answerTypes, operation.body),
            required: true,
          },
        }),
    responses: { ...answers, 401: { description: 'Unauthorized' } },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': { group, kind, version },
  }
}
