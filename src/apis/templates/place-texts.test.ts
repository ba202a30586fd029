/** The texts in which namespaces that are alike differ: taken out of a question, put into another one's answer. */
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../kube/types.ts'
import { PlaceTexts } from './place-texts.ts'

const namespace = (name: string, annotations: Record<string, string> = {}): Pick<KubeObject, 'metadata'> => ({
  metadata: { name, annotations },
})
const creator = (name: string) => ({ 'authorization.k8s.io/creator': name })
const owner = (name: string) => ({ 'borough.dev/owner': name })
const [one, two, three] = ['\u0001', '\u0002', '\u0003']
const alice = new PlaceTexts(namespace('dev', { ...creator('alice'), ...owner('bob') }))

describe('taken out are', () => {
  test.each<{ name: string; json: string; text: string; marks: number[] }>([
    { name: 'the name of the namespace', json: '"dev"', text: `"${one}"`, marks: [0] },
    { name: 'its owner', json: '"bob"', text: `"${two}"`, marks: [1] },
    { name: 'its creator', json: '"alice"', text: `"${three}"`, marks: [2] },
    {
      name: 'all of them, wherever they stand',
      json: '"dev/alice","dev"',
      text: `"${one}/${three}","${one}"`,
      marks: [0, 2],
    },
    { name: 'parts between hyphens', json: '"a-dev-b","dev-"', text: `"a-${one}-b","${one}-"`, marks: [0] },
    { name: 'no part of a word, at its end', json: '"mydev"', text: '"mydev"', marks: [] },
    { name: 'no part of a word, at its beginning', json: '"developer"', text: '"developer"', marks: [] },
    { name: 'nothing beside a digit', json: '"dev1" "1dev"', text: '"dev1" "1dev"', marks: [] },
    { name: 'what follows a line break', json: JSON.stringify('a\ndev'), text: `"a\\n${one}"`, marks: [0] },
    {
      name: 'no part of a word in a later line',
      json: JSON.stringify('a\n mydev'),
      text: JSON.stringify('a\n mydev'),
      marks: [],
    },
    { name: 'what follows a word in n', json: '"a ndev n dev"', text: `"a ndev n ${one}"`, marks: [0] },
    { name: 'what stands at the very beginning', json: 'dev', text: one, marks: [0] },
    { name: 'nothing of what is not there', json: '"prod"', text: '"prod"', marks: [] },
  ])('$name', ({ json, text, marks }) => expect(alice.takeOut(json)).toEqual({ text, marks }))

  test('no text twice: an owner who is the creator, or has the name of the namespace, is the first', () => {
    expect(new PlaceTexts(namespace('dev', creator('alice'))).takeOut('"alice"')).toEqual({
      text: `"${two}"`,
      marks: [1],
    })
    const same = new PlaceTexts(namespace('dev', { ...creator('alice'), ...owner('dev') }))
    expect(same.takeOut('"dev" "alice"')).toEqual({ text: `"${one}" "${three}"`, marks: [0, 2] })
    expect(same.lengthsOf([0, 1, 2])).toEqual([3, 0, 5])
  })

  test('nothing where there is no creator', () => {
    const nobodys = new PlaceTexts(namespace('dev'))
    expect(nobodys.takeOut('"" "dev"')).toEqual({ text: `"" "${one}"`, marks: [0] })
    expect(nobodys.lengthsOf([0, 1, 2])).toEqual([3, 0, 0])
  })
})

test('what is put in is that of the other namespace, as JSON writes it', () => {
  const other = new PlaceTexts(namespace('prod', { ...creator('Zoë "Z"'), ...owner('ops') }))
  const { text } = alice.takeOut('{"a":"dev, alice, bob, dev"}')
  expect(other.putIn(text)).toBe('{"a":"prod, Zoë \\"Z\\", ops, prod"}')
  expect(alice.putIn(text)).toBe('{"a":"dev, alice, bob, dev"}')
  expect(other.takeOut(other.putIn(text)).text).toBe(text)
})

test('what is put in is put in as it is: no part of it stands for anything else', () => {
  const odd = new PlaceTexts(namespace('dev', { ...creator("$$ $& $'"), ...owner('pay$`team') }))
  const { text } = alice.takeOut('{"a":"alice of bob"}')
  expect(odd.putIn(text)).toBe(`{"a":"$$ $& $' of pay$\`team"}`)
  expect(odd.own()).toEqual(['dev', 'pay$`team', "$$ $& $'"])
})

test.each(['after', 'kind', 'action', 'change'])('who is called %s, a word of kept answers, is asked about', (word) => {
  const json = `{"${word}":{"a":"${word}"}}`
  expect(new PlaceTexts(namespace('dev', owner(word))).takeOut(json)).toEqual({ text: json, marks: [] })
})

describe('names have one shape', () => {
  const shape = (name: string): readonly string[] => new PlaceTexts(namespace(name)).shapesOf([0])

  test.each([
    ['dev', 'prod'],
    ['dev-1', 'my-2'],
    ['a.b', 'c.d'],
    ['Dev-A', 'Xev-B'],
    ['d-1v', 'd1-v'],
  ])('%s and %s', (a, b) => expect(shape(a)).toEqual(shape(b)))

  test.each([
    ['dev', 'dev1'],
    ['dev', '1dev'],
    ['dev', 'd1v'],
    ['dev', 'Dev'],
    ['dev', 'd-v'],
    ['a.b', 'a-b'],
    ['', 'a'],
  ])('but not %s and %s', (a, b) => expect(shape(a)).not.toEqual(shape(b)))

  test('each of them has its own', () => expect(alice.shapesOf([2, 0])).toEqual(['2aaa', '0aaa']))
})
