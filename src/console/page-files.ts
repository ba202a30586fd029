/**
 * The files of the page, in memory: a megabyte at most. Built, they lie beside this module, in `page/`. Where this runs
 * from the source, they are bundled when the console starts.
 */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface PageFile {
  readonly bytes: Uint8Array
  readonly type: string
}

/** By path: `/index.html`, `/assets/main-4f1c.js`. */
export type PageFiles = ReadonlyMap<string, PageFile>

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

export async function loadPage(): Promise<PageFiles> {
  const contents = import.meta.url.endsWith('.ts') ? await bundled() : await built()
  const encoder = new TextEncoder()
  return new Map(
    Object.entries(contents).map(([path, content]) => {
      const type = types[extname(path)]
      if (type === undefined) throw new Error(`the page has a file of an unknown type: ${path}`)
      return [`/${path}`, { bytes: typeof content === 'string' ? encoder.encode(content) : content, type }]
    }),
  )
}

type Contents = Readonly<Record<string, string | Uint8Array>>

async function built(): Promise<Contents> {
  const folder = fileURLToPath(new URL('./page/', import.meta.url))
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((e) => e.isFile())
  const read = entries.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name)
    return [relative(folder, path).replaceAll(sep, '/'), await readFile(path)] as const
  })
  return Object.fromEntries(await Promise.all(read))
}

async function bundled(): Promise<Contents> {
  // Not a name that a bundler follows: what is built does not have this file.
  const tool = new URL('../../tools/console-page.mjs', import.meta.url).href
  const { bundlePage } = (await import(tool)) as { readonly bundlePage: () => Promise<Contents> }
  return bundlePage()
}
