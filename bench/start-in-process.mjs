/** Prints how many ms the first `startControlPlane` of a process takes. Of `dist/`, as users have it. */
import { startControlPlane } from '../dist/testing/index.js'

const began = performance.now()
const plane = await startControlPlane()
process.stdout.write(String(performance.now() - began))
await plane[Symbol.asyncDispose]()
