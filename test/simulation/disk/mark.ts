/** The last acknowledged revision as it lies on the disk, read as docs/storage-format.md has it. */
import { crc32 } from 'node:zlib'
import type { Disk } from './disk.ts'

const slotBytes = 20
const slotPlaces = [0, 4096]

/** 0: none can be read. */
export function markOnDisk(disk: Disk, path: string): number {
  const file = disk.find(path)
  if (file === undefined) return 0
  const marks = slotPlaces.map((at) => {
    const slot = file.read(at, slotBytes)
    const isSound = slot.length === slotBytes && slot.readUInt32BE(16) === crc32(slot.subarray(0, 16))
    return isSound && slot.toString('latin1', 0, 8) === 'BoroMark' ? Number(slot.readBigUInt64BE(8)) : 0
  })
  return Math.max(...marks)
}
