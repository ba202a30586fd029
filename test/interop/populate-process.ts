/** `borough populate` as a process of its own, from the source, against the cluster of a kubeconfig. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const startTimeoutMs = 100_000

export class PopulateProcess implements AsyncDisposable {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  /** Resolves when its webhooks answer and the cluster was told of them. */
  static async start(kubeconfigPath: string, flags: readonly string[] = []): Promise<PopulateProcess> {
    const args = ['populate', '--kubeconfig', kubeconfigPath, '--listen', '127.0.0.1:0', '-o', 'json', ...flags]
    const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let log = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-8000)
    })
    const ready = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`borough populate said nothing:\n${log}`)), startTimeoutMs)
      child.once('error', reject)
      child.once('close', (code) => reject(new Error(`borough populate ended with ${code}:\n${log}`)))
      let text = ''
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        if (!text.includes('\n')) return
        clearTimeout(timer)
        resolve(text)
      })
    })
    return new PopulateProcess(child, (JSON.parse(ready) as { url: string }).url)
  }

  async end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    const child = this.#child
    return new Promise((resolve) => {
      child.once('close', (code, by) => resolve({ code, signal: by }))
      child.kill(signal)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.end('SIGKILL')
  }
}
