/**
 * What checksums, the digest and the mark of the last acknowledged revision cost a durable create: the sources as they
 * are beside a copy without them, in turns, each run in a process of its own.
 *
 *   node bench/seals.ts [pairs] [creates] [clients]     by default 20 pairs of 2000 creates by 32 clients
 *
 * Prints the ratio with / without of processor time for each create (all threads), and of the time it took, each with
 * the 95 % interval of the mean of the logarithms.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const sqlite = 'src/storage/sqlite'

/** Headers stay, so that the rows are of the same size. */
const edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[] = [
  {
    file: 'src/storage/sealed-value.ts',
    find: '  const place = crc32(`',
    replace: '  if (key !== undefined) return 0\n  const place = crc32(`',
  },
  {
    file: `${sqlite}/live-digest.ts`,
    find: '  const keySum = crc32(key)',
    replace: '  if (revision >= 0) return 0\n  const keySum = crc32(key)',
  },
  {
    file: `${sqlite}/file-format.ts`,
    find: "=> crc32(values.join(' '))",
    replace: '=> (values.length < 0 ? crc32(values.join()) : 0)',
  },
  { file: `${sqlite}/log-file.ts`, find: '      this.#mark.write(this.head)\n', replace: '' },
]

interface Run {
  readonly cpuMs: number
  readonly wallMs: number
}

/** Logarithms of ratios: their mean, and half of its 95 % interval (Student's t). */
export function ratioOf(pairs: readonly (readonly [number, number])[]): { readonly ratio: number; half: number } {
  const logs = pairs.map(([a, b]) => Math.log(a / b))
  const mean = logs.reduce((sum, x) => sum + x, 0) / logs.length
  const variance = logs.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (logs.length - 1)
  // t for 19 degrees of freedom; with more it is a little less.
  const half = 2.093 * Math.sqrt(variance / logs.length)
  return { ratio: Math.exp(mean), half: Math.exp(mean) * half }
}

function copyWithout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'borough-seals-'))
  for (const part of ['src', 'bench', 'package.json']) cpSync(join(root, part), join(copy, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  for (const { file, find, replace } of edits) {
    const text = readFileSync(join(copy, file), 'utf8')
    if (text.split(find).length !== 2) throw new Error(`${file} has not once what is to be replaced: ${find}`)
    writeFileSync(
      join(copy, file),
      text.replace(find, () => replace),
    )
  }
  return copy
}

function run(sources: string, args: readonly string[]): Run {
  const output = execFileSync(process.execPath, [join(sources, 'bench/create-process.ts'), ...args])
  return JSON.parse(output.toString()) as Run
}

function main(): void {
  const [pairs = '20', ...args] = process.argv.slice(2)
  const copy = copyWithout()
  const runs: (readonly [Run, Run])[] = []
  try {
    // What comes first in a pair alternates.
    for (let i = 0; i < Number(pairs); i++) {
      const first = run(i % 2 === 0 ? root : copy, args)
      const second = run(i % 2 === 0 ? copy : root, args)
      const [present, without] = i % 2 === 0 ? [first, second] : [second, first]
      runs.push([present, without])
      console.log(`${present.cpuMs.toFixed(3)} and ${without.cpuMs.toFixed(3)} ms a create (processor)`)
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  for (const [name, of] of [
    ['processor time', (each: Run) => each.cpuMs],
    ['time', (each: Run) => each.wallMs],
  ] as const) {
    const { ratio, half } = ratioOf(runs.map(([present, without]) => [of(present), of(without)]))
    console.log(`${name} for each create, with / without: ${ratio.toFixed(3)} ± ${half.toFixed(3)} (${pairs} pairs)`)
  }
}

if (import.meta.main) main()
