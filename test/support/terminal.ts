/** A program at a terminal, typed to key by key: `script`, of util-linux, makes the terminal. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

/** Guard: a machine that is busy takes its time. */
const patienceMs = 60_000

export const hasTerminals: boolean = spawnSync('script', ['--version']).status === 0

/** What moves a cursor, colours and sets titles. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken away
const controls =
  /\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B\[[0-9;?<>=]*[ -/]*[@-~]|\u001B[()][A-Z0-9]|\u001B[=>]|[\r\u0007]/g

export class Terminal implements AsyncDisposable {
  readonly #script: ChildProcessWithoutNullStreams
  #screen = ''
  /** What was shown before is passed over. */
  #seen = 0
  #changed: () => void = () => {}

  private constructor(script: ChildProcessWithoutNullStreams) {
    this.#script = script
    script.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#screen += text
      this.#changed()
    })
  }

  static start(command: string, env: Readonly<Record<string, string | undefined>>): Terminal {
    const wide = `stty rows 60 cols 180; exec ${command}`
    return new Terminal(
      spawn('script', ['-qfc', wide, '/dev/null'], { env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' } }),
    )
  }

  type(keys: string): void {
    this.#seen = this.#screen.length
    this.#script.stdin.write(keys)
  }

  /** What was shown since the last keys, as soon as all of this is in it. */
  async shows(...wanted: readonly (string | RegExp)[]): Promise<string> {
    const signal = AbortSignal.timeout(patienceMs)
    for (;;) {
      const text = this.#screen.slice(this.#seen).replace(controls, '')
      const missing = wanted.filter((each) => (typeof each === 'string' ? !text.includes(each) : !each.test(text)))
      if (missing.length === 0) return text
      const changed = new Promise<void>((resolve, reject) => {
        this.#changed = resolve
        signal.addEventListener('abort', () => reject(new Error(`no ${missing.join(', ')} in ${JSON.stringify(text)}`)))
      })
      await changed
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#script.exitCode !== null || this.#script.signalCode !== null) return
    const ended = once(this.#script, 'exit')
    this.#script.kill('SIGKILL')
    await ended
  }
}
