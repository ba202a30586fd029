/**
 * Loads the scripts of the command line (CommonJS, see `tools/bundle.mjs`), and keeps what V8 compiled of them, so that
 * the next start compiles nothing. Node's own compile cache keeps what is compiled when a module is read; most
 * functions are compiled when they are first called, which took a fifth of a start.
 *
 * A kept file is two checksums, of the script and of the rest, and what V8 made. V8 itself refuses what another V8, or
 * one with other flags, has made. Whatever does not fit is compiled anew.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'
import { crc32 } from 'node:zlib'

/** @param keptFolder may be missing, or not writable: then nothing is kept */
export function scripts(keptFolder) {
  const folder = join(keptFolder, `${process.version}-${process.arch}-${cachedDataVersionTag().toString(16)}`)
  const keptPath = (file) => join(folder, basename(file))
  const loaded = new Map()
  const compiled = new Map()

  function load(file) {
    const known = loaded.get(file)
    if (known) return known.exports
    const bytes = readFileSync(file)
    const checksum = crc32(bytes)
    const cachedData = readKept(keptPath(file), checksum)
    // All ASCII: one byte per character, here and in V8.
    const script = new Script(`(function (exports, require, __filename) {${bytes.toString('latin1')}\n})`, {
      filename: file,
      ...(cachedData && { cachedData }),
    })
    if (script.cachedDataRejected !== false) compiled.set(file, { script, checksum })
    const module = { exports: {} }
    loaded.set(file, module)
    const ofPackages = createRequire(file)
    const require = (id) => (id.startsWith('.') ? load(join(dirname(file), id)) : ofPackages(id))
    script.runInThisContext()(module.exports, require, file)
    return module.exports
  }

  /**
   * With all functions that have been called so far. To be called before V8's flags are changed: they are part of its
   * mark.
   */
  function keepCompiled() {
    if (compiled.size === 0) return
    try {
      mkdirSync(folder, { recursive: true })
      for (const [file, { script, checksum }] of compiled)
        writeKept(keptPath(file), checksum, script.createCachedData())
    } catch {
      // A package that is read-only, or a full disk: the next start compiles again.
    }
    compiled.clear()
  }

  return { load, keepCompiled }
}

const headBytes = 8

function readKept(path, checksum) {
  let kept
  try {
    kept = readFileSync(path)
  } catch {
    return undefined
  }
  if (kept.length <= headBytes || kept.readUInt32LE(0) !== checksum) return undefined
  const data = kept.subarray(headBytes)
  return kept.readUInt32LE(4) === crc32(data) ? data : undefined
}

/** Whole or not at all, for whoever starts at this moment. */
function writeKept(path, checksum, data) {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32LE(checksum, 0)
  head.writeUInt32LE(crc32(data), 4)
  const fresh = `${path}.${process.pid}`
  writeFileSync(fresh, Buffer.concat([head, data]))
  renameSync(fresh, path)
}
