/** Stands in for `src/base/secret-file.ts`: files that the world has written, read without waiting for a real disk. */
import { simulated } from './simulated-process.ts'

export * from '../../../src/base/secret-file.ts'

export async function readSecretFile(path: string): Promise<Buffer> {
  const text = simulated.secretFiles.get(path)
  if (text === undefined) throw new Error(`there is no file ${path}`)
  return Buffer.from(text)
}
