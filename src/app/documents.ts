/** What is served besides resources. */

import { discoveryDocument, discoveryPath, keySet, keySetContentType, keySetPath } from '../authn/openid-discovery.ts'
import { serviceAccountIssuer } from '../authn/token-issuer.ts'
import { kmsChecks, storeChecks } from '../encryption/store-health.ts'
import type { FlowControl } from '../flowcontrol/flowcontrol.ts'
import { build } from '../http/build.ts'
import type { DocumentsDeps } from '../http/documents.ts'
import { flowControlDumps } from '../http/flow-control-dumps.ts'
import { type HealthCheck, ping } from '../http/health.ts'
import { OpenapiDocuments } from '../http/openapi/openapi-documents.ts'
import { gitVersion } from '../http/version.ts'
import type { SigningKeys } from '../pki/pki.ts'
import type { Core } from './wire.ts'

export interface DocumentSources {
  readonly keys: SigningKeys
  readonly flowControl: FlowControl
  /** `host:port`, once it listens. */
  readonly address: () => string
  readonly metricsText: () => Promise<string> | string
  /** Of a store that other versions may serve too; undefined: all is well. */
  readonly formatProblem: () => string | undefined
}

export function documentsOf(
  { config, catalog, lister, cache, storage, storeReporter, turns }: Core,
  { keys, flowControl, address, metricsText, formatProblem }: DocumentSources,
): Omit<DocumentsDeps, 'discovery'> {
  const { clock } = config
  const kms = kmsChecks(storage)
  const openapi = new OpenapiDocuments({ types: catalog.types, catalog, clock, turns, version: gitVersion(build) })
  return {
    health: {
      clock,
      checks: {
        healthz: [ping, ...kms],
        livez: [ping, ...kms],
        readyz: [
          ping,
          ...kms,
          { name: 'storage', check: () => lister.refresh(), warnings: () => [...cache.damaged.all()] },
          ...storeChecks(storeReporter),
          ...(config.storage.engine === 'etcd' ? [formatCheck(formatProblem)] : []),
        ],
      },
      onFailure: (endpoint, check, error) => config.log.error({ endpoint, check, error }, 'a health check failed'),
    },
    build,
    plain: {
      ...flowControlDumps(flowControl),
      '/metrics': { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: () => metricsText() },
      [discoveryPath]: {
        contentType: 'application/json',
        cacheControl: 'public, max-age=3600',
        body: () => JSON.stringify(discoveryDocument(serviceAccountIssuer, `https://${address()}${keySetPath}`)),
      },
      [keySetPath]: {
        contentType: keySetContentType,
        body: () => JSON.stringify(keySet(keys.current)),
      },
    },
    openapi: (path) => openapi.find(path),
    openapiPaths: () => openapi.paths(),
  }
}

/** Requests are served as before: a warning. */
const formatCheck = (problem: DocumentSources['formatProblem']): HealthCheck => ({
  name: 'storage-format',
  check() {},
  warnings: () => [problem()].filter((line) => line !== undefined),
})
