/**
 * What SQLite says, in the words of the storage contract.
 *
 * @see https://www.sqlite.org/rescode.html
 */
import { accessSync, closeSync, constants as fileModes, openSync, rmSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import type { StorageErrorCode } from '../storage.ts'
import { StorageError } from '../storage.ts'

/** Primary result codes: the low byte of an extended code. */
const busy = 5
const locked = 6
const readOnly = 8
const ioError = 10
const ioErrorWrite = 778
/** The index of the log beside the file can't have its length. */
const ioErrorShmSize = 4874
const corrupt = 11
const full = 13
const cannotOpen = 14
const notADatabase = 26

/** More than what a file system keeps beside a file's attributes. */
const trialBytes = 64 * 1024

/** A fault on its way between threads, where error classes do not survive. */
export interface Fault {
  readonly code: StorageErrorCode
  readonly message: string
}

export function faultOf(error: unknown, path: string): Fault {
  if (error instanceof StorageError) return { code: error.code, message: error.message }
  const text = error instanceof Error ? error.message : String(error)
  const detail = errcodeOf(error)
  if (detail === undefined) return systemFaultOf(error, text, path)
  switch (detail & 0xff) {
    case busy:
    case locked:
      return { code: 'locked', message: `${path} is locked by another program (sqlite3?): end it there` }
    case readOnly:
      return readOnlyFault(path)
    case full:
      return fullFault(path)
    case corrupt:
    case notADatabase:
      return { code: 'corrupt', message: `${path} is damaged (${text}); restore it from a backup` }
    case ioError:
      if (detail === ioErrorShmSize) return fullFault(path)
      if (detail === ioErrorWrite && isQuotaUsedUp(dirname(path))) return fullFault(path)
      return { code: 'unavailable', message: `reading or writing ${path} failed (${text}, code ${detail})` }
    case cannotOpen:
      // For want of the files that SQLite makes beside it.
      if (!isWritable(dirname(path))) return readOnlyFault(path)
      return { code: 'unavailable', message: `${path} can not be opened` }
    default:
      return { code: 'unavailable', message: `${path}: ${text} (code ${detail})` }
  }
}

/** Not on a file system that is read-only, nor by a user who may only read. */
export function isWritable(directory: string): boolean {
  try {
    accessSync(directory, fileModes.W_OK)
    return true
  } catch {
    return false
  }
}

/** Errors of the file system itself, met before SQLite has the file. */
function systemFaultOf(error: unknown, text: string, path: string): Fault {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return readOnlyFault(path)
    case 'ENOSPC':
      return fullFault(path)
    default:
      if (isQuotaError(error)) return fullFault(path)
      return { code: 'unavailable', message: `${path}: ${text}` }
  }
}

/** libuv has no name for it. */
const isQuotaError = (error: unknown): boolean =>
  error instanceof Error && 'errno' in error && error.errno === -constants.errno.EDQUOT

/** SQLite knows a disk that is full, and takes a quota that is used up for any other fault of a write. */
function isQuotaUsedUp(directory: string): boolean {
  const path = join(directory, 'state.db-trial')
  try {
    const file = openSync(path, 'w', 0o600)
    try {
      writeSync(file, Buffer.alloc(trialBytes))
    } finally {
      closeSync(file)
    }
    return false
  } catch (error) {
    return isQuotaError(error)
  } finally {
    rmSync(path, { force: true })
  }
}

function readOnlyFault(path: string): Fault {
  return { code: 'unavailable', message: `${path} is read-only for this process` }
}

export function fullFault(path: string): Fault {
  return { code: 'full', message: `there is no room for ${path} to grow` }
}

export const damagedFile = (path: string, what: string): StorageError =>
  new StorageError('corrupt', `${path} is damaged (${what}); restore it from a backup`)

/** What follows a fault whose end only a start can find out. */
export const stopped = 'no more writes are taken until a restart'

export function errorOf(fault: Fault): StorageError {
  return new StorageError(fault.code, fault.message)
}

/** The extended result code, if SQLite raised the error. */
function errcodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}
