/**
 * Stands in for `node:sqlite`: SQLite itself, built for WebAssembly, over the simulated disk. Between it and the disk
 * stands a VFS as SQLite defines it: files, locks, and the shared memory that the index of the write-ahead log needs.
 *
 * @see https://www.sqlite.org/c3ref/vfs.html
 */
import open from '@sqlite.org/sqlite-wasm'
import { simulated } from '../runtime/simulated-process.ts'
import { type Disk, DiskError } from './disk.ts'

const sqlite3 = await open()
const { capi, wasm } = sqlite3

type Result = ReturnType<typeof capi.sqlite3_close_v2>

const vfsName = 'simulated'
/** SQLite's own default on Unix: a write that is cut short damages nothing beside it. */
const powersafeOverwrite = 0x1000
const shmLocks = 8
const lockNone = 0
const lockShared = 1
const lockReserved = 2
const lockExclusive = 4
const shmUnlock = 1
const shmExclusive = 8

/** What connections to one file share. */
interface Shared {
  /** Connections that are open; the memory is given back with the last one. */
  opened: number
  readonly locks: Map<number, number>
  readonly regions: number[]
  /** Per lock of the index: the connections that hold it, and whether alone. */
  readonly shm: { holders: Set<number>; exclusive: boolean }[]
}

interface OpenFile {
  readonly path: string
  readonly generation: number
  readonly shared: Shared
}

const files = new Map<number, OpenFile>()
/** Each disk has its own; what was opened before the power failed shares nothing with what is opened later. */
const sharedByDisk = new WeakMap<Disk, Map<string, Shared>>()

function sharedOf(path: string): Shared {
  const { disk } = simulated
  const sharedByPath = sharedByDisk.get(disk) ?? new Map<string, Shared>()
  sharedByDisk.set(disk, sharedByPath)
  const key = `${disk.generation}:${path}`
  const found = sharedByPath.get(key)
  if (found !== undefined) return found
  const shm = Array.from({ length: shmLocks }, () => ({ holders: new Set<number>(), exclusive: false }))
  const made: Shared = { opened: 0, locks: new Map(), regions: [], shm }
  sharedByPath.set(key, made)
  return made
}

/** The file, unless the power has failed since: then nothing has an effect, and all is answered as done. */
function alive(pointer: number): { readonly file: NonNullable<ReturnType<typeof simulated.disk.find>> } | undefined {
  const { path, generation } = files.get(pointer) as OpenFile
  const file = generation === simulated.disk.generation ? simulated.disk.find(path) : undefined
  return file && { file }
}

function answering(failure: Result, work: () => void): Result {
  try {
    work()
    return capi.SQLITE_OK
  } catch (error) {
    if (!(error instanceof DiskError)) throw error
    return error.code === 'ENOSPC' ? capi.SQLITE_FULL : failure
  }
}

const ioMethods = new capi.sqlite3_io_methods()
// The types do not tell of it.
Object.assign(ioMethods, { $iVersion: 2 })
const vfs = new capi.sqlite3_vfs()
vfs.$iVersion = 2
// One pointer: to its methods.
vfs.$szOsFile = 4
vfs.$mxPathname = 512

const io = {
  xClose(pointer: number) {
    const { shared } = files.get(pointer) as OpenFile
    shared.locks.delete(pointer)
    for (const lock of shared.shm) if (lock.holders.delete(pointer)) lock.exclusive = false
    if (--shared.opened === 0) for (const region of shared.regions.splice(0)) wasm.dealloc(region)
    files.delete(pointer)
    return capi.SQLITE_OK
  },
  xRead(pointer: number, target: number, length: number, at: number | bigint) {
    const found = alive(pointer)
    if (found === undefined) return capi.SQLITE_IOERR_READ
    const bytes = found.file.read(Number(at), length)
    const heap = wasm.heap8u()
    heap.set(bytes, target)
    if (bytes.length === length) return capi.SQLITE_OK
    heap.fill(0, target + bytes.length, target + length)
    return capi.SQLITE_IOERR_SHORT_READ
  },
  xWrite(pointer: number, source: number, length: number, at: number | bigint) {
    return answering(capi.SQLITE_IOERR_WRITE, () => {
      const found = alive(pointer)
      if (found) simulated.disk.write(found.file, Number(at), wasm.heap8u().slice(source, source + length))
    })
  },
  xTruncate(pointer: number, length: number | bigint) {
    const found = alive(pointer)
    if (found) simulated.disk.resize(found.file, Number(length))
    return capi.SQLITE_OK
  },
  xSync(pointer: number) {
    return answering(capi.SQLITE_IOERR_FSYNC, () => {
      const found = alive(pointer)
      if (found) simulated.disk.flush(found.file)
    })
  },
  xFileSize(pointer: number, target: number) {
    wasm.poke64(target, BigInt(alive(pointer)?.file.length ?? 0))
    return capi.SQLITE_OK
  },
  xLock(pointer: number, level: number) {
    const { locks } = (files.get(pointer) as OpenFile).shared
    const others = [...locks].filter(([each]) => each !== pointer).map(([, held]) => held)
    const highest = Math.max(lockNone, ...others)
    const busy =
      level === lockShared
        ? highest >= lockExclusive - 1
        : level === lockReserved
          ? highest >= lockReserved
          : highest >= lockShared
    if (busy) return capi.SQLITE_BUSY
    locks.set(pointer, level)
    return capi.SQLITE_OK
  },
  xUnlock(pointer: number, level: number) {
    ;(files.get(pointer) as OpenFile).shared.locks.set(pointer, level)
    return capi.SQLITE_OK
  },
  xCheckReservedLock(pointer: number, target: number) {
    const { locks } = (files.get(pointer) as OpenFile).shared
    wasm.poke32(target, [...locks.values()].some((held) => held >= lockReserved) ? 1 : 0)
    return capi.SQLITE_OK
  },
  xFileControl: () => capi.SQLITE_NOTFOUND,
  // The types call it a result code.
  xSectorSize: () => 4096 as Result,
  xDeviceCharacteristics: () => powersafeOverwrite as Result,
  xShmMap(pointer: number, region: number, length: number, extend: number, target: number) {
    const { regions } = (files.get(pointer) as OpenFile).shared
    if (regions[region] === undefined && extend !== 0) {
      const memory = wasm.alloc(length)
      wasm.heap8u().fill(0, memory, memory + length)
      regions[region] = memory
    }
    wasm.pokePtr(target, regions[region] ?? 0)
    return capi.SQLITE_OK
  },
  xShmLock(pointer: number, offset: number, count: number, flags: number) {
    const slots = (files.get(pointer) as OpenFile).shared.shm.slice(offset, offset + count)
    if ((flags & shmUnlock) !== 0) {
      for (const slot of slots) {
        slot.holders.delete(pointer)
        slot.exclusive = false
      }
      return capi.SQLITE_OK
    }
    const alone = (flags & shmExclusive) !== 0
    const isBusy = slots.some(
      ({ holders, exclusive }) => exclusive || (alone && [...holders].some((holder) => holder !== pointer)),
    )
    if (isBusy) return capi.SQLITE_BUSY
    for (const slot of slots) {
      slot.holders.add(pointer)
      slot.exclusive = alone
    }
    return capi.SQLITE_OK
  },
  xShmBarrier: () => undefined,
  xShmUnmap(pointer: number) {
    const { shared } = files.get(pointer) as OpenFile
    for (const lock of shared.shm) if (lock.holders.delete(pointer)) lock.exclusive = false
    return capi.SQLITE_OK
  },
}

const system = {
  xOpen(_vfs: number, name: number, pointer: number, flags: number, outFlags: number) {
    const path = wasm.cstrToJs(name) ?? ''
    const file = new capi.sqlite3_file(pointer)
    file.$pMethods = 0
    if ((flags & capi.SQLITE_OPEN_CREATE) === 0 && simulated.disk.find(path) === undefined) {
      file.dispose()
      return capi.SQLITE_CANTOPEN
    }
    simulated.disk.open(path)
    const shared = sharedOf(path)
    shared.opened++
    files.set(pointer, { path, generation: simulated.disk.generation, shared })
    file.$pMethods = ioMethods.pointer
    file.dispose()
    if (outFlags !== 0) wasm.poke32(outFlags, flags)
    return capi.SQLITE_OK
  },
  xDelete(_vfs: number, name: number) {
    const path = wasm.cstrToJs(name) ?? ''
    // A log is deleted by name, by a connection that still has its database open.
    const openers = [...files.values()].filter((open) => `${open.path}-wal` === path)
    const isOfTheDead = openers.every(({ generation }) => generation !== simulated.disk.generation)
    if (openers.length === 0 || !isOfTheDead) simulated.disk.remove(path)
    return capi.SQLITE_OK
  },
  xAccess(_vfs: number, name: number, _flags: number, target: number) {
    const found = simulated.disk.find(wasm.cstrToJs(name) ?? '')
    wasm.poke32(target, found !== undefined && found.length > 0 ? 1 : 0)
    return capi.SQLITE_OK
  },
  xFullPathname(_vfs: number, name: number, length: number, target: number) {
    return wasm.cstrncpy(target, name, length) < length ? capi.SQLITE_OK : capi.SQLITE_CANTOPEN
  },
  xRandomness(_vfs: number, length: number, target: number) {
    const heap = wasm.heap8u()
    for (let i = 0; i < length; i++) heap[target + i] = simulated.random.below(256)
    return capi.SQLITE_OK
  },
  xSleep: () => capi.SQLITE_OK,
  xCurrentTimeInt64(_vfs: number, target: number) {
    wasm.poke64(target, 210_866_760_000_000n + BigInt(Date.now()))
    return capi.SQLITE_OK
  },
  xGetLastError: () => capi.SQLITE_OK,
}

sqlite3.vfs.installVfs({
  io: { struct: ioMethods, methods: io },
  vfs: { struct: vfs, methods: system, name: vfsName, asDefault: false },
})

type Value = null | number | string | Uint8Array

export class SqliteError extends Error {
  readonly code = 'ERR_SQLITE_ERROR'
  readonly errcode: number
  constructor(database: number) {
    super(capi.sqlite3_errmsg(database))
    this.errcode = capi.sqlite3_extended_errcode(database)
  }
}

export class DatabaseSync {
  readonly #pointer: number
  readonly #statements = new Set<StatementSync>()
  #isOpen = true

  constructor(path: string, { readOnly = false }: { readonly readOnly?: boolean; readonly timeout?: number } = {}) {
    const scope = wasm.scopedAllocPush()
    try {
      const target = wasm.scopedAlloc(8)
      const flags = readOnly ? capi.SQLITE_OPEN_READONLY : capi.SQLITE_OPEN_READWRITE | capi.SQLITE_OPEN_CREATE
      const result = capi.sqlite3_open_v2(path, target, flags, vfsName)
      this.#pointer = wasm.peekPtr(target)
      capi.sqlite3_extended_result_codes(this.#pointer, 1)
      if (result !== capi.SQLITE_OK) {
        const error = new SqliteError(this.#pointer)
        capi.sqlite3_close_v2(this.#pointer)
        throw error
      }
    } finally {
      wasm.scopedAllocPop(scope)
    }
    simulated.databases.add(this)
    // As Node has them.
    this.exec('PRAGMA foreign_keys = ON')
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get isTransaction(): boolean {
    this.#check(capi.SQLITE_OK)
    return capi.sqlite3_get_autocommit(this.#pointer) === 0
  }

  exec(sql: string): void {
    this.#check(capi.SQLITE_OK)
    this.#check(capi.sqlite3_exec(this.#pointer, sql, 0, 0, 0))
  }

  prepare(sql: string): StatementSync {
    this.#check(capi.SQLITE_OK)
    const scope = wasm.scopedAllocPush()
    try {
      const target = wasm.scopedAlloc(8)
      this.#check(capi.sqlite3_prepare_v2(this.#pointer, sql, -1, target, 0))
      const statement = new StatementSync(this.#pointer, wasm.peekPtr(target))
      this.#statements.add(statement)
      return statement
    } finally {
      wasm.scopedAllocPop(scope)
    }
  }

  close(): void {
    if (!this.#isOpen) throw new Error('database is not open')
    this.#isOpen = false
    simulated.databases.delete(this)
    for (const statement of this.#statements) statement.finalize()
    const result = capi.sqlite3_close_v2(this.#pointer)
    if (result !== capi.SQLITE_OK) throw new SqliteError(this.#pointer)
  }

  #check(result: number): void {
    if (!this.#isOpen) throw new Error('database is not open')
    if (result !== capi.SQLITE_OK) throw new SqliteError(this.#pointer)
  }
}

export class StatementSync {
  readonly #database: number
  readonly #pointer: number
  #asArrays = false
  #isFinalized = false

  constructor(database: number, pointer: number) {
    this.#database = database
    this.#pointer = pointer
  }

  setReturnArrays(asArrays: boolean): void {
    this.#asArrays = asArrays
  }

  get(...values: readonly Value[]): unknown {
    for (const row of this.#rows(values)) return row
    return undefined
  }

  all(...values: readonly Value[]): unknown[] {
    return [...this.#rows(values)]
  }

  iterate(...values: readonly Value[]): Generator<unknown> {
    return this.#rows(values)
  }

  run(...values: readonly Value[]): { readonly changes: number } {
    for (const _ of this.#rows(values));
    return { changes: capi.sqlite3_changes(this.#database) }
  }

  finalize(): void {
    this.#isFinalized = true
    capi.sqlite3_finalize(this.#pointer)
  }

  *#rows(values: readonly Value[]): Generator<unknown> {
    this.#checkOpen()
    try {
      for (const [i, value] of values.entries()) this.#bind(i + 1, value)
      for (;;) {
        this.#checkOpen()
        const result = capi.sqlite3_step(this.#pointer)
        if (result === capi.SQLITE_DONE) return
        if (result !== capi.SQLITE_ROW) throw new SqliteError(this.#database)
        yield this.#row()
      }
    } finally {
      if (!this.#isFinalized) {
        capi.sqlite3_reset(this.#pointer)
        capi.sqlite3_clear_bindings(this.#pointer)
      }
    }
  }

  /** What belongs to a process that is gone may still ask: its memory is not the garbage collector's. */
  #checkOpen(): void {
    if (this.#isFinalized) throw new Error('statement has been finalized')
  }

  #bind(place: number, value: Value): void {
    if (value === null) capi.sqlite3_bind_null(this.#pointer, place)
    else if (typeof value === 'string') {
      const [at, length] = wasm.allocCString(value, true)
      capi.sqlite3_bind_text(this.#pointer, place, at, length, capi.SQLITE_WASM_DEALLOC)
    } else if (typeof value !== 'number') {
      const at = wasm.alloc(Math.max(1, value.length))
      wasm.heap8u().set(value, at)
      capi.sqlite3_bind_blob(this.#pointer, place, at, value.length, capi.SQLITE_WASM_DEALLOC)
    } else if (Number.isSafeInteger(value)) capi.sqlite3_bind_int64(this.#pointer, place, BigInt(value))
    else capi.sqlite3_bind_double(this.#pointer, place, value)
  }

  #row(): unknown {
    const count = capi.sqlite3_column_count(this.#pointer)
    const values = Array.from({ length: count }, (_, i) => this.#column(i))
    if (this.#asArrays) return values
    return Object.fromEntries(values.map((value, i) => [capi.sqlite3_column_name(this.#pointer, i), value]))
  }

  #column(i: number): Value {
    switch (capi.sqlite3_column_type(this.#pointer, i)) {
      case capi.SQLITE_INTEGER:
        return Number(capi.sqlite3_column_int64(this.#pointer, i))
      case capi.SQLITE_FLOAT:
        return capi.sqlite3_column_double(this.#pointer, i)
      case capi.SQLITE_TEXT:
        return capi.sqlite3_column_text(this.#pointer, i)
      case capi.SQLITE_BLOB: {
        const at = capi.sqlite3_column_blob(this.#pointer, i)
        return wasm.heap8u().slice(at, at + capi.sqlite3_column_bytes(this.#pointer, i))
      }
      default:
        return null
    }
  }
}
