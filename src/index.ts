/** Borough embedded in a program of yours: the control plane on a port of its own. */
export { type Config, defaultConfig } from './app/config.ts'
export { type Server, serve } from './app/serve.ts'
