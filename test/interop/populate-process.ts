/** `borough populate` as a process of its own, from the source, against the cluster of a kubeconfig. */
import type { ChildProcess } from 'node:child_process'
import { type Exit, endProcess, isRunning, startServing } from './serving-process.ts'

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
    const { child, ready } = await startServing<{ url: string }>(args)
    return new PopulateProcess(child, ready.url)
  }

  end(signal: NodeJS.Signals): Promise<Exit> {
    return endProcess(this.#child, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (isRunning(this.#child)) await this.end('SIGKILL')
  }
}
