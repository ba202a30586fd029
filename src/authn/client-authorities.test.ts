/** Whose certificates of clients are believed, at the start and when the file changes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { selfSignedClientCertificate } from '../../test/support/identity-fixtures.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { ClientAuthorities } from './client-authorities.ts'

const certificateOf = (commonName: string): string => selfSignedClientCertificate(new FakeClock(), { commonName })
const namesIn = ({ certificates }: ClientAuthorities): string[] => certificates.map(({ subject }) => subject)

test('authorities of the file are believed from the start, and others when it has changed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'borough-authorities-'))
  try {
    const path = join(folder, 'ca.pem')
    const own = certificateOf('own')
    await writeFile(path, certificateOf('first'))
    const authorities = await ClientAuthorities.open(own, path)
    expect(namesIn(authorities)).toEqual(['CN=own', 'CN=first'])
    expect(await authorities.read()).toBe(false)
    await writeFile(path, certificateOf('second'))
    expect(await authorities.read()).toBe(true)
    expect(namesIn(authorities)).toEqual(['CN=own', 'CN=second'])
    await writeFile(path, 'none')
    await expect(ClientAuthorities.open(own, path)).rejects.toThrow(`--client-ca-file ${path}: it holds no certificate`)
    await expect(authorities.read()).rejects.toThrow(`--client-ca-file ${path}: it holds no certificate`)
    expect(namesIn(authorities)).toEqual(['CN=own', 'CN=second'])
    expect(namesIn(await ClientAuthorities.open(own))).toEqual(['CN=own'])
  } finally {
    await rm(folder, { recursive: true })
  }
})
