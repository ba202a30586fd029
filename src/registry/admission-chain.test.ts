import { describe, expect, it } from 'vitest'
import type { AdmissionPlugin, Attributes } from '../admission/admission.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { Unvalidated } from '../kube/types.ts'
import { unvalidated } from '../kube/unvalidated.ts'
import { AdmissionChain } from './admission-chain.ts'

const attributes: Attributes<Unvalidated> = {
  operation: 'CREATE',
  type: {} as ResourceType,
  subresource: '',
  namespace: '',
  name: 'a',
  object: unvalidated({ metadata: { name: 'a' } }),
  oldObject: undefined,
  user: { username: 'alice', groups: [] },
  dryRun: false,
  options: {},
  warn() {},
  annotate() {},
  caller: { signal: new AbortController().signal },
}

interface Given {
  readonly name: string
  /** In which of its turns it asks for a second round. */
  readonly asksIn?: readonly number[]
  readonly mayAsk?: boolean
  readonly isAsynchronous?: boolean
  readonly isConcerned?: boolean
}

/** The names of the plugins in the order of their turns, `'` marks all from the second round on. */
async function turns(given: readonly Given[]): Promise<string> {
  const seen: string[] = []
  const plugins = given.map(({ name, asksIn = [], mayAsk, isAsynchronous, isConcerned = true }): AdmissionPlugin => {
    let turn = 0
    return {
      name,
      ...(mayAsk ? { mayAskForSecond: true } : {}),
      handles: () => isConcerned,
      mutate(a, round) {
        seen.push(round.isSecond ? `${name}'` : name)
        if (asksIn.includes(++turn)) round.askForSecond()
        const object = unvalidated({ metadata: { name: `${a.object?.metadata.name}${name}` } })
        return isAsynchronous ? Promise.resolve(object) : object
      },
    }
  })
  const made = await new AdmissionChain(plugins).mutate(attributes)
  // Each sees what the one before it made, whichever round it is.
  expect(made?.metadata.name).toBe(`a${seen.join('').replaceAll("'", '')}`)
  return seen.join(' ')
}

describe('the rounds of mutation', () => {
  const rows: readonly { readonly name: string; readonly given: readonly Given[]; readonly want: string }[] = [
    {
      name: 'everybody has one turn if nobody asks for more',
      given: [{ name: 'x' }, { name: 'p', mayAsk: true }, { name: 'y' }],
      want: 'x p y',
    },
    {
      name: 'a second round comes after all that may ask have had their first turn',
      given: [{ name: 'x' }, { name: 'p', mayAsk: true, asksIn: [1] }, { name: 'w', mayAsk: true }, { name: 'y' }],
      want: "x p w x' p' w' y'",
    },
    {
      name: 'the last that may ask can ask as well',
      given: [
        { name: 'p', mayAsk: true },
        { name: 'w', mayAsk: true, asksIn: [1], isAsynchronous: true },
        { name: 'y' },
      ],
      want: "p w p' w' y'",
    },
    {
      name: 'there is no third round',
      given: [{ name: 'p', mayAsk: true, asksIn: [1, 2], isAsynchronous: true }, { name: 'y' }],
      want: "p p' y'",
    },
    {
      name: 'the last that may ask need not be concerned',
      given: [{ name: 'p', mayAsk: true, asksIn: [1] }, { name: 'w', mayAsk: true, isConcerned: false }, { name: 'y' }],
      want: "p p' y'",
    },
  ]
  it.each(rows)('$name', async ({ given, want }) => {
    expect(await turns(given)).toBe(want)
  })
})
