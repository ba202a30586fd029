/**
 * For authors of namespace initializers.
 *
 * @example
 * await runInitializer({
 *   name: 'log-index.example.com',
 *   client,
 *   signal,
 *   initialize: async (namespace, _client, { signal }) => createIndex(namespace.metadata.name, signal),
 * })
 */
export type { Namespace } from '../apis/namespaces/types.ts'
export type { Log } from '../base/log.ts'
export { type FailureOptions, InitializationFailed } from './initialization-failed.ts'
export { type InitializeContext, type InitializerOptions, runInitializer } from './run-initializer.ts'
