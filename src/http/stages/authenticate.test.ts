import { expect, test } from 'vitest'
import { findStatusError } from '../../kube/status-error.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import { authenticate } from './authenticate.ts'

test('whom nobody recognises is refused, and told no more than that', async () => {
  const handler = authenticate(async () => undefined)(() => Promise.reject(new Error('must not be reached')))
  const refused = (async () => handler({ headers: {} } as ApiRequest, {} as RequestContext))()
  const status = findStatusError(await refused.catch((e: unknown) => e))?.toStatus()
  expect(status).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Unauthorized',
    reason: 'Unauthorized',
    code: 401,
  })
})
