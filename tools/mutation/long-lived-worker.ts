/** A process of vitest's that outlives a run: vitest starts and stops it around each, and it goes on. */
import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PoolOptions, PoolWorker, WorkerRequest } from 'vitest/node'

const entry = fileURLToPath(new URL('worker.ts', import.meta.url))
/** A mutant that gathers for ever is to die before the machine does. */
const maxHeapMb = 1500

/** Of its main thread. @see Documentation/scheduler/sched-stats.rst of Linux: the second number */
function stalledMs(pid: number | undefined): number {
  if (pid === undefined) return 0
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
    return Number(waitedNs) / 1e6
  } catch {
    // No such process any more, or no such file.
    return 0
  }
}

export class LongLivedWorker implements PoolWorker {
  readonly name = 'mutation'
  readonly cacheFs = false
  #process: ChildProcess | undefined
  /** Of the run that goes on. */
  readonly #events = new EventEmitter()
  #env: PoolOptions['env'] = {}

  /** Vitest asks for a worker before each run. */
  for(options: PoolOptions): this {
    this.#env = options.env
    return this
  }

  async start(): Promise<void> {
    // A run whose process died is never stopped.
    this.#events.removeAllListeners()
    if (this.#process !== undefined) return
    const started = fork(entry, [], {
      env: { ...process.env, ...this.#env } as NodeJS.ProcessEnv,
      execArgv: [`--max-old-space-size=${maxHeapMb}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    })
    started.on('message', (message) => this.#events.emit('message', message))
    started.once('exit', (...how) => {
      if (this.#process === started) this.#process = undefined
      this.#events.emit('exit', ...how)
    })
    this.#process = started
  }

  /** Answers for how long it was ready to run since then, and had no processor; 0 where the system does not say. */
  countStalls(): () => number {
    const [pid, before] = [this.#process?.pid, stalledMs(this.#process?.pid)]
    return () => stalledMs(this.#process?.pid) - (this.#process?.pid === pid ? before : 0)
  }

  async stop(): Promise<void> {
    this.#events.removeAllListeners()
  }

  /** The next run begins in a new process. */
  async end(): Promise<void> {
    const ended = this.#process
    this.#process = undefined
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return
    const gone = new Promise((resolve) => ended.once('exit', resolve))
    ended.kill('SIGKILL')
    await gone
  }

  /** It is not told to stop, and a mutant may keep it from answering: the run is over either way. */
  send(message: WorkerRequest): void {
    if (message.type === 'stop') {
      this.#events.emit('message', { __vitest_worker_response__: true, type: 'stopped' })
    } else if (this.#process?.connected) this.#process.send(message)
  }

  on(event: string, listener: (...args: unknown[]) => void): void {
    this.#events.on(event, listener)
  }

  off(event: string, listener: (...args: unknown[]) => void): void {
    this.#events.off(event, listener)
  }

  deserialize(data: unknown): unknown {
    return data
  }
}
