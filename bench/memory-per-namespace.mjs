/** Prints KiB of live memory per populated namespace. `node --expose-gc memory-per-namespace.mjs COUNT`. */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { startControlPlane } from '../dist/testing/index.js'

const count = Number(process.argv[2])
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const example = new URL('../examples/security-defaults/20-default-template.yaml', import.meta.url)

await using plane = await startControlPlane()
await plane.client.create(templates, parse(await readFile(example, 'utf8')))

const made = (from, to) =>
  Promise.all(
    Array.from({ length: to - from }, (_, i) =>
      plane.client.create(namespaces, { metadata: { name: `memory-${from + i}` } }),
    ),
  )
const liveBytes = async () => {
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
// What the first ones need is code and caches, not theirs alone.
await made(0, 50)
const before = await liveBytes()
for (let at = 50; at < count + 50; at += 50) await made(at, at + 50)
process.stdout.write(String(((await liveBytes()) - before) / count / 1024))
