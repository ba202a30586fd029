/** What is rendered anywhere, by elements as the page makes them. */
import { Fragment, h } from 'preact'
import { expect, test } from 'vitest'
import { showHiddenCharacters } from './visible-page.ts'

showHiddenCharacters()
const turned = 'owner \u202eecila\u200b\u0000'
const told = 'owner \\u202eecila\\u200b\\u0000'

test('what hides or turns direction is told in texts and in what is read aloud', () => {
  const { props } = h('b', { title: turned, 'aria-label': turned, id: turned }, turned)
  expect(props).toEqual({ title: told, 'aria-label': told, id: turned, children: told })
  expect(h('b', null, turned, 1, turned).props.children).toEqual([told, 1, told])
  expect(h(Fragment, null, 'a', turned).props.children).toEqual(['a', told])
})

test('line breaks, letters of every script and what is chosen stay', () => {
  for (const text of ['a\n\tb', 'שלום', 'é日本😀']) expect(h('pre', null, text).props.children).toBe(text)
  expect(h('option', null, turned).props.children).toBe(turned)
  expect(h('option', { value: turned }, turned).props).toEqual({ value: turned, children: told })
})
