/**
 * `kubectl delete namespace` by somebody whose right to see the namespace lies inside of it, and goes with it. kubectl
 * reads until the name is gone: were it refused at the end instead of told, it would ask for ever.
 *
 * Repeated `BOROUGH_INTEROP_REPEAT` times with each kubectl, several at once.
 */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startControlPlane } from '../../src/testing/index.ts'
import { send } from '../support/send.ts'
import { describeEachKubectl, KubectlSession } from './kubectl.ts'

const examples = fileURLToPath(new URL('../../examples/security-defaults/', import.meta.url))
const repeat = Number(process.env['BOROUGH_INTEROP_REPEAT'] ?? 20)
const atOnce = 4
/** Far above what it takes on a busy machine; kubectl itself would go on without an end. */
const patienceMs = 30_000

describeEachKubectl((kubectl) => {
  test(
    `${repeat} times, the deleter's command returns and the namespace is gone`,
    async () => {
      await using plane = await startControlPlane({ port: 0 })
      await using admin = await KubectlSession.open(kubectl, plane.kubeconfig)
      const applied = await admin.run(['apply', '-f', examples])
      expect(applied.code, applied.transcript).toBe(0)
      await using dev1 = await KubectlSession.open(kubectl, plane.kubeconfigFor('dev1', ['devs']))

      let next = 0
      const oneAfterTheOther = async (): Promise<void> => {
        while (next < repeat) {
          const name = `short-lived-${next++}`
          const created = await dev1.run(['create', 'namespace', name], { timeoutMs: patienceMs })
          expect(created.code, created.transcript).toBe(0)
          const filled = await send(plane, `/api/v1/namespaces/${name}/configmaps`, {
            method: 'POST',
            body: { metadata: { name: 'content' } },
          })
          expect(filled.code).toBe(201)
          const deleted = await dev1.run(['delete', 'namespace', name], { timeoutMs: patienceMs })
          expect(deleted.code, deleted.transcript).toBe(0)
          expect(deleted.stdout).toBe(`namespace "${name}" deleted\n`)
          expect((await send(plane, `/api/v1/namespaces/${name}`)).code).toBe(404)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, oneAfterTheOther))
      expect(next).toBe(repeat)
    },
    60_000 + repeat * 5_000,
  )
})
