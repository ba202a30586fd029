/** `borough` from the source: `node src/cli/main.ts`. What is built is started by `bin/borough.mjs`. */
import { run } from './program.ts'

await run()
