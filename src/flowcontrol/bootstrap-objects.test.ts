import { describe, expect, test } from 'vitest'
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from './bootstrap-objects.ts'
import { bySchemaPrecedence, parseFlowSchema } from './flow-schema.ts'
import { concurrencyLimits, maxSeatsPerRequest, parsePriorityLevel } from './priority-level.ts'
import { validateFlowSchema, validatePriorityLevel } from './validation.ts'

const levels = [...mandatoryPriorityLevels, ...suggestedPriorityLevels]
const schemas = [...mandatoryFlowSchemas, ...suggestedFlowSchemas]

describe('the bootstrap objects', () => {
  test('are upstream’s priority levels', () => {
    const rows = levels.map(({ metadata, spec }) => {
      const { nominalConcurrencyShares, lendablePercent } = spec?.limited ?? spec?.exempt ?? {}
      const { type, queuing } = spec?.limited?.limitResponse ?? {}
      const { queues, handSize, queueLengthLimit } = queuing ?? {}
      const how = queuing ? `${type} ${queues}/${handSize}/${queueLengthLimit}` : (type ?? '-')
      return `${metadata.name} ${spec?.type} ${nominalConcurrencyShares} ${lendablePercent}% ${how}`
    })
    expect(rows).toEqual([
      'catch-all Limited 5 0% Reject',
      'exempt Exempt 0 0% -',
      'system Limited 30 33% Queue 64/6/50',
      'node-high Limited 40 25% Queue 64/6/50',
      'leader-election Limited 10 0% Queue 16/4/50',
      'workload-high Limited 40 50% Queue 128/6/50',
      'workload-low Limited 100 90% Queue 128/6/50',
      'global-default Limited 20 50% Queue 128/6/50',
    ])
  })

  test('are upstream’s flow schemas, in the order in which they are tried', () => {
    const rows = schemas
      .map(parseFlowSchema)
      .sort(bySchemaPrecedence)
      .map(
        ({ name, matchingPrecedence, priorityLevelName, distinguisher }) =>
          `${matchingPrecedence} ${name} → ${priorityLevelName} ${distinguisher ?? '-'}`,
      )
    expect(rows).toEqual([
      '1 exempt → exempt -',
      '2 probes → exempt -',
      '100 system-leader-election → leader-election ByUser',
      '400 system-node-high → node-high ByUser',
      '500 system-nodes → system ByUser',
      '800 kube-controller-manager → workload-high ByNamespace',
      '800 kube-scheduler → workload-high ByNamespace',
      '900 kube-system-service-accounts → workload-high ByNamespace',
      '9000 service-accounts → workload-low ByUser',
      '9900 global-default → global-default ByUser',
      '10000 catch-all → catch-all ByUser',
    ])
  })

  test.each(schemas)('the FlowSchema $metadata.name is valid and kept up to date', (schema) => {
    expect(validateFlowSchema(schema)).toEqual([])
    expect(schema.metadata.annotations).toEqual({ 'apf.kubernetes.io/autoupdate-spec': 'true' })
  })

  test.each(levels)('the PriorityLevelConfiguration $metadata.name is valid and kept up to date', (level) => {
    expect(validatePriorityLevel(level)).toEqual([])
    expect(level.metadata.annotations).toEqual({ 'apf.kubernetes.io/autoupdate-spec': 'true' })
  })

  test('get the seats that kube-apiserver gives them with its default flags', () => {
    const rows = levels.map((level) => {
      const config = parsePriorityLevel(level)
      if (config === undefined) throw new Error('a bootstrap level contradicts itself')
      const { nominal, min, max } = concurrencyLimits(config, 600, 245)
      return [config.name, nominal, min, max, maxSeatsPerRequest(config, nominal)]
    })
    expect(rows).toEqual([
      ['catch-all', 13, 13, 613, undefined],
      ['exempt', 0, 0, 600, undefined],
      ['system', 74, 50, 674, 12],
      ['node-high', 98, 73, 698, 15],
      ['leader-election', 25, 25, 625, 4],
      ['workload-high', 98, 49, 698, 15],
      ['workload-low', 245, 24, 845, 37],
      ['global-default', 49, 24, 649, 8],
    ])
  })

  test.each([
    { nominal: 5, handSize: 6, most: 1 },
    { nominal: 10, handSize: 6, most: 1 },
    { nominal: 15, handSize: 6, most: 2 },
    { nominal: 20, handSize: 6, most: 3 },
    { nominal: 35, handSize: 6, most: 5 },
    { nominal: 100, handSize: 6, most: 15 },
    { nominal: 200, handSize: 6, most: 30 },
    { nominal: 10, handSize: 1, most: 2 },
    { nominal: 100, handSize: 20, most: 5 },
  ])('a request at a level with $nominal seats and hands of $handSize takes at most $most', (row) => {
    const config = {
      name: 'x',
      uid: '',
      exempt: false,
      nominalShares: 1,
      lendablePercent: 0,
      borrowingLimitPercent: 0,
      queuing: { queues: 64, handSize: row.handSize, queueLengthLimit: 50 },
    }
    expect(maxSeatsPerRequest(config, row.nominal)).toBe(row.most)
  })
})
