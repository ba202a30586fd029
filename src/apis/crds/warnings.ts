/** What the author of a definition should know though it is accepted. */
import { JsonPathError, parseJsonPath } from '../../kube/json-path.ts'
import type { CustomResourceDefinition } from './types.ts'

export function definitionWarnings({ spec }: CustomResourceDefinition): string[] {
  const warnings: string[] = []
  for (const [i, { additionalPrinterColumns }] of spec.versions.entries()) {
    for (const { name, jsonPath = '' } of additionalPrinterColumns ?? []) {
      const fault = pathFault(jsonPath)
      if (fault)
        warnings.push(
          `spec.versions[${i}].additionalPrinterColumns: column ${JSON.stringify(name)} is not shown: ${fault}`,
        )
    }
  }
  return warnings
}

/** Undefined if the path can be read. */
export function pathFault(jsonPath: string): string | undefined {
  try {
    parseJsonPath(jsonPath)
    return undefined
  } catch (e) {
    if (e instanceof JsonPathError) return e.message
    throw e
  }
}
