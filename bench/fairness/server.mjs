/**
 * A server on SQLite whose parent may ask what held its loop since it last asked (`held-turns.mjs`). Of `dist/`, as
 * users have it. `node server.mjs DATA_DIR`, with an IPC channel.
 */
import { defaultConfig, serve } from '../../dist/index.js'
import { HeldTurns } from './held-turns.mjs'

const server = await serve({
  ...defaultConfig,
  dataDir: process.argv[2],
  storage: { engine: 'sqlite' },
  listen: { host: '127.0.0.1', port: 0 },
})

const turns = new HeldTurns()
process.on('message', async () => process.send({ answer: await turns.take() }))
process.on('disconnect', () => process.exit())
process.send({ answer: server.adminKubeconfig })
