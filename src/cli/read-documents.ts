/** Objects in files, as `kubectl -f` takes them: YAML or JSON, many in one file. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { KubeObject } from '../kube/types.ts'

/** `-` is standard input; of a folder, the files in it. @throws Error that names the file */
export async function readDocuments(path: string): Promise<Partial<KubeObject>[]> {
  const { parseAllDocuments } = await import('yaml')
  const objects: Partial<KubeObject>[] = []
  for (const file of await filesIn(path)) {
    const body = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8')
    for (const document of parseAllDocuments(body)) {
      const [fault] = document.errors
      if (fault !== undefined) throw new Error(`${file}: ${fault.message}`, { cause: fault })
      const object = document.toJS() as Partial<KubeObject> | null
      if (object !== null) objects.push(object)
    }
  }
  return objects
}

async function filesIn(path: string): Promise<string[]> {
  if (path === '-' || !(await isFolder(path))) return [path]
  const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name))
  return names.sort().map((name) => join(path, name))
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new Error(`${path} can't be read: ${code === 'ENOENT' ? 'there is no such file or folder' : message}`, {
      cause,
    })
  }
}
