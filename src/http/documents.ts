/** Everything that is not a resource: discovery, version, health, metrics, keys for token verification. */

import { methodNotAllowed } from '../kube/status-error.ts'
import type { Handler } from './api.ts'
import { type DiscoveryDeps, DiscoveryDocuments } from './discovery/discovery-documents.ts'
import { findHealthHandler, type HealthDeps, healthPaths } from './health.ts'
import { type BuildInfo, versionHandler } from './version.ts'

export interface DocumentsDeps {
  readonly discovery: DiscoveryDeps
  readonly health: HealthDeps
  readonly build: BuildInfo
  /** Paths served as they are, whatever follows a slash at their end; computed at each request. */
  readonly plain: Readonly<
    Record<
      string,
      {
        readonly contentType: string
        /** Absent = caches do not keep it. */
        readonly cacheControl?: string
        readonly body: (query: URLSearchParams) => string | Promise<string>
      }
    >
  >
  /** OpenAPI: undefined for a path it does not know. */
  readonly openapi: (path: string) => Handler | undefined
  readonly openapiPaths: () => readonly string[]
}

export interface Documents {
  find(path: string): Handler | undefined
  paths(): readonly string[]
}

const textEncoder = new TextEncoder()

export function createDocuments(deps: DocumentsDeps): Documents {
  const discovery = new DiscoveryDocuments(deps.discovery)
  const version = versionHandler(deps.build)
  const plain = (path: string): Handler | undefined => {
    const document = deps.plain[path]
    if (document === undefined) return undefined
    return async (request, { info }) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
      const body = textEncoder.encode(await document.body(info.query))
      const { contentType, cacheControl } = document
      const headers = { 'content-type': contentType, ...(cacheControl ? { 'cache-control': cacheControl } : {}) }
      return { status: 200, headers, body }
    }
  }
  const paths = (): readonly string[] =>
    [
      ...discovery.paths(),
      ...deps.openapiPaths(),
      ...healthPaths(deps.health),
      ...Object.keys(deps.plain),
      '/version',
    ].sort()
  const root: Handler = async () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: textEncoder.encode(JSON.stringify({ paths: paths() }, null, 2)),
  })
  return {
    find(path) {
      if (path === '/' || path === '') return root
      if (path === '/version' || path === '/version/') return version
      return plain(path) ?? discovery.find(path) ?? deps.openapi(path) ?? findHealthHandler(path, deps.health)
    },
    paths,
  }
}
