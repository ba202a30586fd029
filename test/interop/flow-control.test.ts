/** FlowSchemas and PriorityLevelConfigurations by kubectl, and what they do to the next command. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startControlPlane } from '../../src/testing/index.ts'
import { describeEachKubectl, KubectlSession } from './kubectl.ts'

const objects = `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: batch}
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: 5
    limitResponse: {type: Queue, queuing: {queues: 16, handSize: 4, queueLengthLimit: 10}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: batch-users}
spec:
  priorityLevelConfiguration: {name: batch}
  matchingPrecedence: 700
  distinguisherMethod: {type: ByUser}
  rules:
    - subjects: [{kind: Group, group: {name: batch}}]
      resourceRules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*']}]
      nonResourceRules: [{verbs: ['*'], nonResourceURLs: ['*']}]
`

describeEachKubectl((kubectl) => {
  test('apply changes who decides, columns tell it, and a missing level is shown', async () => {
    await using plane = await startControlPlane({ port: 0 })
    await using session = await KubectlSession.open(kubectl, plane.kubeconfig)
    const run = async (args: readonly string[], input?: string): Promise<string> => {
      const ran = await session.run(args, input === undefined ? {} : { input })
      expect(ran.code, ran.transcript).toBe(0)
      return ran.stdout
    }
    // The old kubectl asks for the columns of a version that is gone; what it prints is name and age.
    const isOld = kubectl.minor < 23
    const before = await run(['get', 'flowschemas'])
    if (!isOld) {
      expect(before.split('\n')[0]?.split(/ {2,}/)).toEqual([
        'NAME',
        'PRIORITYLEVEL',
        'MATCHINGPRECEDENCE',
        'DISTINGUISHERMETHOD',
        'AGE',
        'MISSINGPL',
      ])
    }
    expect(before).toMatch(/^global-default +global-default +9900 +ByUser +\S+ +(?:False|\?)$/m)
    await run(['apply', '-f', '-'], objects)
    const asBea = join(session.folder, 'bea')
    await writeFile(asBea, plane.kubeconfigFor('bea', ['batch']), { mode: 0o600 })
    const uid = await run(['get', 'flowschema', 'batch-users', '-o', 'jsonpath={.metadata.uid}'])
    const { stderr } = await session.run(['get', 'configmaps', '-v=8'], {
      kubeconfig: asBea,
    })
    expect(stderr.toLowerCase()).toContain(`x-kubernetes-pf-flowschema-uid: ${uid}`)
    await expect.poll(() => run(['get', 'flowschema', 'batch-users'])).toMatch(/ False\s*$/)
    await run(['delete', 'prioritylevelconfiguration', 'batch'])
    await expect.poll(() => run(['get', 'flowschema', 'batch-users'])).toMatch(/ True\s*$/)
    const levels = await run(['get', 'prioritylevelconfigurations'])
    expect(levels).toMatch(/^workload-low +Limited +100 +128 +6 +50 +\S+$/m)
  })
})
