/** What a server says of itself: which of its checks fail, and what is wrong although it serves. */
import type { Remote } from '../client/remote.ts'
import { type Finding, fail, ok, problemOf, warn } from './finding.ts'

const patienceMs = 30_000

/** Asks `/readyz?verbose`, of any API server: those that warn of nothing are asked for what fails. */
export async function examineReadiness({
  server,
  transport,
}: Pick<Remote, 'server' | 'transport'>): Promise<Finding[]> {
  const check = `readiness of ${server}`
  try {
    const { status, body } = await transport.send({
      ...{ method: 'GET', path: '/readyz', query: new URLSearchParams({ verbose: '' }) },
      headers: { accept: 'text/plain', 'user-agent': 'borough/doctor' },
      signal: AbortSignal.timeout(patienceMs),
    })
    if (status !== 200 && status !== 500) {
      return [warn(check, `it answers ${status} to /readyz?verbose`, 'ask as a user who may get that path')]
    }
    const text = body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : ''
    const found = readinessOf(text).map((each) => findingOf(check, each))
    return found.length > 0 ? found : [ok(check, 'it is ready, and warns of nothing')]
  } catch (error) {
    return [fail(check, `it does not say: ${problemOf(error)}`, 'see the log of the server')]
  }
}

interface Told {
  readonly name: string
  readonly hasFailed: boolean
  readonly count: number
  /** By name to known users alone, and not all of many. */
  readonly warnings: string[]
}

/** Of the lines of the answer: what is not in order. */
function readinessOf(text: string): readonly Told[] {
  const told: Told[] = []
  let last: Told | undefined
  for (const line of text.split('\n')) {
    const [, sign, name = '', rest = ''] = /^\[([+-])\](\S+) (.*)$/.exec(line) ?? []
    const warning = line.startsWith('warn: ') ? line.slice('warn: '.length) : undefined
    if (warning !== undefined) last?.warnings.push(warning)
    if (sign === undefined) continue
    const count = Number(/^ok, with (\d+) warnings$/.exec(rest)?.[1] ?? 0)
    last = sign === '-' || count > 0 ? { name, hasFailed: sign === '-', count, warnings: [] } : undefined
    if (last !== undefined) told.push(last)
  }
  return told
}

/** What clients are refused because of values; all else is served, or will be. */
const ofValues = new Set(['storage', 'storage-scrub'])

function findingOf(check: string, { name, hasFailed, count, warnings: [first] }: Told): Finding {
  const here = `${check}: ${name}`
  if (hasFailed) return fail(here, 'it fails: no request should be sent there', 'the log of the server has the reason')
  const further = count > 1 ? ` (and ${count - 1} more)` : ''
  const message = first === undefined ? `${count} warnings, told to known users alone` : `${first}${further}`
  return ofValues.has(name) ? fail(here, message, remedies.storage) : warn(here, message, remedyOf(name))
}

const remedies = {
  storage:
    "'borough storage verify' names what is damaged, and with --encryption-provider-config what no key opens; " +
    "'borough storage repair' lists what can be done",
  'storage-room': "'A full disk' and 'A full etcd' in docs/operations.md say what is taken meanwhile, and what helps",
  backups: 'see the log of the server; the next one is tried by itself, and a backup by hand counts as well',
} as const

const remedyOf = (name: string): string =>
  name === 'storage-room' || name === 'backups' ? remedies[name] : 'see the log of the server'
