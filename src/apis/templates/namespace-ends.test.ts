/** The ends that templates give namespaces on other clusters, where the webhooks give them. */
import { describe, expect, test } from 'vitest'
import { attributesOf, Rights } from '../../../test/support/admission-attributes.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { requiredType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import { compileMatcher } from './match.ts'
import { namespaceEnds } from './namespace-ends.ts'
import type { NamespaceMatch } from './types.ts'

const type = requiredType(loadCatalog().types, { group: '', version: 'v1', resource: 'namespaces' })
const expiresAt = 'borough.dev/expires-at'
const clock = new FakeClock()

function ends(namespaces: NamespaceMatch) {
  const template = { metadata: { name: 't' }, spec: { namespaces, expiry: { default: '2h' } } }
  return namespaceEnds({ authorizer: new Rights(), matchers: () => [compileMatcher(template as never)] }, clock)
}
const named: NamespaceMatch = { nameSelector: { include: ['n*'] } }
const labelled: NamespaceMatch = { labelSelector: { matchLabels: { a: 'b' } } }
const namespace = (name: string | undefined, annotations: Record<string, string> = {}): KubeObject => ({
  metadata: { ...(name === undefined ? {} : { name }), labels: { a: 'b' }, annotations },
})
const endOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[expiresAt]
const inTwoHours = new Date(clock.now() + 7_200_000).toISOString().replace('.000Z', 'Z')

describe('a new namespace', () => {
  test('is given the end of the template that selects it', () => {
    expect(endOf(ends(named).settle(namespace('n1'), undefined))).toBe(inTwoHours)
    expect(endOf(ends(named).settle(namespace('m1'), undefined))).toBeUndefined()
  })

  test('without a name yet is given that of a template that selects by no name', () => {
    expect(endOf(ends(named).settle(namespace(undefined), undefined))).toBeUndefined()
    expect(endOf(ends(labelled).settle(namespace(undefined), undefined))).toBe(inTwoHours)
  })

  const checked = async (object: KubeObject | undefined, oldObject?: KubeObject): Promise<string> => {
    try {
      await ends(named).check(attributesOf({ type, namespace: 'n1', name: 'n1', object, oldObject }))
      return 'accepted'
    } catch (error) {
      return (error as Error).message
    }
  }

  test('that has the end by the time its name is known is accepted', async () => {
    expect(await checked(ends(named).settle(namespace('n1'), undefined))).toBe('accepted')
    expect(await checked(namespace('m1'))).toBe('accepted')
  })

  test('that has not is refused, with what to do', async () => {
    expect(await checked(namespace('n1'))).toBe(
      `Namespace "n1" is invalid: metadata.annotations[${expiresAt}]: Required value: NamespaceTemplate "t" gives ` +
        'namespaces an end, and selects this one by a name that was not known in time: name an end, or the namespace',
    )
  })

  test('but one that exists is not, nor what is deleted', async () => {
    expect(await checked(namespace('n1'), namespace('n1'))).toBe('accepted')
    expect(await checked(undefined, namespace('n1'))).toBe('accepted')
  })
})

describe('a `ttl` that is given, and made nothing of, by way of a sub-resource', () => {
  const before = { metadata: { name: 'm1', creationTimestamp: new Date(clock.now()).toISOString() } }
  const after = (ttl: string): KubeObject => ({
    metadata: { ...before.metadata, annotations: { 'borough.dev/ttl': ttl } },
  })
  const asked = async (subresource: string, ttl: string, ...held: string[]): Promise<string> => {
    const authorizer = new Rights(...held)
    const all = namespaceEnds({ authorizer, matchers: () => [] }, clock)
    const about = { type, namespace: 'm1', name: 'm1', object: after(ttl), oldObject: before, subresource }
    return all.check(attributesOf({ ...about, operation: 'UPDATE' })).then(
      () => 'accepted',
      (error) => (error as Error).message,
    )
  }

  test.each(['status', 'finalize'])('takes the rights that its end takes: %s', async (subresource) => {
    const right = 'delete /v1/namespaces/ m1/m1'
    expect(await asked(subresource, '1h')).toBe(
      'namespaces "m1" is forbidden: user "alice" cannot shorten the life of this namespace: its annotation ' +
        'borough.dev/ttl needs the verb "delete" on it',
    )
    expect(await asked(subresource, '1h', right)).toBe('accepted')
    expect(await asked(subresource, '1d', right)).toContain('must be a duration')
  })
})
