/**
 * Gives every new namespace an index in the log system before anybody may use it.
 *
 *   KUBECONFIG=… LOG_SERVICE=http://127.0.0.1:9200 node with-library.ts
 */
import { openRemote } from '@borough/borough/client/remote'
import { InitializationFailed, runInitializer } from '@borough/borough/initializer'
import { provisionIndex, Refused } from './provision.ts'

const service = process.env['LOG_SERVICE'] ?? 'http://127.0.0.1:9200'
const { client } = openRemote({ userAgent: 'log-index-initializer' })
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())

await runInitializer({
  name: 'log-index.example.com',
  client,
  signal: stop.signal,
  async initialize({ metadata }, _client, { signal, progress }) {
    try {
      await provisionIndex(service, metadata.name ?? '', signal, (step) => void progress(step))
    } catch (error) {
      if (error instanceof Refused) throw new InitializationFailed(error.message, { reason: 'Forbidden', cause: error })
      throw error
    }
  },
})
