/**
 * Objects in files, as `kubectl -f` takes them: YAML or JSON, many in one file, and read as kubectl reads them (`yes`
 * is a boolean, `010` is 8; JSON objects may stand in a row): what is planned is what will be applied.
 */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { mostListBytes, OversizedFileError, readBounded, readBoundedFile } from '../base/bounded-file.ts'
import { isJsonObject } from '../kube/json-value.ts'
import type { JsonValue, KubeObject } from '../kube/types.ts'
import { type DocumentText, objectsInARow } from './json-in-a-row.ts'
import { unreadable } from './paths.ts'

/**
 * `-` is standard input; of a folder, the files in it; of a List, its items.
 * @throws Error that names the file, or where it was named
 */
export async function readDocuments(path: string, place: string): Promise<Partial<KubeObject>[]> {
  const { parseYaml } = await import('../kube/yaml-body.ts')
  const objects: Partial<KubeObject>[] = []
  for (const file of await filesIn(path, place)) {
    for (const { text, linesBefore } of documentsOf(await bodyOf(file))) {
      const within = `${file}: the document that begins at line ${linesBefore + 1}`
      let parsed: ReturnType<typeof parseYaml>
      try {
        parsed = parseYaml(text)
      } catch (cause) {
        throw new Error(`${file}: ${atItsLine((cause as Error).message, linesBefore)}`, { cause })
      }
      const [twice] = parsed.duplicates
      if (twice !== undefined) throw new Error(`${within} has ${twice} twice`)
      if (parsed.value === null) continue
      for (const object of itemsOf(parsed.value)) {
        if (!isJsonObject(object)) throw new Error(`${within} holds what is no object`)
        objects.push(object as Partial<KubeObject>)
      }
    }
  }
  return objects
}

/**
 * Cut where kubectl cuts: at lines of `---` with nothing but a comment behind it. The reader, which is the server's,
 * reads one document.
 * @see k8s.io/apimachinery/pkg/util/yaml, YAMLReader
 */
function* documentsOf(body: string): Generator<DocumentText> {
  let from = 0
  let linesBefore = 0
  let lines = 0
  for (let at = 0; at < body.length; lines++) {
    const end = body.indexOf('\n', at) + 1 || body.length
    if (body.startsWith('---', at) && /^---\s*(#.*)?$/.test(body.slice(at, end).trimEnd())) {
      yield* objectsInARow({ text: body.slice(from, at), linesBefore })
      from = end
      linesBefore = lines + 1
    }
    at = end
  }
  yield* objectsInARow({ text: body.slice(from), linesBefore })
}

/** What is wrong with one document names its lines. */
const atItsLine = (message: string, linesBefore: number): string =>
  message.replace(/^yaml: line (\d+)/, (_, line: string) => `yaml: line ${Number(line) + linesBefore}`)

const itemsOf = (value: JsonValue): readonly JsonValue[] =>
  isJsonObject(value) && String(value['kind']).endsWith('List') && Array.isArray(value['items'])
    ? value['items']
    : [value]

async function bodyOf(file: string): Promise<string> {
  try {
    const read = file === '-' ? readBounded(process.stdin, mostListBytes) : readBoundedFile(file, mostListBytes)
    return (await read).toString()
  } catch (cause) {
    if (!(cause instanceof OversizedFileError)) throw cause
    throw new Error(`${file === '-' ? 'standard input' : file}: ${cause.message}`, { cause })
  }
}

async function filesIn(path: string, place: string): Promise<string[]> {
  if (path === '-') return [path]
  if (!(await isFolder(path))) {
    // Tells too why nothing could be found.
    const problem = unreadable(path)
    if (problem !== undefined) throw new Error(`${place}: ${problem}`)
    return [path]
  }
  const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name))
  return names.sort().map((name) => join(path, name))
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}
