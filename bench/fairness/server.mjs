/**
 * A server on SQLite whose parent may ask what happened since it last asked: how long the main thread worked between
 * two looks at the loop (processor time, collections apart). Of `dist/`, as users have it. `node server.mjs DATA_DIR`,
 * with an IPC channel.
 */
import { PerformanceObserver } from 'node:perf_hooks'
import { defaultConfig, serve } from '../../dist/index.js'

const server = await serve({
  ...defaultConfig,
  dataDir: process.argv[2],
  storage: { engine: 'sqlite' },
  listen: { host: '127.0.0.1', port: 0 },
})

/** Often enough that the time between two looks is that of one turn of a busy loop. */
const lookMs = 1
let collectedMs = 0
const collections = new PerformanceObserver((list) => count(list.getEntries()))
collections.observe({ entryTypes: ['gc'] })

function count(entries) {
  for (const { duration } of entries) collectedMs += duration
}

function workedMs() {
  count(collections.takeRecords())
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000 - collectedMs
}

let before = workedMs()
let longestMs = 0
setInterval(() => {
  const now = workedMs()
  longestMs = Math.max(longestMs, now - before)
  before = now
}, lookMs)

process.on('message', () => {
  process.send({ answer: longestMs })
  longestMs = 0
})
process.on('disconnect', () => process.exit())
process.send({ answer: server.adminKubeconfig })
