/**
 * The process that makes the load: one for all servers, so that each of them shares the machine with it in the same
 * way.
 */
import { type Call, type Connection, connect } from './connection.ts'
import { type RepeatTask, type Task, type TaskResult, timesOf, type WatchTask } from './tasks.ts'

const fill = (text: string, n: number): string => text.replace('{n}', String(n))

async function opened(task: RepeatTask | WatchTask, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => connect(task.endpoint, task.protocol)))
}

async function repeat(task: RepeatTask): Promise<Omit<TaskResult, 'cpuMs'>> {
  const { calls = Number.POSITIVE_INFINITY, durationMs = Number.POSITIVE_INFINITY, from = 0 } = task
  const { method, path, body } = task.call
  const numbered = path.includes('{n}') || body?.includes('{n}') === true
  const latencies: number[] = []
  let next = from
  const connections = await opened(task, task.clients)
  const started = performance.now()
  const until = started + durationMs
  await Promise.all(
    connections.map(async (connection) => {
      while (next < from + calls && performance.now() < until) {
        const n = next++
        const call: Call = !numbered
          ? task.call
          : { ...task.call, path: fill(path, n), ...(body === undefined ? {} : { body: fill(body, n) }) }
        const sent = performance.now()
        const reply = await connection.send(call)
        latencies.push(performance.now() - sent)
        if (reply.status > 299) {
          const text = Buffer.concat(reply.chunks).toString()
          throw new Error(`${method} ${call.path}: ${reply.status} ${text}`)
        }
      }
    }),
  )
  const elapsedMs = performance.now() - started
  for (const connection of connections) connection.close()
  return { count: latencies.length, elapsedMs, ...timesOf(latencies, latencies.length, elapsedMs) }
}

const lineEnd = '}\n'
const sentAt = /"t":"([\d.]+)"/g

async function watch(task: WatchTask): Promise<Omit<TaskResult, 'cpuMs'>> {
  const watchers = await opened(task, task.watchers)
  const writers = await opened(task, task.writers)
  const wanted = task.watchers * task.creates
  let count = 0
  let done: () => void = () => {}
  const complete = new Promise<void>((resolve) => {
    done = resolve
  })
  const latencies: number[] = []
  await Promise.all(
    watchers.map((watcher, i) => {
      let endsWithBrace = false
      return watcher.follow({ method: 'GET', path: task.watchPath }, (data) => {
        if (endsWithBrace && data[0] === 0x0a) count++
        for (let at = data.indexOf(lineEnd); at >= 0; at = data.indexOf(lineEnd, at + 2)) count++
        endsWithBrace = data[data.length - 1] === 0x7d
        // One in ten is looked into; looking into all would measure the looking.
        if (i % 10 === 0) {
          const now = performance.now()
          for (const match of data.toString('latin1').matchAll(sentAt)) latencies.push(now - Number(match[1]))
        }
        if (count >= wanted) done()
      })
    }),
  )
  const started = performance.now()
  let next = 0
  await Promise.all(
    writers.map(async (writer) => {
      while (next < task.creates) {
        const body = fill(task.create.body ?? '', next++).replace('{t}', performance.now().toFixed(2))
        const { status } = await writer.send({ ...task.create, body })
        if (status !== 201) throw new Error(`${task.create.path}: ${status}`)
      }
    }),
  )
  await complete
  const elapsedMs = performance.now() - started
  for (const connection of [...watchers, ...writers]) connection.close()
  return { count, elapsedMs, ...timesOf(latencies, count, elapsedMs) }
}

process.on('message', (task: Task) => {
  const before = process.cpuUsage()
  const running = task.kind === 'repeat' ? repeat(task) : watch(task)
  running.then(
    (result) => {
      const { user, system } = process.cpuUsage(before)
      process.send?.({ result: { ...result, cpuMs: (user + system) / 1000 } })
    },
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  )
})
