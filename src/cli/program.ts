/** `borough`: parses the command line and loads the command that was asked for, and nothing else. */
import { basename } from 'node:path'
import { Command, CommanderError } from 'commander'
import { packageVersion } from '../base/package-version.ts'
import { kubernetesVersion } from '../kube/kubernetes-version.ts'
import { colourChoice, colourOption, hasColours, paintFor } from './colour.ts'
import { addCompletionCommand } from './completion/completion.ts'
import { addConsoleCommand } from './console.ts'
import { addDoctorCommand } from './doctor.ts'
import { refuseEmptyValues } from './empty-values.ts'
import { addFinalizeCommand } from './finalize.ts'
import { addKubeconfigCommand } from './kubeconfig.ts'
import { oneLine } from './one-line.ts'
import { addPopulateCommand } from './populate.ts'
import { addRotateKeyCommand } from './rotate-key.ts'
import { addBackupCommand, addRestoreCommand, addStorageCommand } from './storage.ts'
import { addTemplateCommand } from './template.ts'
import { addTokenCommand } from './token.ts'
import { addUpCommand } from './up.ts'
import { addWhyCommand } from './why.ts'
import { addWhyDeniedCommand } from './why-denied.ts'

const { major, minor, patch } = kubernetesVersion
const versionText = `borough ${packageVersion} (Kubernetes v${major}.${minor}.${patch})`

/** @param onReady called when a server that was asked for serves */
export async function run(onReady: () => void = () => undefined): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreDepartedReader)
  // A clock keeps no process alive (`base/clock.ts`), and a command may wait for nothing but one: to ask a busy server
  // again, or for policies to be read.
  const alive = setInterval(() => undefined, aliveMs)
  try {
    await runProgram(createProgram(onReady), process.argv.slice(2))
  } finally {
    clearInterval(alive)
  }
}

const aliveMs = 2 ** 30

/** Every command with its flags. */
export function createProgram(onReady: () => void): Command {
  const isPlugin = basename(process.argv[1] ?? '') === 'kubectl-borough'
  const program: Command = new Command(isPlugin ? 'kubectl borough' : 'borough')
    .description('A Kubernetes-compatible namespace control plane')
    .version(versionText, '--version', 'print the version')
    .addOption(colourOption())
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (title) => paintFor('always', process.stdout)('strong', title),
    })
    .configureOutput({
      // Help is printed in colour, and commander takes them off again where these say no.
      getOutHasColors: () => hasColours(colourChoice(program), process.stdout),
      getErrHasColors: () => hasColours(colourChoice(program), process.stderr),
    })
    .exitOverride()
  addUpCommand(program, onReady)
  addKubeconfigCommand(program)
  addTokenCommand(program)
  addRotateKeyCommand(program)
  addStorageCommand(program)
  addBackupCommand(program)
  addRestoreCommand(program)
  addDoctorCommand(program)
  addWhyCommand(program)
  addWhyDeniedCommand(program)
  addFinalizeCommand(program)
  addTemplateCommand(program)
  addPopulateCommand(program)
  addConsoleCommand(program)
  addCompletionCommand(program)
  refuseEmptyValues(program)
  nameHelp(program, program, program.name())
  return program
}

/** What is wrong in a command line is told with the command whose help says what is right. */
function nameHelp(program: Command, command: Command, name: string): void {
  command.configureOutput({
    outputError: (text) =>
      complain(program, `${inOneLine(text.replace(/^error: /, ''))} (${name} --help shows what there is)`),
  })
  for (const sub of command.commands) nameHelp(program, sub, `${name} ${sub.name()}`)
}

/** Sets the exit code. Never rejects. */
export async function runProgram(program: Command, args: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode
    } else {
      complain(program, oneLine(error))
      process.exitCode = 1
    }
  }
}

/** What was meant instead stands in a line of its own. */
const inOneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' ')

function complain(program: Command, text: string): void {
  process.stderr.write(`${paintFor(colourChoice(program), process.stderr)('bad', 'borough:')} ${text}\n`)
}

/**
 * `borough … | head`: the reader has what it wanted, and the rest is dropped. The command goes on to its end: a
 * restore, or a server, must not stop because its output is no longer read.
 */
function ignoreDepartedReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return
  // Such as a full disk: what was asked for is not there, but the work goes on here too.
  if (process.exitCode === undefined) process.stderr.write(`borough: the output can't be written: ${error.message}\n`)
  process.exitCode = 1
}
