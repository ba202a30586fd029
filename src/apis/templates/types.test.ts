/** What other programs read or hold: names and the schema stay what they are, or stored objects lose their meaning. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseYaml } from '../../kube/yaml-body.ts'
import { templateDefinition } from '../../populate/definition.ts'
import * as types from './types.ts'

test('the definition on other clusters is the one that is shipped', () => {
  const shipped = new URL('../../../deploy/namespacetemplates.yaml', import.meta.url)
  expect(parseYaml(readFileSync(shipped, 'utf8')).value).toEqual(JSON.parse(JSON.stringify(templateDefinition())))
})

test('names in stored objects are never other ones', () => {
  const names = Object.entries(types).filter(([, value]) => typeof value === 'string')
  expect(Object.fromEntries(names)).toEqual({
    applyAnnotation: 'policy/namespace-template-apply',
    askedAnnotation: 'policy.borough.dev/asks-webhooks',
    cloneToAnnotation: 'policy.borough.dev/clone-to',
    confirmPruneAnnotation: 'policy.borough.dev/confirm-prune',
    creatorKey: 'authorization.k8s.io/creator',
    featureLevelAnnotation: 'policy.borough.dev/feature-level',
    labelFieldManager: 'namespace-template-label',
    metadataHoldersAnnotation: 'policy.borough.dev/set-by-templates',
    metadataVersionsAnnotation: 'policy.borough.dev/settles',
    optOutAnnotation: 'policy/namespace-template-opt-out',
    optedOutNamespace: 'kube-system',
    ownerKey: 'borough.dev/owner',
    pauseRolloutAnnotation: 'policy.borough.dev/pause-rollout',
    pendingLabel: 'policy/namespace-template-pending',
    populatedCondition: 'Populated',
    protectedByLabel: 'policy.borough.dev/protected-by',
    requirePermissionAnnotation: 'policy/namespace-template-require-permission',
    templateControllerName: 'namespace-template-controller',
    templateFieldManager: 'namespace-template',
    templateFinalizer: 'policy.borough.dev/prune',
    templateGroup: 'policy.borough.dev',
    templateGroupAlias: 'policy',
    templateNameLabel: 'policy/namespace-template-name',
    templateResourceName: 'namespacetemplates',
    templateVersion: 'v1alpha1',
  })
  expect(types.keptByStatus).toEqual(['labels', 'annotations', 'ownerReferences', 'finalizers'])
})
