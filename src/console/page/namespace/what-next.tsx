/** Below a refusal: whom to ask, and the commands to ask with. */
import type { AccessAnswer, Question } from '../../../apis/rbac/why-denied.ts'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Words } from '../widgets/words.tsx'
import { type Binder, canICommand, grantCommand } from './next-step.ts'

interface WhatNextProps {
  readonly question: Question
  readonly answer: AccessAnswer
  readonly owner: string
  readonly binders: readonly Binder[]
}

const mostNamed = 5

export function WhatNext({ question, answer, owner, binders }: WhatNextProps) {
  const { explanation, user } = answer
  // A user who is refused it can't give it to themselves.
  const others = binders.filter(({ subject }) => subject !== `User ${user.username}`)
  const more = others.length - mostNamed
  const hasOwner = owner !== '' && owner !== user.username
  return (
    <>
      <h3>What to do next</h3>
      {others.length === 0 && !hasOwner ? (
        <p>You may not see who can bind roles here: ask the person who gave you this namespace, or an administrator.</p>
      ) : (
        <>
          <p>Ask one of these; there may be others whom you may not see:</p>
          <ul class="rules">
            {hasOwner ? (
              <li>
                <Words text={owner} />, the owner of the namespace
              </li>
            ) : null}
            {others.slice(0, mostNamed).map(({ subject, through }) => (
              <li key={subject}>
                <Words text={subject} />, who may bind roles here by <Words text={through} />
              </li>
            ))}
            {more > 0 ? <li>and {more.toLocaleString('en')} more</li> : null}
          </ul>
        </>
      )}
      <p>They can allow it with</p>
      <CopyCommand command={grantCommand(answer, explanation?.suggested)} />
      <p>{question.subject === undefined ? 'Afterwards ask again, here or with' : 'That user asks again with'}</p>
      <CopyCommand command={canICommand(question)} />
    </>
  )
}
