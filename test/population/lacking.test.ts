/** `borough why` of a namespace that its templates could not give something. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import { explainNamespace } from '../../src/apis/namespaces/explain.ts'
import { systemClock } from '../../src/base/clock.ts'
import { explanationText } from '../../src/cli/explanation-text.ts'
import { waitFor } from '../support/wait-for.ts'
import { configMap, configMapResource, namespaceResource, PopulationWorld } from './population-world.ts'

let world: PopulationWorld
beforeEach(async () => {
  world = await PopulationWorld.start()
})
afterEach(() => world[Symbol.asyncDispose]())

async function why(name: string): Promise<string> {
  await waitFor(world.admin, namespaceResource, { name }, (n) =>
    JSON.stringify(n?.['status'] ?? '').includes('Populated'),
  )
  const explanation = await explainNamespace(world.admin, name, systemClock, AbortSignal.timeout(30_000))
  return explanationText(explanation, systemClock.now())
}

test('an object that was there before: which template, who must act, and what helps', async () => {
  await world.namespace('team')
  await world.admin.create(configMapResource, { metadata: { namespace: 'team', name: 'one' }, data: { a: 'mine' } })
  await world.template('t', [configMap('one')])
  const says = 'ConfigMap/one: it was there before and no template created it; spec.adopt: true would take it over'
  expect(await why('team')).toBe(
    'Namespace team is Active.\n\n' +
      `The server reports:\n  Populated (AlreadyExists): ${says}\n\n` +
      'What its templates could not give it:\n\n' +
      '* ConfigMap/one of NamespaceTemplate "t" is not as it says (AlreadyExists)\n' +
      '  who must act: who may write in this namespace, or who writes the template\n' +
      '  what helps:\n' +
      '    kubectl delete configmap one -n team\n' +
      '      the template makes its own within a minute; copy what is needed to another name first\n' +
      `    kubectl patch namespacetemplate t --type=merge -p '{"spec":{"adopt":true}}'\n` +
      '      take over what is in the way of it, in all its namespaces\n',
  )
})

test('a quota that is used up: in a namespace that waits for its templates, too', async () => {
  const selector = { labels: { matchLabels: { 'kubernetes.io/metadata.name': 'team' } } }
  await world.admin.create(clusterQuotaResource, {
    metadata: { name: 'q' },
    spec: { selector, quota: { hard: { configmaps: '1' } } },
  })
  await world.template('t', [configMap('one'), configMap('two')])
  // It is answered when the namespace is ready, or after half a minute.
  void world.admin.create(namespaceResource, { metadata: { name: 'team' } }).catch(() => undefined)
  const text = await why('team')
  expect(text).toContain('Namespace team is Initializing')
  expect(text).toMatch(
    /\n\* its templates could not give it all that it must have\n {2}who must act: who is named below with each object /,
  )
  expect(text).toMatch(
    /\n\* ConfigMap\/\w+ of NamespaceTemplate "t" is not as it says \(Forbidden\)\n {2}who must act: who may write in /,
  )
  expect(text).toContain('\n    kubectl get clusterresourcequota q -o yaml\n')
})
