/**
 * Makes the page of `borough console` from `src/console/page/`: scripts (one for the first view, chunks for what is
 * loaded later), one style sheet, the font, and the document that names them. Every name holds a digest of the file.
 *
 *   node tools/console-page.mjs OUT
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('../', import.meta.url))
const source = join(root, 'src', 'console', 'page')
const fontPackage = join(root, 'node_modules', '@fontsource-variable', 'inter')
const font = join(fontPackage, 'files', 'inter-latin-wght-normal.woff2')

/** Code of the project that runs on the server too names a few things of Node's; the page brings its own. */
const ofNode = {
  name: 'of-node',
  resolveId: {
    filter: { id: /^node:(crypto|net)$|\/load-later\.ts$/ },
    handler: (/** @type {string} */ id) =>
      id.startsWith('node:')
        ? join(source, 'node', `${id.slice('node:'.length)}.ts`)
        : join(root, 'tools', 'page-load-later.mjs'),
  },
}

/**
 * @param {(moduleIds: string[]) => void} onModules told of every file that was taken
 * @returns {Promise<Record<string, string | Uint8Array>>} by path
 */
export async function bundlePage(onModules = () => {}) {
  const made = await rolldown({
    input: { main: join(source, 'main.tsx') },
    platform: 'browser',
    tsconfig: join(source, 'tsconfig.json'),
    transform: {
      inject: {
        Buffer: [join(source, 'node', 'buffer.ts'), 'Buffer'],
        setImmediate: [join(source, 'node', 'set-immediate.ts'), 'setImmediate'],
        process: [join(source, 'node', 'process.ts'), 'process'],
      },
    },
    plugins: [ofNode],
  })
  const { output } = await made.generate({
    format: 'esm',
    minify: true,
    charset: 'ascii',
    comments: { jsdoc: false, annotation: false, legal: false },
    entryFileNames: 'assets/[name]-[hash].js',
    chunkFileNames: 'assets/[name]-[hash].js',
  })
  await made.close()
  const scripts = output.filter(({ type }) => type === 'chunk')
  onModules([font, ...scripts.flatMap(({ modules }) => Object.keys(modules))])
  const files = Object.fromEntries(scripts.map(({ fileName, code }) => [fileName, code]))
  const entry = scripts.find(({ isEntry }) => isEntry)
  if (entry === undefined) throw new Error('the page has no entry')
  const fontBytes = readFileSync(font)
  const fontPath = `assets/inter-${digestOf(fontBytes)}.woff2`
  const style = readStyle().replaceAll('FONT_URL', `/${fontPath}`)
  const stylePath = `assets/page-${digestOf(style)}.css`
  const icon = readFileSync(join(source, 'icon.svg'), 'utf8')
  const iconPath = `assets/icon-${digestOf(icon)}.svg`
  const html = readFileSync(join(source, 'index.html'), 'utf8')
    .replaceAll('STYLE_URL', `/${stylePath}`)
    .replaceAll('SCRIPT_URL', `/${entry.fileName}`)
    .replaceAll('PRELOADS', entry.imports.map((path) => `<link rel="modulepreload" href="/${path}">`).join(''))
    .replaceAll('FONT_URL', `/${fontPath}`)
    .replaceAll('ICON_URL', `/${iconPath}`)
  return { ...files, [iconPath]: icon, [fontPath]: new Uint8Array(fontBytes), [stylePath]: style, 'index.html': html }
}

/** In the order of their names: what comes later stands above what came before. */
function readStyle() {
  const folder = join(source, 'style')
  const sheets = readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  return sheets.join('\n').replaceAll(/\/\*[\s\S]*?\*\//g, '')
}

const digestOf = (content) => createHash('sha256').update(content).digest('base64url').slice(0, 8)

/** @param {string} out @param {(moduleIds: string[]) => void} [onModules] */
export async function writePage(out, onModules) {
  for (const [path, content] of Object.entries(await bundlePage(onModules))) {
    mkdirSync(dirname(join(out, path)), { recursive: true })
    writeFileSync(join(out, path), content)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writePage(process.argv[2])
