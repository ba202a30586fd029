/**
 * `/version`: which Kubernetes this server is like, and which build of Borough it is.
 */
import { kubernetesVersion } from '../kube/kubernetes-version.ts'
import { methodNotAllowed } from '../kube/status-error.ts'
import type { ApiResponse, Handler } from './api.ts'

export interface BuildInfo {
  /** Of Borough, as in its package: `0.1.0`. */
  readonly version: string
  readonly gitCommit: string
  readonly gitTreeState: string
  /** RFC 3339 */
  readonly buildDate: string
}

/** `v1.36.3+borough.0.1.0` */
export function gitVersion(build: BuildInfo): string {
  const { major, minor, patch } = kubernetesVersion
  return `v${major}.${minor}.${patch}+borough.${build.version}`
}

export function versionDocument(build: BuildInfo): object {
  const { major, minor } = kubernetesVersion
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: gitVersion(build),
    gitCommit: build.gitCommit,
    gitTreeState: build.gitTreeState,
    buildDate: build.buildDate,
    // Clients print this one and decide nothing by it.
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  }
}

/** Always pretty, as upstream's. */
export function versionHandler(build: BuildInfo): Handler {
  const body = new TextEncoder().encode(JSON.stringify(versionDocument(build), undefined, 2))
  return async (request): Promise<ApiResponse> => {
    if (request.method !== 'GET') throw methodNotAllowed()
    return { status: 200, headers: { 'content-type': 'application/json' }, body }
  }
}
