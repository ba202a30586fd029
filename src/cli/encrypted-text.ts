/** With which keys the values of a store are encrypted, and what none that is configured opens, in words. */
import type { EncryptedCount, UnopenedGroup, whatOpens } from '../backup/backup.ts'

/** ` (encrypted: …)`; empty where nothing is. */
export function encryptedInWords(encrypted: readonly EncryptedCount[], wereOpened: boolean): string {
  if (encrypted.length === 0) return ''
  const by = encrypted.map((made) => `${made.entries} with ${keyInWords(made)}`)
  const hint = wereOpened ? '' : '; not opened, for want of --encryption-provider-config'
  return ` (encrypted: ${by.join(', ')}${hint})`
}

/** A line for each group. */
export function unopenedInWords(unopened: readonly UnopenedGroup[], opens: typeof whatOpens): string {
  return unopened
    .map(({ encryptedWith, entries, first, reason, needs }) => {
      const made = encryptedWith === undefined ? 'in clear' : `encrypted with ${keyInWords(encryptedWith)}`
      const what = `${entries} entries ${made}, the first of them ${first}, can't be decrypted: ${reason}`
      return `${what}; copied as they are: ${opens({ needs })}\n`
    })
    .join('')
}

function keyInWords({ provider, name, keyId }: Omit<EncryptedCount, 'entries'>): string {
  return `${provider} ${name}${keyId === undefined ? '' : ` key ${keyId}`}`
}
