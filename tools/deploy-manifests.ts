#!/usr/bin/env node
/**
 * Writes `deploy/` from the same code that `borough populate --print-manifests` prints: kinds that templates usually
 * hold.
 *
 *   node tools/deploy-manifests.ts           writes the files
 *   node tools/deploy-manifests.ts --check   fails if one is not what this would write
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import type { KubeObject } from '../src/kube/types.ts'
import { templateDefinition } from '../src/populate/definition.ts'
import {
  deploymentManifests,
  findKinds,
  namespaceManifest,
  networkPolicyManifest,
  serviceManifest,
} from '../src/populate/manifests.ts'
import { defaultNamespace } from '../src/populate/names.ts'
import { reachOf, rightsManifests } from '../src/populate/rights.ts'

const folder = fileURLToPath(new URL('../deploy/', import.meta.url))

/** No Secrets and no workloads: who wants those in templates gives the rights knowingly. */
const usualKinds = [
  'v1/ConfigMap',
  'v1/LimitRange',
  'v1/ResourceQuota',
  'v1/ServiceAccount',
  'networking.k8s.io/v1/NetworkPolicy',
  'rbac.authorization.k8s.io/v1/Role',
  'rbac.authorization.k8s.io/v1/RoleBinding',
]

const header = '# Made by tools/deploy-manifests.ts: change that.\n'
const yaml = (objects: readonly object[]): string =>
  objects.map((object) => stringify(object, { lineWidth: 0 })).join('---\n')

/** File name → text. */
export async function deployFiles(): Promise<Map<string, string>> {
  const kinds = await findKinds(usualKinds, undefined)
  const file = (name: string, objects: readonly KubeObject[], word = ''): [string, string] => [
    name,
    `${header}${word === '' ? '' : `#\n# ${word.replaceAll('. ', '.\n# ')}\n`}${yaml(objects)}`,
  ]
  const files = new Map([
    file('namespace.yaml', [namespaceManifest(defaultNamespace)]),
    file('namespacetemplates.yaml', [templateDefinition()]),
    file('rights.yaml', rightsManifests(defaultNamespace, kinds), reachOf(kinds)),
    file('service.yaml', [serviceManifest(defaultNamespace)]),
    file('deployment.yaml', deploymentManifests(defaultNamespace, 'borough:latest')),
    file('network-policy.yaml', [networkPolicyManifest(defaultNamespace)]),
  ])
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [...files.keys()],
  }
  return files.set('kustomization.yaml', header + yaml([kustomization]))
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check')
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of await deployFiles()) {
    if (!isCheck) writeFileSync(join(folder, name), text)
    else if (readFileSync(join(folder, name), 'utf8') !== text) {
      console.error(`deploy/${name} is out of date: run node tools/deploy-manifests.ts`)
      process.exitCode = 1
    }
  }
}
