/** Encryption configurations for tests, in files of their own. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Of 32 bytes, told apart by a digit. */
export const secretOf = (digit: number): string => Buffer.from(`${digit}`.repeat(32)).toString('base64')

export interface EntryText {
  readonly resources: readonly string[]
  readonly providers: readonly object[]
}

export const aesgcm = (...keys: readonly number[]): object => ({
  aesgcm: { keys: keys.map((key) => ({ name: `key${key}`, secret: secretOf(key) })) },
})

export const kms = (endpoint: string, name = 'test', timeout = '3s'): object => ({
  kms: { apiVersion: 'v2', name, endpoint, timeout },
})

export const identity: object = { identity: {} }

export const configurationText = (...resources: readonly EntryText[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources })

/** 0600. Answers its path. */
export async function writeConfiguration(folder: string, ...resources: readonly EntryText[]): Promise<string> {
  const path = join(folder, 'encryption.yaml')
  await writeFile(path, configurationText(...resources), { mode: 0o600 })
  return path
}
