/**
 * Makes the JavaScript of dist/ from src/: one file per entry, and chunks/ for what several of them share or load
 * later; and once more the command line, as scripts (`bin/scripts.mjs` says why).
 * What package.json names under `dependencies` stays an import; every other package that src/ imports is bundled, and
 * its licence is written to dist/THIRD-PARTY-NOTICES.txt. Declarations are the compiler's business (tools/build.mjs).
 *
 *   node tools/bundle.mjs OUT
 *
 * See docs/adr/0021-dist-is-a-bundle.md.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { writePage } from './console-page.mjs'
import { noticesOf, packageOf } from './notices.mjs'

const out = process.argv[2]
const root = fileURLToPath(new URL('../', import.meta.url))
const src = join(root, 'src')
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** What package.json exports, and what a thread is started from. Each keeps its place below dist/. */
const entries = [
  'index',
  'client/index',
  'client/remote',
  'initializer/index',
  'testing/index',
  'storage/sqlite/writer',
  'cel/thread',
]

/** The command line, which `bin/borough.mjs` loads as scripts. */
const program = 'cli/program'

/**
 * `import.meta.url` goes on saying where a module would lie in dist/ if it were a file of its own: what it looks for
 * beside itself is there, in whichever chunk the module has landed. `here` is JavaScript that says where the chunk
 * lies.
 */
const keepPlaces = (here) => ({
  name: 'keep-places',
  transform: {
    filter: { code: 'import.meta.url' },
    handler: (code, id) => {
      const place = relative(src, id).replace(/\.ts$/, '.js')
      return { code: code.replaceAll('import.meta.url', `__placeInDist__(${JSON.stringify(place)})`), map: null }
    },
  },
  renderChunk: {
    filter: { code: '__placeInDist__' },
    handler: (code, { fileName }) => ({
      code: code.replaceAll(/__placeInDist__\("([^"]+)"\)/g, (_, place) => {
        const path = posix.relative(dirname(fileName), place)
        return `new URL(${JSON.stringify(path)}, ${here}).href`
      }),
      map: null,
    }),
  },
})

/** `node:fs`, `yaml`, `@scope/name/part`: what the installed package imports when it runs. */
function isExternal(id) {
  return id.startsWith('node:') || Object.keys(dependencies).some((name) => id === name || id.startsWith(`${name}/`))
}

/** `ws` would take compiled packages for its work, where some other package of the installation has brought them. */
const withoutAddons = { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' }

/** Folders of the packages of which something was bundled. */
const bundled = new Set()

async function bundle(names, here, output) {
  const made = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, join(src, `${name}.ts`)])),
    platform: 'node',
    external: isExternal,
    plugins: [keepPlaces(here)],
    transform: { define: withoutAddons },
  })
  const { output: chunks } = await made.write({
    dir: out,
    // Names and lines of stack traces and profiles stay readable: nothing is minified, `//#region` names the source.
    keepNames: true,
    comments: { jsdoc: false, annotation: false, legal: false },
    // V8 keeps the text of every script: in one byte per character if all are ASCII, else in two.
    charset: 'ascii',
    ...output,
  })
  await made.close()
  for (const { modules = {} } of chunks) {
    for (const [id, { renderedLength }] of Object.entries(modules)) {
      const folder = renderedLength > 0 ? packageOf(id) : undefined
      if (folder !== undefined) bundled.add(folder)
    }
  }
}

await bundle(entries, 'import.meta.url', {
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
})
await bundle([program], "require('node:url').pathToFileURL(__filename)", {
  format: 'cjs',
  // Scripts can't `import()`.
  dynamicImportInCjs: false,
  entryFileNames: '[name].cjs',
  chunkFileNames: 'cli/[name]-[hash].cjs',
})
await writePage(join(out, 'console', 'page'), (ids) => {
  for (const folder of ids.map(packageOf)) if (folder !== undefined) bundled.add(folder)
})
cpSync(join(src, 'catalog', 'generated'), join(out, 'catalog', 'generated'), { recursive: true })
writeFileSync(join(out, 'THIRD-PARTY-NOTICES.txt'), noticesOf(bundled))
