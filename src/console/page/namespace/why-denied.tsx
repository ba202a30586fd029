/** `borough why-denied` as a form: may this user do that here, and if not, what would allow it. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { type AccessAnswer, type Question, whyDenied } from '../../../apis/rbac/why-denied.ts'
import { bindingName, type RefusalExplanation, toWhom } from '../../../authz/explain-refusal.ts'
import { isForbidden } from '../../../kube/status-error.ts'
import { useCluster } from '../use-cluster.ts'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { Words } from '../widgets/words.tsx'
import { type Binder, canICommand } from './next-step.ts'
import { WhatNext } from './what-next.tsx'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const
const patienceMs = 30_000

interface Form {
  readonly verb: string
  readonly target: string
  readonly name: string
  readonly user: string
  readonly groups: string
}

interface WhyDeniedProps {
  readonly namespace: string
  /** Whom the namespace is for; '' = not known. */
  readonly owner: string
  readonly binders: readonly Binder[]
}

interface Asked {
  readonly question: Question
  readonly answer: AccessAnswer | Error
}

export function WhyDenied({ namespace, owner, binders }: WhyDeniedProps) {
  const { client } = useCluster()
  const form = useSignal<Form>({ verb: 'create', target: 'deployments', name: '', user: '', groups: '' })
  const asked = useSignal<Asked | 'asking' | undefined>(undefined)
  /** Counts questions: an answer that comes after the next question was put is not shown. */
  const lastQuestion = useRef(0)
  const change = (part: Partial<Form>): void => {
    form.value = { ...form.value, ...part }
  }
  const ask = async (): Promise<void> => {
    const { verb, target, name, user, groups } = form.value
    const subject = user === '' ? undefined : { user, groups: groups.split(/[\s,]+/).filter((g) => g !== '') }
    const question = { verb, target, name, namespace, subject }
    const number = ++lastQuestion.current
    asked.value = 'asking'
    const answer = await whyDenied(client, question, AbortSignal.timeout(patienceMs)).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    )
    if (number === lastQuestion.current) asked.value = { question, answer }
  }
  return (
    <section class="panel" aria-labelledby="why-denied">
      <h2 id="why-denied">May one do that here?</h2>
      <form
        class="question"
        onSubmit={(event) => {
          event.preventDefault()
          void ask()
        }}
      >
        <label class="field">
          <span>Verb</span>
          <select value={form.value.verb} onChange={(e) => change({ verb: e.currentTarget.value })}>
            {verbs.map((verb) => (
              <option key={verb}>{verb}</option>
            ))}
          </select>
        </label>
        <TextField title="Resource" value={form.value.target} onInput={(target) => change({ target })} />
        <TextField title="Name" hint="any" value={form.value.name} onInput={(name) => change({ name })} />
        <TextField title="User" hint="yourself" value={form.value.user} onInput={(user) => change({ user })} />
        <TextField title="Groups" hint="none" value={form.value.groups} onInput={(groups) => change({ groups })} />
        <button type="submit" class="button primary">
          Ask
        </button>
      </form>
      <div aria-live="polite">
        {asked.value === undefined ? null : asked.value === 'asking' ? (
          <p class="muted">Asking the server…</p>
        ) : (
          <Answer {...asked.value} owner={owner} binders={binders} />
        )}
      </div>
    </section>
  )
}

function Answer({ question, answer, ...known }: Asked & Pick<WhyDeniedProps, 'owner' | 'binders'>) {
  if (!(answer instanceof Error)) {
    return (
      <Verdict answer={answer}>
        {answer.allowed ? null : <WhatNext question={question} answer={answer} {...known} />}
      </Verdict>
    )
  }
  return (
    <>
      <Refusal error={answer} />
      {question.subject !== undefined && isForbidden(answer) ? (
        <>
          <p>
            You may not ask what others may do. <Words text={question.subject.user} /> can ask it:
          </p>
          <CopyCommand command={canICommand(question)} />
        </>
      ) : null}
    </>
  )
}

interface TextFieldProps {
  readonly title: string
  readonly hint?: string
  readonly value: string
  readonly onInput: (value: string) => void
}

function TextField({ title, hint = '', value, onInput }: TextFieldProps) {
  return (
    <label class="field">
      <span>{title}</span>
      <input
        value={value}
        placeholder={hint}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  )
}

interface VerdictProps {
  readonly answer: AccessAnswer
  readonly children: ComponentChildren
}

function Verdict({ answer, children }: VerdictProps) {
  const { user, attributes, allowed, reason, explanation } = answer
  const what = attributes.path ?? `${attributes.resource} ${attributes.name}`.trim()
  return (
    <div class={`notice verdict ${allowed ? 'yes' : 'no'}`}>
      <div>
        <strong>
          {user.username === '' ? 'You' : user.username} {allowed ? 'may' : 'may not'} {attributes.verb} {what}.
        </strong>
        <p>
          The server says: {allowed ? 'allowed' : 'not allowed'}
          {reason === '' ? '.' : ': '}
          <Words text={reason} />
        </p>
        {explanation === undefined ? null : <WhatWould explanation={explanation} />}
        {children}
      </div>
    </div>
  )
}

const mostListed = 8

function WhatWould({ explanation }: { readonly explanation: RefusalExplanation }) {
  const { bindings, roles, suggested, broken, unread } = explanation
  const parts = [
    {
      title: 'Bindings that refer to a role which is not there',
      items: broken.map((b) => `${bindingName(b)} of ${b.role.kind} ${b.role.name}`),
    },
    {
      title: 'Bindings that allow it to others',
      items: bindings.map((b) => `${bindingName(b)} of ${b.role.kind} ${b.role.name}: ${toWhom(b)}`),
    },
    { title: 'Roles that allow it, narrowest first', items: roles.map(({ kind, name }) => `${kind} ${name}`) },
    { title: 'Not read, so not considered', items: unread },
  ]
  return (
    <>
      {suggested === undefined ? null : (
        <p>
          A binding of {suggested.kind} {suggested.name} would allow it.
        </p>
      )}
      {parts
        .filter(({ items }) => items.length > 0)
        .map(({ title, items }) => (
          <div key={title}>
            <h3>{title}</h3>
            <ul class="rules">
              {items.slice(0, mostListed).map((item) => (
                <li key={item}>
                  <Words text={item} />
                </li>
              ))}
              {items.length > mostListed ? <li>and {items.length - mostListed} more</li> : null}
            </ul>
          </div>
        ))}
    </>
  )
}
