/** Definitions for tests, and the wait until they serve or are gone. */
import { type CustomResourceDefinition, definitionResource, findCondition } from '../../src/apis/crds/types.ts'
import type { JsonObject } from '../../src/kube/types.ts'
import type { TestControlPlane } from '../../src/testing/index.ts'
import { type Answered, send } from './send.ts'

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export interface DefinitionOptions {
  readonly group?: string
  readonly scope?: string
  readonly plural?: string
  readonly kind?: string
  readonly names?: JsonObject
  readonly version?: JsonObject
  /** All of `spec.versions`. */
  readonly versions?: readonly JsonObject[]
  /** Of the root. */
  readonly schema?: JsonObject
  readonly spec?: JsonObject
  readonly annotations?: Record<string, string>
}

export const objectOf = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
})

export function definition(options: DefinitionOptions = {}): CustomResourceDefinition {
  const { group = 'ex.io', scope = 'Namespaced', plural = 'widgets', kind = 'Widget' } = options
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: options.schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    ...options.version,
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(options.annotations ? { annotations: options.annotations } : {}) },
    spec: {
      group,
      scope,
      names: { plural, kind, ...options.names },
      versions: options.versions ?? [version],
      ...options.spec,
    },
  } as unknown as CustomResourceDefinition
}

export const post = (
  plane: Pick<TestControlPlane, 'fetch'>,
  path: string,
  body: unknown,
  query = '',
): Promise<Answered> => send(plane, path + query, { method: 'POST', body })

/** Creates it and waits until the condition is there. */
export async function install(
  plane: Pick<TestControlPlane, 'client' | 'fetch'>,
  given: CustomResourceDefinition,
  condition = 'Established',
  status = 'True',
): Promise<CustomResourceDefinition> {
  const { code, text } = await post(plane, definitionsPath, given)
  if (code !== 201) throw new Error(text)
  const name = given.metadata.name ?? ''
  const found = await until(plane, name, (now) => now !== undefined && findCondition(now, condition)?.status === status)
  if (found === undefined) throw new Error(`${name} is gone`)
  return found
}

/** Waits by watching; answers undefined once it is gone. */
export async function until(
  plane: Pick<TestControlPlane, 'client'>,
  name: string,
  holds: (definition: CustomResourceDefinition | undefined) => boolean,
): Promise<CustomResourceDefinition | undefined> {
  const stop = new AbortController()
  const events = plane.client.watch(definitionResource, {
    fieldSelector: `metadata.name=${name}`,
    sendInitialEvents: true,
    allowWatchBookmarks: true,
    signal: stop.signal,
  })
  try {
    let isThere = false
    for await (const event of events) {
      if (event.type === 'BOOKMARK') {
        if (!isThere && holds(undefined)) return undefined
        continue
      }
      isThere = event.type !== 'DELETED'
      const now = isThere ? (event.object as CustomResourceDefinition) : undefined
      if (holds(now)) return now
    }
    throw new Error('the watch ended')
  } finally {
    stop.abort()
  }
}

export async function uninstall(plane: TestControlPlane, name: string): Promise<void> {
  await send(plane, `${definitionsPath}/${name}`, { method: 'DELETE' })
  await until(plane, name, (now) => now === undefined)
}
