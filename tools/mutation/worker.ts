/**
 * The process that runs tests for the mutation run, as one of vitest's own workers does, but for many runs: it keeps
 * the modules of src/ loaded, and only the test files are loaded again.
 */
import { init, runBaseTests, setupEnvironment } from 'vitest/worker'

type Listener = (message: unknown) => void

const send = process.send?.bind(process)
if (send === undefined) throw new Error('this is started by tools/mutation/long-lived-worker.ts')
const exit = process.exit.bind(process)
process.on('disconnect', () => exit(1))
/** Every run adds a listener for its own calls; those of runs that are over would be asked for ever. */
let requests: Listener | undefined
let calls: Listener | undefined
process.on('message', (message) => {
  requests?.(message)
  calls?.(message)
})

init({
  post: (message) => send(message),
  on: (listener) => {
    if (requests === undefined) requests = listener
    else calls = listener
  },
  off: () => {},
  runTests: (state, traces) => runBaseTests('run', state, traces),
  collectTests: (state, traces) => runBaseTests('collect', state, traces),
  setup: setupEnvironment,
})
