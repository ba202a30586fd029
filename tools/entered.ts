/**
 * How many files and functions of src/ a request enters, by V8's own coverage: how long the way of a create is.
 * `--help` tells how to use it.
 *
 * The requests go through the in-process client to a control plane on a store in memory that has served some before.
 * Its controllers are off, since they work while a request is under way. Counted is all that runs from the call of the
 * client to its answer, in every one of several such requests: a timer that fires meanwhile is not part of a request.
 */
import { readFileSync } from 'node:fs'
import type { Profiler } from 'node:inspector'
import { Session } from 'node:inspector'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { type Namespace, namespaceResource } from '../src/apis/namespaces/types.ts'
import { kindsOf } from '../src/apis/templates/kinds.ts'
import { type NamespaceTemplate, templateFinalizer, templateResource } from '../src/apis/templates/types.ts'
import type { KubeObject } from '../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../src/testing/index.ts'
import { readRunnerFlags, refuseFlags } from '../test/support/runner-flags.ts'

const help = `Usage: node tools/entered.ts [options]

Counts the files and functions of src/ that a request enters, beside the most that it may.

Options:
  --list NAME  the functions that one of them enters, by file: configmap, populated
  --json       the counts, for test/toolchain/entered.test.ts
  --help

Examples:
  node tools/entered.ts
  node tools/entered.ts --list configmap
`

const root = fileURLToPath(new URL('..', import.meta.url))
const source = new URL('../src/', import.meta.url).href

interface Counts {
  readonly files: number
  readonly functions: number
}

/** The most that each request may enter, as measured on 2026-11-28. ADR 0041 names the goals, ADR 0100 what is left. */
const bounds = {
  /** A ConfigMap. */
  configmap: { files: 100, functions: 336 },
  /** A namespace that is stored with the five objects of a template. */
  populated: { files: 170, functions: 669 },
} as const satisfies Record<string, Counts>

type Name = keyof typeof bounds

const names = Object.keys(bounds) as Name[]

/** Enough that what runs beside a request by chance does not run beside all of them. */
const rounds = 8
const warmups = 20

class Coverage implements Disposable {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  }

  /** The functions of src/ that were called since this was asked last, as `file: name at offset`. */
  take(): Set<string> {
    let found: Profiler.ScriptCoverage[] = []
    this.#session.post('Profiler.takePreciseCoverage', (error, answer) => {
      if (error) throw error
      found = answer.result
    })
    const entered = new Set<string>()
    for (const { url, functions } of found) {
      if (!url.startsWith(source)) continue
      const file = relative(root, fileURLToPath(url))
      for (const { functionName, ranges } of functions) {
        const [range] = ranges
        if (range !== undefined && range.count > 0) entered.add(`${file}: ${functionName} at ${range.startOffset}`)
      }
    }
    return entered
  }

  [Symbol.dispose](): void {
    this.#session.disconnect()
  }
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

function requestsOf({ client }: TestControlPlane): Record<Name, (n: number) => Promise<unknown>> {
  return {
    configmap: (n) =>
      client.create(configMaps, {
        metadata: { namespace: 'default', name: `entered-${n}` },
        data: { a: '1' },
      } as KubeObject),
    populated: (n) =>
      client.create(namespaceResource, { metadata: { name: `entered-${n}`, labels: { bench: 'populated' } } }),
  }
}

/**
 * Admission populates namespaces only where the controller is on that would do the rest. So all are on while admission
 * is wired, which asks first, and off when they would start.
 */
function startWithoutControllers(): Promise<TestControlPlane> {
  let asked = false
  return startControlPlane({
    controllers() {
      const first = !asked
      asked = true
      return first
    },
  })
}

/** The figures are of something else if no object came along, or if a controller runs after all. */
async function checkPopulated({ client }: TestControlPlane): Promise<void> {
  const { items } = await client.list({ group: '', version: 'v1', resource: 'resourcequotas' })
  const { spec } = (await client.get(namespaceResource, { name: 'entered-0' })) as Namespace
  if (items.length !== warmups + rounds || spec?.initializers !== undefined)
    throw new Error('the namespaces were not populated when they were created')
}

/** One that namespaces can be created with, as the template controller would have left it. */
async function createTemplate({ client }: TestControlPlane): Promise<void> {
  const text = readFileSync(new URL('../bench/populated-template.yaml', import.meta.url), 'utf8')
  const { apiVersion: _, metadata, ...rest } = parse(text) as NamespaceTemplate
  const template = await client.create(templateResource, {
    ...rest,
    metadata: { ...metadata, finalizers: [templateFinalizer] },
  })
  const status = { kinds: kindsOf(template as NamespaceTemplate) }
  await client.update(templateResource, { ...template, status }, { subresource: 'status' })
}

/** What every one of several requests enters. */
async function entered(send: (n: number) => Promise<unknown>, coverage: Coverage): Promise<Set<string>> {
  for (let n = 0; n < warmups; n++) await send(n)
  let common: Set<string> | undefined
  for (let n = warmups; n < warmups + rounds; n++) {
    await quiet(coverage)
    await send(n)
    const now = coverage.take()
    const controller = [...now].find((place) => place.startsWith('src/controller/'))
    if (controller !== undefined) throw new Error(`a controller runs beside the request: ${controller}`)
    common = common === undefined ? now : new Set([...common].filter((place) => now.has(place)))
  }
  return common ?? new Set()
}

/** Resolves when nothing of src/ ran for a moment: what the request before has set off is over. */
async function quiet(coverage: Coverage): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, 20))
  while (coverage.take().size > 0)
}

const fileOf = (place: string): string => place.slice(0, place.indexOf(':'))

const countsOf = (places: Set<string>): Counts => ({
  files: new Set([...places].map(fileOf)).size,
  functions: places.size,
})

async function main(): Promise<void> {
  const { list, json } = readRunnerFlags(help, { list: { type: 'string' }, json: { type: 'boolean' } }, [])
  const listed = names.find((name) => name === list)
  if (list !== undefined && listed === undefined) refuseFlags(`--list takes ${names.join(' or ')}, not "${list}"`)
  using coverage = new Coverage()
  await using plane = await startWithoutControllers()
  await createTemplate(plane)
  const requests = requestsOf(plane)
  const all = new Map<Name, Set<string>>()
  for (const name of names) all.set(name, await entered(requests[name], coverage))
  await checkPopulated(plane)
  if (listed !== undefined) {
    for (const place of [...(all.get(listed) ?? [])].sort()) console.log(place.replace(/ at \d+$/, ''))
    return
  }
  const counts = Object.fromEntries([...all].map(([name, places]) => [name, countsOf(places)]))
  if (json) return console.log(JSON.stringify({ counts, bounds }))
  for (const name of names) {
    const { files = 0, functions = 0 } = counts[name] ?? {}
    console.log(
      `${name}: ${files} files (at most ${bounds[name].files}), ${functions} functions (at most ` +
        `${bounds[name].functions})`,
    )
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
