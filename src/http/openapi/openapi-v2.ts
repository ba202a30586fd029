/**
 * OpenAPI 2.0 (Swagger): everything in one document, for clients up to 1.26.
 */
import type { Resumable } from '../../base/resumable.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { JsonObject } from '../../kube/types.ts'
import type { DefinitionNames, TypeCatalog } from './definition-names.ts'
import { Definitions } from './definitions.ts'
import { type Operation, operationsOf, type Parameter } from './operations.ts'

/** A place for a pause after each type, and after some definitions. */
export function* makingOpenapiV2(
  types: Iterable<ResourceType>,
  catalog: TypeCatalog,
  names: DefinitionNames,
  version: string,
): Resumable<JsonObject> {
  const definitions = new Definitions('v2', catalog, names, (definition) => names.kindsOf(definition))
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
    swagger: '2.0',
    info: { title: 'Kubernetes', version },
    paths,
    definitions: yield* definitions.finishing(),
    securityDefinitions: { BearerToken: { type: 'apiKey', in: 'header', name: 'authorization' } },
    security: [{ BearerToken: [] }],
  }
}

function writeParameter({ name, in: place, type, description }: Parameter): JsonObject {
  return { name, in: place, description, type, uniqueItems: true, ...(place === 'path' ? { required: true } : {}) }
}

const statusText: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

function writeOperation(operation: Operation, definitions: Definitions): JsonObject {
  const parameters: JsonObject[] = operation.parameters.map(writeParameter)
  if (operation.body !== undefined) {
    parameters.unshift({ name: 'body', in: 'body', required: true, schema: definitions.reference(operation.body) })
  }
  const answers: JsonObject = {}
  for (const [code, definition] of Object.entries(operation.answers)) {
    answers[code] = { description: statusText[code] ?? '', schema: definitions.reference(definition) }
  }
  const { group, kind, version } = operation.kind
  return {
    description: operation.description,
    consumes: [...(operation.bodyTypes ?? ['*/*'])],
    produces: [...operation.answerTypes],
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: { ...answers, 401: { description: 'Unauthorized' } },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': { group, kind, version },
  }
}
