/** Is a path one that can be read or written; what is wrong with it is one line, before anything is opened or made. */
import { accessSync, constants, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Each undefined where the path will do. */
export type Problem = string | undefined

/** The path of nothing would be the folder that one is in. */
export const emptyValue = 'it is empty: give it a value or leave it out'

/** For what is read. */
export function unreadable(path: string): Problem {
  if (path === '') return emptyValue
  const found = look(path)
  if (typeof found === 'string') return found
  if (found === undefined) return `there is no file ${path}`
  if (found.isDirectory()) return `${path} is a folder: name a file in it`
  return allows(path, constants.R_OK) ? undefined : `${path} can't be read: permission denied`
}

/** For what is written: it may be there, and its folder must be. */
export function unwritable(path: string): Problem {
  const found = look(path)
  if (typeof found === 'string') return found
  if (found?.isDirectory()) return `${path} is a folder: name a file in it`
  if (found !== undefined)
    return allows(path, constants.W_OK) ? undefined : `${path} can't be written: permission denied`
  const folder = dirname(resolve(path))
  const above = look(folder)
  if (typeof above === 'string') return above
  if (above === undefined) return `there is no folder ${folder}: make it first`
  if (!above.isDirectory()) return `${folder} is no folder`
  return allows(folder, constants.W_OK) ? undefined : `${folder} can't be written: permission denied`
}

/** For a folder that is made where it is missing. */
export function unusableFolder(path: string): Problem {
  const found = look(path)
  if (typeof found === 'string') return found
  if (found === undefined) {
    const parent = dirname(resolve(path))
    return parent === resolve(path) ? undefined : unusableFolder(parent)
  }
  if (!found.isDirectory()) return `${path} is no folder: choose another place`
  return allows(path, constants.R_OK) ? undefined : `${path} can't be read: permission denied`
}

/** What is there; the refusal where it can't be told. */
function look(path: string): Stats | string | undefined {
  try {
    return statSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === 'ENOTDIR') return `what is above ${path} is no folder`
    if (code === 'EACCES') return `${path} can't be reached: permission denied`
    return `${path} can't be looked at (${code})`
  }
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
