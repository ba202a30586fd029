/** The form of a new namespace: its name, what its templates ask for, for whom it is, and until when. */

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { expiresAtAnnotation, ttlAnnotation } from '../../../apis/expiry/types.ts'
import { type NamespaceTemplate, ownerKey } from '../../../apis/templates/types.ts'
import { parseJsonText } from '../../../base/parse-json-text.ts'
import { Link } from '../router.tsx'
import type { AskedField } from './asked-fields.ts'
import { type Draft, type DraftEnd, keyAt, pairsIn, placeOf } from './draft.ts'

interface CreateFormProps {
  readonly draft: Draft
  readonly asked: readonly AskedField[]
  /** Templates that can be chosen: they select by labels. */
  readonly choosable: readonly NamespaceTemplate[]
  /** There may be templates, and the user may not see them. */
  readonly isWithoutChoice: boolean
  /** What the server says of fields, by `placeOf` and `metadata.name`. */
  readonly faults: ReadonlyMap<string, readonly string[]>
  readonly onChange: (part: Partial<Draft>) => void
  readonly onSubmit: () => void
}

export function CreateForm({ draft, asked, choosable, isWithoutChoice, faults, onChange, onSubmit }: CreateFormProps) {
  const name = useRef<HTMLInputElement>(null)
  useEffect(() => name.current?.focus(), [])
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault()
        if (draft.name !== '') onSubmit()
      }}
    >
      <Field title="Name" faults={faults.get('metadata.name')}>
        {(said) => (
          <input
            {...said}
            ref={name}
            required
            maxLength={63}
            autocomplete="off"
            spellcheck={false}
            value={draft.name}
            onInput={(e) => onChange({ name: e.currentTarget.value })}
          />
        )}
      </Field>
      {isWithoutChoice ? (
        <p class="muted">
          The server does not show you its templates, and labels decide which of them the namespace gets. Ask an
          administrator which labels to set, below.
        </p>
      ) : null}
      {choosable.length === 0 ? null : <Choice draft={draft} choosable={choosable} onChange={onChange} />}
      {asked.map((field) => (
        <Asked
          key={field.place}
          field={field}
          value={draft.given[field.place] ?? ''}
          faults={faults.get(field.place)}
          onInput={(value) => onChange({ given: { ...draft.given, [field.place]: value } })}
        />
      ))}
      <Field
        title="Owner"
        hint="A user or group, given rights by its templates. Naming another needs the verb assign-owner."
        faults={faults.get(placeOf('annotations', ownerKey))}
      >
        {(said) => (
          <input
            {...said}
            autocomplete="off"
            spellcheck={false}
            placeholder="yourself"
            value={draft.owner}
            onInput={(e) => onChange({ owner: e.currentTarget.value })}
          />
        )}
      </Field>
      <End draft={draft} faults={endFaults(faults)} onChange={onChange} />
      <details open={draft.labels !== '' || draft.annotations !== ''}>
        <summary>Labels and annotations</summary>
        <PairsField part="labels" draft={draft} faults={faults} onChange={onChange} />
        <PairsField part="annotations" draft={draft} faults={faults} onChange={onChange} />
      </details>
      <div class="row">
        <button type="submit" class="button primary" disabled={draft.name === ''}>
          Create
        </button>
        <Link class="button" href="/namespaces">
          Cancel
        </Link>
      </div>
    </form>
  )
}

const endFaults = (faults: CreateFormProps['faults']): readonly string[] =>
  [expiresAtAnnotation, ttlAnnotation].flatMap((key) => faults.get(placeOf('annotations', key)) ?? [])

/** What an input says of its hint and its faults to screen readers. */
interface Said {
  readonly id: string
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: true
}

interface FieldProps {
  readonly title: string
  readonly hint?: string
  readonly faults?: readonly string[] | undefined
  readonly children: (said: Said) => ComponentChildren
}

/** The server's words stand at the field that they are about. */
function Field({ title, hint, faults = [], children }: FieldProps) {
  const id = useId()
  const isDescribed = hint !== undefined || faults.length > 0
  return (
    <div class="field">
      <label for={id}>{title}</label>
      {children({
        id,
        ...(isDescribed ? { 'aria-describedby': `${id}-said` } : {}),
        ...(faults.length > 0 ? { 'aria-invalid': true } : {}),
      })}
      <div id={`${id}-said`}>
        {hint === undefined ? null : <small>{hint}</small>}
        {faults.map((fault) => (
          <p class="fault" key={fault}>
            {fault}
          </p>
        ))}
      </div>
    </div>
  )
}

type PartProps = Pick<CreateFormProps, 'draft' | 'onChange'>

function Choice({ draft, choosable, onChange }: PartProps & Pick<CreateFormProps, 'choosable'>) {
  const key = JSON.stringify(draft.chosen)
  return (
    <Field
      title="Template"
      hint="A choice sets the labels by which that template selects. Others may select the namespace by its name."
    >
      {(said) => (
        <select
          {...said}
          value={key}
          onChange={({ currentTarget: { value } }) => onChange({ chosen: parseJsonText(value) as Draft['chosen'] })}
        >
          <option value="{}">none in particular</option>
          {choosable.map(({ metadata, spec }) => (
            <option key={metadata.name} value={JSON.stringify(spec?.namespaces?.labelSelector?.matchLabels ?? {})}>
              {metadata.name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface AskedProps {
  readonly field: AskedField
  readonly value: string
  readonly faults: readonly string[] | undefined
  readonly onInput: (value: string) => void
}

function Asked({ field, value, faults, onInput }: AskedProps) {
  const { title, choices, preset, isRequired, hints } = field
  const at = keyAt(field.place)
  const source = `${at?.part === 'annotations' ? 'annotation' : 'label'} ${at?.key}`
  return (
    <Field title={isRequired ? `${title} (required)` : title} hint={[source, ...hints].join('; ')} faults={faults}>
      {(said) =>
        choices === undefined ? (
          <input
            {...said}
            aria-required={isRequired}
            autocomplete="off"
            spellcheck={false}
            placeholder={preset}
            value={value}
            onInput={(e) => onInput(e.currentTarget.value)}
          />
        ) : (
          <select
            {...said}
            aria-required={isRequired}
            value={value}
            onChange={({ currentTarget }) => onInput(currentTarget.value)}
          >
            <option value="">{preset === '' ? 'not given' : `${preset} (default)`}</option>
            {choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        )
      }
    </Field>
  )
}

const ends: readonly { readonly end: DraftEnd; readonly title: string }[] = [
  { end: 'unsaid', title: 'as its templates say' },
  { end: 'after', title: 'after a time' },
  { end: 'at', title: 'at a time' },
]

function End({ draft, faults, onChange }: PartProps & { readonly faults: readonly string[] }) {
  const { end, ttl, expires } = draft
  return (
    <Field
      title="Expires"
      faults={faults}
      hint="Where neither you nor a template says when, it stays until it is deleted."
    >
      {(said) => (
        <div class="row">
          <select
            {...said}
            value={end}
            onChange={({ currentTarget: { value } }) => onChange({ end: value as DraftEnd })}
          >
            {ends.map(({ end: value, title }) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
          {end === 'after' ? (
            <input
              aria-label="Lives for"
              placeholder="24h"
              autocomplete="off"
              spellcheck={false}
              value={ttl}
              onInput={(e) => onChange({ ttl: e.currentTarget.value })}
            />
          ) : null}
          {end === 'at' ? (
            <input
              type="datetime-local"
              aria-label="Expires at"
              value={expires}
              onInput={(e) => onChange({ expires: e.currentTarget.value })}
            />
          ) : null}
        </div>
      )}
    </Field>
  )
}

const pairs = {
  labels: { title: 'Labels', hint: 'They decide which templates and policies are for it.', example: 'env=dev' },
  annotations: { title: 'Annotations', hint: 'What tools and people are told of it.', example: 'example.com/team=web' },
} as const

function PairsField({ part, draft, faults, onChange }: PartProps & Pick<CreateFormProps, 'faults'> & PartOf) {
  const { title, hint, example } = pairs[part]
  const typed = Object.keys(pairsIn(draft[part])).flatMap((key) =>
    (faults.get(placeOf(part, key)) ?? []).map((fault) => `${key}: ${fault}`),
  )
  return (
    <Field title={title} hint={hint} faults={[...typed, ...(faults.get(`metadata.${part}`) ?? [])]}>
      {(said) => (
        <textarea
          {...said}
          rows={2}
          spellcheck={false}
          placeholder={`${example}\none a line`}
          value={draft[part]}
          onInput={(e) => onChange({ [part]: e.currentTarget.value })}
        />
      )}
    </Field>
  )
}

interface PartOf {
  readonly part: keyof typeof pairs
}
