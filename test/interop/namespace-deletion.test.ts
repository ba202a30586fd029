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
/**
 * A command of its own for each of the first, which mostly sees the namespace go. The others share commands: kubectl
 * asks for them in turn, and mostly finds a namespace that has gone before it began to wait.
 */
const alone = Math.min(repeat, Math.max(10, repeat / 10))
const together = 30
const atOnce = 4
/** Far above what it takes on a busy machine; kubectl itself would go on without an end. */
const patienceMs = 60_000

describeEachKubectl((kubectl) => {
  test(
    `${repeat} times, the deleter's command returns and the namespace is gone`,
    async () => {
      await using plane = await startControlPlane({ port: 0 })
      await using admin = await KubectlSession.open(kubectl, plane.kubeconfig)
      const applied = await admin.run(['apply', '-f', examples])
      expect(applied.code, applied.transcript).toBe(0)
      await using dev1 = await KubectlSession.open(kubectl, plane.kubeconfigFor('dev1', ['devs']))

      const fill = async (name: string): Promise<void> => {
        const path = `/api/v1/namespaces/${name}/configmaps`
        const filled = await send(plane, path, { method: 'POST', body: { metadata: { name: 'content' } } })
        expect(filled.code).toBe(201)
      }
      const deleted = async (names: readonly string[]): Promise<void> => {
        const ran = await dev1.run(['delete', 'namespace', ...names], { timeoutMs: patienceMs })
        expect(ran.code, ran.transcript).toBe(0)
        expect(ran.stdout).toBe(names.map((name) => `namespace "${name}" deleted\n`).join(''))
        for (const name of names) expect((await send(plane, `/api/v1/namespaces/${name}`)).code).toBe(404)
        count += names.length
      }
      let count = 0
      let next = 0
      const oneAfterTheOther = async (): Promise<void> => {
        while (next < alone) {
          const name = `alone-${next++}`
          const created = await dev1.run(['create', 'namespace', name], { timeoutMs: patienceMs })
          expect(created.code, created.transcript).toBe(0)
          await fill(name)
          await deleted([name])
        }
      }
      await Promise.all(Array.from({ length: atOnce }, oneAfterTheOther))
      for (let from = alone; from < repeat; from += together) {
        const names = Array.from({ length: Math.min(together, repeat - from) }, (_, i) => `together-${from + i}`)
        const items = names.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
        const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
        const created = await dev1.run(['create', '-f', '-'], { input, timeoutMs: patienceMs })
        expect(created.code, created.transcript).toBe(0)
        await Promise.all(names.map(fill))
        await deleted(names)
      }
      expect(count).toBe(repeat)
    },
    120_000 + repeat * 2_000,
  )
})
