/**
 * A server on SQLite whose parent may ask for its 'memory' after a collection. Of `dist/`, as users have it.
 * `node --expose-gc held-server.mjs DATA_DIR`, with an IPC channel.
 */
import { defaultConfig, serve } from '../dist/index.js'

const server = await serve({
  ...defaultConfig,
  dataDir: process.argv[2],
  storage: { engine: 'sqlite' },
  listen: { host: '127.0.0.1', port: 0 },
  // Opening ten thousand connections takes longer than a create is held by default.
  initializationTimeoutMs: 600_000,
  // By default some 2,000 may wait, and as many connections be open as half a gigabyte holds.
  load: {
    ...defaultConfig.load,
    maxMemoryBytes: 4 * 1024 ** 3,
    connections: { all: 20_000, perAddress: 20_000, perUser: 20_000 },
    http2: { ...defaultConfig.load.http2, streams: 2000 },
  },
})

const asked = {
  async memory() {
    for (let i = 0; i < 4; i++) {
      globalThis.gc()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return process.memoryUsage().rss
  },
}

process.on('message', async (what) => process.send({ answer: await asked[what]() }))
process.on('disconnect', () => process.exit())
process.send({ answer: server.adminKubeconfig })
