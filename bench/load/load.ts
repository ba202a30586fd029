/** The load process, seen from the bench. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Task, TaskResult } from './tasks.ts'

export interface Load extends Disposable {
  /** Of the process that makes it. */
  readonly pid: number
  /** One task at a time. @throws Error for the first call that was refused */
  run(task: Task): Promise<TaskResult>
}

export function startLoad(): Load {
  const child: ChildProcess = fork(fileURLToPath(new URL('load-process.ts', import.meta.url)))
  return {
    pid: child.pid ?? 0,
    async run(task) {
      const settled = new AbortController()
      const { signal } = settled
      child.send(task)
      try {
        const [answer] = (await Promise.race([
          once(child, 'message', { signal }),
          once(child, 'exit', { signal }).then(([code]) =>
            Promise.reject(new Error(`the load process ended: ${code}`)),
          ),
        ])) as [{ readonly result: TaskResult } | { readonly error: string }]
        if ('error' in answer) throw new Error(answer.error)
        return answer.result
      } finally {
        settled.abort()
      }
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}
