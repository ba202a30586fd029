import { expect, it } from 'vitest'
import type { ApiRequest, RequestContext } from './api.ts'
import { versionHandler } from './version.ts'

const handler = versionHandler({
  version: '0.1.0',
  gitCommit: 'abc',
  gitTreeState: 'clean',
  buildDate: '2026-11-21T00:00:00Z',
})
const ask = (method: string) => handler({ method } as ApiRequest, {} as RequestContext)

it('tells a Kubernetes version that clients can parse, with Borough as its build', async () => {
  const { body } = await ask('GET')
  const version = JSON.parse(Buffer.from(body as Uint8Array).toString()) as Record<string, string>
  expect(version).toMatchObject({ major: '1', minor: '36', gitCommit: 'abc', emulationMinor: '36' })
  expect(version['gitVersion']).toMatch(/^v1\.36\.\d+\+borough\.0\.1\.0$/)
  expect(Object.values(version).every((v) => typeof v === 'string' && v !== '')).toBe(true)
})

it('answers GET alone', async () => {
  await expect(ask('POST')).rejects.toMatchObject({ code: 405 })
})
