/** Objects in files, as `kubectl -f` takes them: YAML or JSON, many in one file. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { mostListBytes, OversizedFileError, readBounded, readBoundedFile } from '../base/bounded-file.ts'
import type { KubeObject } from '../kube/types.ts'
import { unreadable } from './paths.ts'

/** `-` is standard input; of a folder, the files in it. @throws Error that names the file, or where it was named */
export async function readDocuments(path: string, place: string): Promise<Partial<KubeObject>[]> {
  const { parseAllDocuments } = await import('yaml')
  const objects: Partial<KubeObject>[] = []
  for (const file of await filesIn(path, place)) {
    const body = await bodyOf(file)
    for (const document of parseAllDocuments(body)) {
      const [fault] = document.errors
      if (fault !== undefined) throw new Error(`${file}: ${fault.message}`, { cause: fault })
      const object = document.toJS() as Partial<KubeObject> | null
      if (object !== null) objects.push(object)
    }
  }
  return objects
}

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
