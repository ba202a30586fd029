/** Borough embedded in a program of yours: the control plane on a port of its own. */
import type { Config } from './app/config.ts'
import { serve as serveInside } from './app/serve.ts'

export { type Config, defaultConfig } from './app/config.ts'

/** Ends when it is disposed of: what is under way is finished. */
export interface Server extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Of `adminListen`. */
  readonly adminUrl?: string
  /** YAML, with a client certificate of a member of system:masters. */
  readonly adminKubeconfig: string
}

/** Resolves when it serves. */
export const serve: (config: Config) => Promise<Server> = (config) => serveInside(config)
