/**
 * Makes the JavaScript of dist/ from src/: one file per entry, and chunks/ for what several of them share or load later.
 * Packages stay what they are, imports of node_modules. Declarations are the compiler's business (tools/build.mjs).
 *
 *   node tools/bundle.mjs OUT
 *
 * See docs/adr/0021-dist-is-a-bundle.md.
 */
import { cpSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const out = process.argv[2]
const src = fileURLToPath(new URL('../src/', import.meta.url))

/** What package.json exports, the command line, and what a thread is started from. Each keeps its place below dist/. */
const entries = [
  'index',
  'client/index',
  'client/remote',
  'initializer/index',
  'testing/index',
  'cli/main',
  'storage/sqlite/writer',
]

/**
 * `import.meta.url` goes on saying where a module would lie in dist/ if it were a file of its own: what it looks for beside
 * itself is there, in whichever chunk the module has landed.
 */
const keepPlaces = {
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
        return `new URL(${JSON.stringify(path)}, import.meta.url).href`
      }),
      map: null,
    }),
  },
}

const bundle = await rolldown({
  input: Object.fromEntries(entries.map((entry) => [entry, join(src, `${entry}.ts`)])),
  platform: 'node',
  external: /^[^./]/,
  plugins: [keepPlaces],
})
await bundle.write({
  dir: out,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  // Names and lines of stack traces and profiles stay readable: nothing is minified, `//#region` names the source.
  keepNames: true,
  comments: { jsdoc: false, annotation: false },
  // V8 keeps the text of every script: in one byte per character if all are ASCII, else in two.
  charset: 'ascii',
})
await bundle.close()
cpSync(join(src, 'catalog', 'generated'), join(out, 'catalog', 'generated'), { recursive: true })
