#!/usr/bin/env node
/**
 * Writes what `deploy/` holds of population from the code that `borough populate --print-manifests` prints too, with
 * the kinds that templates usually hold: the base for kustomize, `install.yaml` in one piece, and of the Helm chart
 * what says the version, the kind and the rights; and the schema of the file that `borough up --config` reads.
 *
 *   node tools/deploy-manifests.ts           writes the files
 *   node tools/deploy-manifests.ts --check   fails if one is not what this would write
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { stringify } from 'yaml'
import { packageVersion } from '../src/base/package-version.ts'
import { settingsSchema } from '../src/cli/settings.ts'
import { addUpCommand } from '../src/cli/up.ts'
import type { KubeObject } from '../src/kube/types.ts'
import { templateDefinition } from '../src/populate/definition.ts'
import {
  deploymentManifests,
  findKinds,
  manifests,
  namespaceManifest,
  networkPolicyManifest,
  serviceManifest,
} from '../src/populate/manifests.ts'
import { defaultNamespace, kindsRoleName } from '../src/populate/names.ts'
import { reachOf, rightsManifests } from '../src/populate/rights.ts'
import { webAddressOf } from './repository.ts'

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
  const word = `#\n# ${reachOf(kinds).replaceAll('. ', '.\n# ')}\n`
  const base = new Map([
    ['namespace.yaml', header + yaml([namespaceManifest(defaultNamespace)])],
    ['namespacetemplates.yaml', header + yaml([templateDefinition()])],
    ['rights.yaml', header + word + yaml(rightsManifests(defaultNamespace, kinds))],
    ['service.yaml', header + yaml([serviceManifest(defaultNamespace)])],
    ['deployment.yaml', header + yaml(deploymentManifests(defaultNamespace, 'borough:latest'))],
    ['network-policy.yaml', header + yaml([networkPolicyManifest(defaultNamespace)])],
  ])
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [...base.keys()],
  }
  const whole = manifests({ namespace: defaultNamespace, image: `borough:${packageVersion}`, kinds })
  return new Map([
    ...base,
    ['kustomization.yaml', header + yaml([kustomization])],
    ['config.schema.json', `${JSON.stringify(settingsSchema(addUpCommand(new Command(), () => {})), null, 2)}\n`],
    ['install.yaml', header + word + yaml(whole)],
    ['helm/Chart.yaml', header + yaml([chart])],
    ['helm/crds/namespacetemplates.yaml', header + yaml([templateDefinition()])],
    ['helm/templates/population-rights.yaml', rightsTemplate(rightsManifests('{{ .Release.Namespace }}', kinds))],
  ])
}

const chart = {
  apiVersion: 'v2',
  name: 'borough',
  description: 'Namespaces that arrive populated, in this cluster or in a control plane of their own',
  type: 'application',
  version: packageVersion,
  appVersion: packageVersion,
  kubeVersion: '>=1.25.0-0',
  ...sourcesOf(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Named),
}

interface Named {
  readonly homepage?: string
  readonly repository?: { readonly url: string }
}

/** A release writes them into package.json. */
function sourcesOf(said: Named): { readonly home?: string; readonly sources?: readonly string[] } {
  const web = webAddressOf(said)
  return {
    ...(said.homepage === undefined ? {} : { home: said.homepage }),
    ...(web === undefined ? {} : { sources: [web] }),
  }
}

/** The values may add rules for further kinds. */
function rightsTemplate(rights: readonly KubeObject[]): string {
  const further = '{{- with .Values.population.extraRules }}\n  {{- toYaml . | nindent 2 }}\n{{- end }}\n'
  const documents = rights.map(
    (object) =>
      yaml([object]) + (object.kind === 'ClusterRole' && object.metadata.name === kindsRoleName ? further : ''),
  )
  return `${header}{{- if .Values.population.enabled }}\n${documents.join('---\n')}{{- end }}\n`
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check')
  for (const [name, text] of await deployFiles()) {
    if (!isCheck) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    } else if (readFileSync(join(folder, name), 'utf8') !== text) {
      console.error(`deploy/${name} is out of date: run node tools/deploy-manifests.ts`)
      process.exitCode = 1
    }
  }
}
