/** Who may say when a namespace ends, and when that may be. */
import { describe, expect, test } from 'vitest'
import { attributesOf, Rights } from '../../../test/support/admission-attributes.ts'
import { forbidden, invalidObject, thrown } from '../../../test/support/refusal.ts'
import { configMaps, namespaces } from '../../../test/support/registry-fixture.ts'
import type { Attributes } from '../../admission/admission.ts'
import type { KubeObject } from '../../kube/types.ts'
import { namespaceExpiry, settledExpiry } from './admission.ts'
import type { ExpiringTemplate } from './bounds.ts'

const nowMs = Date.parse('2030-01-01T00:00:00Z')
const at = (hour: number): string => new Date(nowMs + hour * 3_600_000).toISOString().replace('.000Z', 'Z')
const expiresAt = 'borough.dev/expires-at'
const ttl = 'borough.dev/ttl'
const source = 'borough.dev/expiry-template'
const protection = 'borough.dev/deletion-protection'
const namespace = (annotations?: Record<string, string>, metadata: object = {}): KubeObject => ({
  metadata: { name: 'team', creationTimestamp: at(0), ...(annotations && { annotations }), ...metadata },
})
/** Selects namespaces that are labelled with its name. */
const template = (name: string, max: string): ExpiringTemplate => ({ metadata: { name }, spec: { expiry: { max } } })

function deps(templates: readonly ExpiringTemplate[] = [], rights = new Rights()) {
  return {
    clock: { now: () => nowMs },
    authorizer: rights,
    anyTemplateExpires: () => templates.length > 0,
    templatesOf: ({ metadata }: KubeObject) => templates.filter((t) => metadata.labels?.[t.metadata.name ?? ''] === ''),
  }
}
function validate(
  about: { readonly next?: KubeObject; readonly old?: KubeObject },
  templates: readonly ExpiringTemplate[] = [],
  rights: Rights = new Rights(),
): void {
  const { next, old } = about
  const operation = old === undefined ? 'CREATE' : next === undefined ? 'DELETE' : 'UPDATE'
  const a = attributesOf({ type: namespaces, operation, object: next, oldObject: old })
  expect(namespaceExpiry(deps(templates, rights)).validate?.(a)).toBeUndefined()
}
const right = (verb: string): string => `${verb} /v1/namespaces/ team/team`
const denied = (why: string) => forbidden({ kind: 'namespaces', name: 'team' }, why)

test.each<[Attributes['operation'], object, string, unknown]>([
  ['CREATE', namespaces, '', ['validate']],
  ['UPDATE', namespaces, 'status', ['validate']],
  ['DELETE', namespaces, '', false],
  ['UPDATE', configMaps, '', false],
  ['UPDATE', { ...namespaces, group: 'ex.io' }, '', false],
])('%s is asked about', (operation, type, subresource, halves) => {
  expect(namespaceExpiry(deps()).handles(operation, type as never, subresource)).toEqual(halves)
})

test('a word that protects nothing is told to who writes it, and no more afterwards', () => {
  const toldOf = (next: KubeObject, old?: KubeObject): string[] => {
    const warnings: string[] = []
    const operation = old === undefined ? 'CREATE' : 'UPDATE'
    const warn = (text: string): void => void warnings.push(text)
    void namespaceExpiry(deps()).validate?.(
      attributesOf({ type: namespaces, operation, object: next, oldObject: old, warn }),
    )
    return warnings
  }
  const protectedBy = (word: string): KubeObject => namespace({ [protection]: word })
  const told = `annotation ${protection} is "yes", which does nothing: only "true" does`
  expect(toldOf(protectedBy('yes'))).toEqual([told])
  expect(toldOf(protectedBy('yes'), protectedBy('true'))).toEqual([told])
  expect(toldOf(protectedBy('yes'), protectedBy('yes'))).toEqual([])
  for (const word of ['true', 'false', '']) expect(toldOf(protectedBy(word))).toEqual([])
})

describe('the end of a namespace', () => {
  const lengthened = 'user "alice" cannot lengthen the life of this namespace: its annotation borough.dev/expires-at'
  const shortened = 'user "alice" cannot shorten the life of this namespace: its annotation borough.dev/expires-at'
  test.each<[string, KubeObject, KubeObject, string, string]>([
    ['later', namespace({ [expiresAt]: at(1) }), namespace({ [expiresAt]: at(2) }), 'extend', lengthened],
    ['taken away', namespace({ [expiresAt]: at(1) }), namespace(), 'extend', lengthened],
    ['earlier', namespace({ [expiresAt]: at(2) }), namespace({ [expiresAt]: at(1) }), 'delete', shortened],
    ['given', namespace(), namespace({ [expiresAt]: at(1) }), 'delete', shortened],
  ])('%s needs a right on it', (_, old, next, verb, why) => {
    const rights = new Rights(right(verb))
    validate({ next, old }, [], rights)
    expect(rights.asked).toEqual([`alice: ${right(verb)}`])
    expect(thrown(() => validate({ next, old }))).toEqual(denied(`${why} needs the verb "${verb}" on it`))
  })

  test.each<[string, { next?: KubeObject; old?: KubeObject }]>([
    ['is not named', { next: namespace({ a: 'b' }), old: namespace() }],
    ['stays', { next: namespace({ [expiresAt]: at(1), a: 'b' }), old: namespace({ [expiresAt]: at(1) }) }],
    ['is given to a new one', { next: namespace({ [expiresAt]: at(1) }) }],
    ['is that of one which goes', { old: namespace({ [expiresAt]: at(1) }) }],
    [
      'is that of one which goes away',
      {
        next: namespace({ [expiresAt]: 'never' }, { deletionTimestamp: at(0) }),
        old: namespace({ [expiresAt]: at(1) }, { deletionTimestamp: at(0) }),
      },
    ],
  ])('needs none where it %s', (_, about) => {
    const rights = new Rights()
    validate(about, [], rights)
    expect(rights.asked).toEqual([])
  })

  test.each<[string, Record<string, string>, string]>([
    [
      'no time',
      { [expiresAt]: 'soon' },
      'metadata.annotations[borough.dev/expires-at]: Invalid value: "soon": must be a time as RFC 3339 has it, such ' +
        'as 2030-12-31T18:00:00Z',
    ],
    [
      'no duration',
      { [ttl]: 'soon' },
      'metadata.annotations[borough.dev/ttl]: Invalid value: "soon": must be a duration of a second or more, such as ' +
        '90m or 720h: there are no days',
    ],
    [
      'a long text',
      { [ttl]: 'x'.repeat(5000) },
      `metadata.annotations[borough.dev/ttl]: Invalid value: "${'x'.repeat(128)}"...: must be a duration of a second ` +
        'or more, such as 90m or 720h: there are no days',
    ],
    [
      'a long text in place of a time',
      { [expiresAt]: 'x'.repeat(5000) },
      `metadata.annotations[borough.dev/expires-at]: Invalid value: "${'x'.repeat(128)}"...: must be a time as RFC ` +
        '3339 has it, such as 2030-12-31T18:00:00Z',
    ],
    [
      'a time that is over',
      { [expiresAt]: at(-1) },
      `metadata.annotations[borough.dev/expires-at]: Invalid value: "${at(-1)}": must be in the future: it is ${at(0)}`,
    ],
  ])('is not %s', (_, annotations, fault) => {
    expect(thrown(() => validate({ next: namespace(annotations) }))).toEqual(
      invalidObject({ kind: 'Namespace', name: 'team' }, [fault]),
    )
  })
})

describe('the limit of a template', () => {
  const day = template('day', '24h')
  const selected = { labels: { day: '' } }
  const why = 'NamespaceTemplate "day" lets its namespaces live for 24h'

  test.each<[string, KubeObject, KubeObject | undefined]>([
    ['of a new namespace', namespace({ [expiresAt]: at(25) }, selected), undefined],
    [
      'of one that it comes to select',
      namespace({ [expiresAt]: at(25) }, selected),
      namespace({ [expiresAt]: at(25) }),
    ],
    [
      'of one that it selects, which changes it',
      namespace({ [expiresAt]: at(25) }, selected),
      namespace({ [expiresAt]: at(26) }, selected),
    ],
    [
      'of one that it comes to select by an annotation',
      namespace({ [expiresAt]: at(25), a: 'b' }, selected),
      namespace({ [expiresAt]: at(25) }),
    ],
  ])('is that %s', (_, next, old) => {
    const about = old === undefined ? { next } : { next, old }
    expect(() => validate(about, [day], new Rights(right('delete')))).toThrow(`must not be after ${at(24)}: ${why}`)
  })

  test('is not asked of what stays as it was', () => {
    const old = namespace({ [expiresAt]: at(25) }, selected)
    validate({ next: { ...old, spec: {} } as KubeObject, old }, [day])
    validate({ next: namespace({ [expiresAt]: at(25), a: 'b' }, selected), old }, [day])
  })

  test('makes an end where none is named', () => {
    expect(thrown(() => validate({ next: namespace({}, selected) }, [day])).message).toContain(`Required value: ${why}`)
  })
})

describe('protection beyond an end', () => {
  const both = { [expiresAt]: at(1), [protection]: 'true' }
  const keeps =
    'user "alice" cannot keep this namespace beyond its end: annotation borough.dev/deletion-protection needs the ' +
    'verb "extend" on it'
  const day = template('day', '24h')

  test.each<[string, KubeObject, KubeObject | undefined]>([
    ['of one that is there', namespace(both), namespace({ [expiresAt]: at(1) })],
    ['of one that a template comes to select', namespace(both, { labels: { day: '' } }), namespace(both)],
    ['of a new one that a template selects', namespace(both, { labels: { day: '' } }), undefined],
  ])('needs a right: %s', (_, next, old) => {
    const about = old === undefined ? { next } : { next, old }
    const rights = new Rights(right('extend'))
    validate(about, [day], rights)
    expect(rights.asked).toEqual([`alice: ${right('extend')}`])
    expect(thrown(() => validate(about, [day]))).toEqual(denied(keeps))
  })

  test('needs none where it stays, or is that of a new namespace', () => {
    const rights = new Rights()
    validate({ next: namespace({ ...both, a: 'b' }), old: namespace(both) }, [], rights)
    validate({ next: namespace(both) }, [], rights)
    expect(rights.asked).toEqual([])
  })
})

describe('what is stored of it', () => {
  const settle = (next: KubeObject, old: KubeObject | undefined, templates: readonly ExpiringTemplate[] = []) =>
    settledExpiry(deps(templates))(next as never, old).metadata.annotations

  test.each<[string, KubeObject, KubeObject | undefined, readonly ExpiringTemplate[], unknown]>([
    ['nothing where nothing is said', namespace({ a: 'b' }), undefined, [], { a: 'b' }],
    [
      'the end that a lifetime comes to',
      namespace({ [ttl]: '2h' }),
      undefined,
      [],
      { [ttl]: '2h', [expiresAt]: at(2) },
    ],
    [
      'the end that a template gives',
      namespace(undefined, { labels: { day: '' } }),
      undefined,
      [template('day', '24h')],
      { [expiresAt]: at(24), [source]: 'day' },
    ],
    ['no source but the template’s', namespace({ [source]: 'mine' }), undefined, [], {}],
    [
      'the source that the answer before named, where a webhook is asked again',
      namespace({ [expiresAt]: at(24), [source]: 'day' }, { labels: { day: '' } }),
      undefined,
      [template('day', '24h')],
      { [expiresAt]: at(24), [source]: 'day' },
    ],
    [
      'the same where a label brings it to the template',
      namespace({ [expiresAt]: at(24), [source]: 'day' }, { labels: { day: '' } }),
      namespace(),
      [template('day', '24h')],
      { [expiresAt]: at(24), [source]: 'day' },
    ],
    [
      'no source that gives another end',
      namespace({ [expiresAt]: at(25), [source]: 'day' }, { labels: { day: '' } }),
      undefined,
      [template('day', '24h')],
      { [expiresAt]: at(25) },
    ],
    [
      'no source of another name',
      namespace({ [expiresAt]: at(24), [source]: 'mine' }, { labels: { day: '' } }),
      undefined,
      [template('day', '24h')],
      { [expiresAt]: at(24) },
    ],
    [
      'the source as long as the end stays',
      namespace({ [expiresAt]: at(24) }, { labels: { day: '' } }),
      namespace({ [expiresAt]: at(24), [source]: 'day' }, { labels: { day: '' } }),
      [],
      { [expiresAt]: at(24), [source]: 'day' },
    ],
  ])('is %s', (_, next, old, templates, stored) => expect(settle(next, old, templates) ?? {}).toEqual(stored))
})
