/** Which run of the system this is: what the system holds of files in memory is gone with the next one. */
import { readFileSync } from 'node:fs'

/** 36 characters; undefined: this system does not tell. */
export function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}
