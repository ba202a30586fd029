/** The watches of the objects that templates copy: which there are, and what is known of each. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { systemClock } from '../../base/clock.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { CloneSources } from './clone-sources.ts'
import type { NamespaceTemplate } from './types.ts'

const secrets = { group: '', version: 'v1', resource: 'secrets' } as const
const from = (name: string) => ({ namespace: 'infra', apiVersion: 'v1', kind: 'Secret', name })
const template = (name: string, ...sources: string[]): NamespaceTemplate => ({
  metadata: { name },
  spec: { objects: sources.map((source) => ({ cloneFrom: from(source) })) },
})
const secret = (name: string, value: string): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'infra', name }, data: { value } },
})

let client: FakeClient
let stop: AbortController
let changed: string[]
let errors: string[]
let sources: CloneSources
beforeEach(() => {
  client = new FakeClient()
  stop = new AbortController()
  changed = []
  errors = []
  sources = new CloneSources({
    ...{ client, clock: systemClock, onChange: (name) => void changed.push(name) },
    onError: (error) => void errors.push((error as Error).message),
  })
})
afterEach(() => stop.abort())

test('what is asked for before anybody named it is not known', () => {
  expect(sources.find(from('a'))).toBe('it is not known yet')
})

test('a source is known as it is, and as it is not', async () => {
  await client.create(secrets, secret('a', '1'))
  await sources.know([template('t', 'a', 'b')], stop.signal)
  expect(sources.find(from('a'))).toMatchObject({ data: { value: '1' } })
  expect(sources.find(from('b'))).toBeUndefined()
  expect(errors).toEqual([])
})

test('its change is told to each template that copies it now, and to no other', async () => {
  await client.create(secrets, secret('a', '1'))
  await sources.know([template('t', 'a'), template('u', 'a')], stop.signal)
  await sources.know([template('u', 'a'), template('v', 'a')], stop.signal)
  changed.length = 0
  await client.update(secrets, secret('a', '2'))
  await expect.poll(() => changed).toEqual(['u', 'v'])
})

test('one that no template names any more is followed no more', async () => {
  await client.create(secrets, secret('a', '1'))
  await sources.know([template('t', 'a')], stop.signal)
  const before = changed.length
  await sources.know([template('t', 'b')], stop.signal)
  expect(sources.find(from('a'))).toBe('it is not known yet')
  await client.update(secrets, secret('a', '2'))
  await client.create(secrets, secret('b', '1'))
  await expect.poll(() => sources.find(from('b'))).toMatchObject({ data: { value: '1' } })
  expect(changed.slice(before).every((name) => name === 't')).toBe(true)
  expect(sources.find(from('a'))).toBe('it is not known yet')
})

test('of one that may not be read it is known why', async () => {
  client.list = () => Promise.reject(new StatusError('secrets is forbidden', { reason: 'Forbidden' }))
  await sources.know([template('t', 'a')], stop.signal)
  expect(sources.find(from('a'))).toBe('secrets is forbidden')
  expect(errors).toEqual(['secrets is forbidden'])
})

test('a server that only fails has not refused: it is waited for until there is no more time', async () => {
  client.list = () => Promise.reject(new StatusError('busy', { code: 429, reason: 'TooManyRequests' }))
  const known = sources.know([template('t', 'a')], stop.signal)
  await expect.poll(() => errors).toEqual(['busy'])
  expect(sources.find(from('a'))).toBe('it is not known yet')
  stop.abort()
  await known
})
