import { expect, test } from 'vitest'
import { Turns } from '../../base/turns.ts'
import type { Refused } from '../../flowcontrol/flowcontrol.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import { priorityAndFairness } from './priority-and-fairness.ts'

const refused = { granted: false, headers: {}, retryAfterSeconds: 1 } as unknown as Refused

test('refusals of a client without credentials do not count for clients at other addresses', () => {
  const flows: string[] = []
  const stage = priorityAndFairness({
    flowControl: { admit: () => refused },
    now: () => 0,
    began() {},
    longWork: { begin: () => new Turns().slice() },
    lateRefusals: {
      timeOf(flow) {
        flows.push(flow)
        return 'now'
      },
    },
  })
  const handler = stage(() => {
    throw new Error('it was refused')
  })
  const ask = (username: string, remoteAddress: string) => () =>
    handler({ remoteAddress } as ApiRequest, { user: { username, groups: [] } } as unknown as RequestContext)
  expect(ask('system:anonymous', '192.0.2.1')).toThrow(/Too many requests/)
  expect(ask('system:anonymous', '192.0.2.2')).toThrow(/Too many requests/)
  expect(ask('ann', '192.0.2.1')).toThrow(/Too many requests/)
  expect(flows).toEqual(['address 192.0.2.1', 'address 192.0.2.2', 'user ann'])
})
