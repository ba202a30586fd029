/**
 * Whether `borough up` takes these flags, from the source: what `npm start` asks before it builds. Says what is wrong
 * in the words of the command itself, in one line; help goes to standard output.
 */
import { createProgram, runProgram } from '../src/cli/program.ts'

const program = createProgram(() => undefined)
program.commands.find((command) => command.name() === 'up')?.action(() => undefined)
await runProgram(program, ['up', ...process.argv.slice(2)])
