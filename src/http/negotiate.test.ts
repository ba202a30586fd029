import { describe, expect, test } from 'vitest'
import { findStatusError } from '../kube/status-error.ts'
import { type Negotiated, negotiate, type Offer } from './negotiate.ts'

const builtIn: Offer = { protobuf: true, views: ['table', 'partial'] }
const custom: Offer = { protobuf: false, views: ['table', 'partial'] }

const kubectlGet =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json'

const cases: {
  name: string
  accept?: string
  agent?: string
  query?: string
  offer?: Offer
  want: Partial<Negotiated> | { code: number; message: string }
}[] = [
  { name: 'nothing asked is JSON', want: { format: 'json', view: 'object', pretty: false } },
  { name: 'anything is JSON', accept: '*/*', want: { format: 'json', view: 'object' } },
  { name: 'kubectl get is a table', accept: kubectlGet, want: { format: 'json', view: 'table', viewVersion: 'v1' } },
  {
    name: 'client-go of today reads protobuf',
    accept: 'application/vnd.kubernetes.protobuf,application/json',
    want: { format: 'protobuf', view: 'object' },
  },
  {
    name: 'a custom resource has no protobuf form, so the next clause counts',
    accept: 'application/vnd.kubernetes.protobuf,application/json',
    offer: custom,
    want: { format: 'json', view: 'object' },
  },
  {
    name: 'metadata of any kind can be protobuf',
    accept: 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    offer: custom,
    want: { format: 'protobuf', view: 'partial' },
  },
  {
    name: 'quality decides before order',
    accept: 'application/json;q=0.1, application/yaml;q=0.9',
    want: { format: 'yaml' },
  },
  {
    name: 'an unknown type alone is refused with what there is',
    accept: 'text/html',
    want: {
      code: 406,
      message:
        'only the following media types are accepted: application/json, application/yaml, ' +
        'application/vnd.kubernetes.protobuf',
    },
  },
  {
    name: 'a type named like what every object inherits is unknown',
    accept: 'constructor',
    want: {
      code: 406,
      message:
        'only the following media types are accepted: application/json, application/yaml, ' +
        'application/vnd.kubernetes.protobuf',
    },
  },
  { name: 'the hundredth type counts', accept: `${'text/html,'.repeat(99)}application/yaml`, want: { format: 'yaml' } },
  {
    name: 'what stands behind a hundred types does not',
    accept: `${'text/html,'.repeat(100)}application/yaml`,
    want: {
      code: 406,
      message:
        'only the following media types are accepted: application/json, application/yaml, ' +
        'application/vnd.kubernetes.protobuf',
    },
  },
  {
    name: 'an unknown view alone is refused',
    accept: 'application/json;as=Chair;g=meta.k8s.io;v=v1',
    offer: custom,
    want: {
      code: 406,
      message:
        'only the following media types are accepted: application/json, application/yaml, ' +
        'application/vnd.kubernetes.protobuf',
    },
  },
  {
    name: 'tables can be YAML',
    accept: 'application/yaml;as=Table;v=v1;g=meta.k8s.io',
    want: { format: 'yaml', view: 'table' },
  },
  {
    name: 'what is named comes before what may be anything',
    accept: '*/*, application/yaml',
    want: { format: 'yaml' },
  },
  {
    name: 'a stream that nobody knows is passed over',
    accept: 'application/yaml;stream=x,*/*',
    want: { format: 'json' },
  },
  { name: 'a version without a kind is passed over', accept: 'application/yaml;v=v1,*/*', want: { format: 'json' } },
  { name: 'the server version that there is is taken', accept: 'application/yaml;sv=v1,*/*', want: { format: 'yaml' } },
  { name: 'a person with curl gets line breaks', agent: 'curl/8.5.0', want: { pretty: true } },
  { name: 'unless they ask not to', agent: 'curl/8.5.0', query: 'pretty=false', want: { pretty: false } },
  { name: 'pretty=1 asks for line breaks', query: 'pretty=1', want: { pretty: true } },
]

describe('content negotiation', () => {
  test.each(cases)('$name', ({ accept, agent, query, offer, want }) => {
    const headers = { accept, 'user-agent': agent }
    const run = (): Negotiated => negotiate(headers, new URLSearchParams(query), () => offer ?? builtIn)
    if ('code' in want) {
      try {
        run()
      } catch (error) {
        expect(findStatusError(error)).toMatchObject(want)
        return
      }
      expect.unreachable('it must be refused')
    }
    expect(run()).toMatchObject(want)
  })
})
