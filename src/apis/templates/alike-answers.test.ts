/** When the answer that one place was given stands for another. */
import { expect, test } from 'vitest'
import { AlikeAnswers, type Asking } from './alike-answers.ts'

/** Asks the same in turn until it is answered from memory, or `most` times; answers how often it was asked. */
async function timesAsked(given: Partial<Asking<string>>, most = 10): Promise<number> {
  const answers = new AlikeAnswers(3)
  let asked = 0
  const ask = async (): Promise<string> => `answer ${++asked}`
  const common = { said: () => '', keep: String, share: String, lengths: [], texts: [] }
  const how: Asking<string> = { ask, ...common, ...given }
  for (let i = 0; i < most; i++) await answers.of('question', how)
  return asked
}

test('what three answered alike the others are told, as the first was', async () => {
  expect(await timesAsked({})).toBe(3)
  expect(await timesAsked({ share: (kept) => String(expect(kept).toBe('answer 1')) })).toBe(3)
})

test.each<{ name: string; given: Partial<Asking<string>> }>([
  { name: 'they answered otherwise', given: { said: (answer) => answer } },
  { name: 'an answer stands for no other', given: { said: () => undefined } },
  { name: 'what is kept is not believed any more', given: { isBelieved: () => false } },
])('all are asked where $name', async ({ given }) => expect(await timesAsked(given)).toBe(10))

test('a question is not alike any more once it was refused, or answered otherwise', async () => {
  const answers = new AlikeAnswers(1)
  const how = { said: String, keep: String, share: String, lengths: [], texts: [] }
  expect(answers.isAlike('never asked')).toBe(true)
  await answers.of('alike', { ...how, ask: async () => 'a' })
  expect(answers.isAlike('alike')).toBe(true)
  const refused = answers.of('refused', { ...how, ask: () => Promise.reject(new Error('no')) })
  await expect(refused).rejects.toThrow('no')
  expect(answers.isAlike('refused')).toBe(false)
  await answers.of('other', { ...how, lengths: [1], ask: async () => 'a' })
  await answers.of('other', { ...how, lengths: [2], ask: async () => 'b' })
  expect(answers.isAlike('other')).toBe(false)
})

test('a text that all had in common is another one only after a place with another answered alike', async () => {
  const answers = new AlikeAnswers(2)
  let asked = 0
  const askOf = async (text: string, said = ''): Promise<string> => {
    const ask = async (): Promise<string> => `answer ${++asked}`
    const how = { ask, said: () => said, keep: String, share: String, lengths: [], texts: ['same', text] }
    return answers.of('question', how)
  }
  for (const text of ['bot', 'bot', 'bot', 'bot']) await askOf(text)
  expect(asked).toBe(2)
  for (const text of ['ann', 'ann', 'bert', 'bot']) await askOf(text)
  expect(asked).toBe(3)

  const others = new AlikeAnswers(1)
  const how = { ask: async () => 'a', keep: String, share: String, lengths: [] }
  await others.of('question', { ...how, said: () => 'by chance', texts: ['bot'] })
  await others.of('question', { ...how, said: () => 'none', texts: ['ann'] })
  expect(others.isAlike('question')).toBe(false)
})
