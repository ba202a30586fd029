import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { createCommand, type Draft, emptyDraft, expiryText, keyAt, namespaceOf, placeOf } from './draft.ts'

const draft = (part: Partial<Draft>): Draft => ({ ...emptyDraft, name: 'team-a', ...part })

test.each([
  { given: {}, labels: undefined, annotations: undefined },
  { given: { labels: 'env=dev\n a = b=c \n\n' }, labels: { env: 'dev', a: 'b=c' }, annotations: undefined },
  { given: { owner: ' alice ' }, labels: undefined, annotations: { 'borough.dev/owner': 'alice' } },
  { given: { end: 'after', ttl: '24h' }, labels: undefined, annotations: { 'borough.dev/ttl': '24h' } },
  // What stands in a field that is not shown is not said.
  { given: { end: 'unsaid', ttl: '24h', expires: '2030-01-01T00:00' }, labels: undefined, annotations: undefined },
  {
    given: { end: 'at', expires: '2030-01-01T00:00' },
    labels: undefined,
    annotations: { 'borough.dev/expires-at': expiryText('2030-01-01T00:00') },
  },
  {
    given: {
      chosen: { kind: 'team' },
      given: {
        [placeOf('labels', 'example.com/size')]: 'large',
        [placeOf('annotations', 'example.com/cost')]: '12',
        [placeOf('labels', 'example.com/none')]: '',
      },
    },
    labels: { kind: 'team', 'example.com/size': 'large' },
    annotations: { 'example.com/cost': '12' },
  },
] as const)('$given', ({ given, labels, annotations }) => {
  expect(namespaceOf(draft(given)).metadata).toEqual({
    name: 'team-a',
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  })
})

test('a command makes the same namespace, whatever was typed', () => {
  expect(createCommand(emptyDraft)).toBe('kubectl create namespace NAME')
  expect(createCommand(draft({ name: 'a b;c' }))).toBe("kubectl create namespace 'a b;c'")
  const object = JSON.stringify(namespaceOf(draft({ owner: "o'neill" }))).replace("'", `'"'"'`)
  expect(createCommand(draft({ owner: "o'neill" }))).toBe(`printf %s '${object}' | kubectl create -f -`)
})

test.each(['sh', 'bash', 'zsh', 'fish'].filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0))(
  'in %s a backslash stays one',
  (shell) => {
    const typed = draft({ owner: 'a\\new', annotations: 'x=\\u0022,\\\\ "' })
    const command = createCommand(typed).replace('kubectl create -f -', 'cat')
    expect(JSON.parse(spawnSync(shell, ['-c', command], { encoding: 'utf8' }).stdout)).toEqual(namespaceOf(typed))
  },
)

test('a place names a label or an annotation, and nothing else does', () => {
  expect(keyAt('metadata.labels[a.b/c]')).toEqual({ part: 'labels', key: 'a.b/c' })
  expect(keyAt('metadata.annotations[a]')).toEqual({ part: 'annotations', key: 'a' })
  expect(keyAt('metadata.name')).toBeUndefined()
  expect(keyAt('spec.finalizers[0]')).toBeUndefined()
})
