/** What an edit would do to the namespaces that exist, before it is saved. */
import type { PlannedObject, TemplatePlan } from '../../../apis/templates/plan.ts'
import { groupPlan, type PlanGroup } from './plan-groups.ts'

const words = {
  create: 'create',
  change: 'change',
  prune: 'delete',
  orphan: 'let go of',
  refuse: 'refused',
  skip: 'left out',
} as const

export function PlanPanel({ plan }: { readonly plan: TemplatePlan }) {
  const { matched, namespaces, stop, isNew, warnings = [] } = plan
  const groups = groupPlan(plan)
  return (
    <section class="panel plan" aria-labelledby="plan" aria-live="polite">
      <h2 id="plan">
        {isNew ? 'The new template selects' : 'It selects'} {countOf(matched)}, {changeText(namespaces.length)}
      </h2>
      {stop === undefined ? null : <p class="notice wait">It would stop before all of this: {stop}.</p>}
      {warnings.map((text) => (
        <p key={text} class="notice">
          Warning: {text}
        </p>
      ))}
      {groups.map((group) => (
        <Group key={group.namespaces[0]} group={group} />
      ))}
    </section>
  )
}

export const countOf = (n: number): string => `${n.toLocaleString('en')} namespace${n === 1 ? '' : 's'}`
const changeText = (changed: number): string =>
  changed === 0 ? 'and nothing would change' : `and ${countOf(changed)} would change`

const namedNamespaces = 12

function Group({ group: { namespaces, objects } }: { readonly group: PlanGroup }) {
  const named = namespaces.slice(0, namedNamespaces)
  return (
    <article class="plan-group">
      <h3>
        In {countOf(namespaces.length)}: <span class="muted">{named.join(', ')}</span>
        {namespaces.length > named.length ? (
          <details>
            <summary>and {namespaces.length - named.length} more</summary>
            {namespaces.slice(namedNamespaces).join(', ')}
          </details>
        ) : null}
      </h3>
      <ul class="diff">
        {objects.map((object) => (
          <Planned key={`${object.action} ${object.object}`} planned={object} />
        ))}
      </ul>
    </article>
  )
}

function Planned({
  planned: { object, action, differences = [], reason, message },
}: {
  readonly planned: PlannedObject
}) {
  return (
    <li class={action}>
      <span class="action">{words[action]}</span> <strong>{object}</strong>
      {reason === undefined ? null : (
        <span>
          {' '}
          {reason}: {message}
        </span>
      )}
      {differences.length === 0 ? null : (
        <dl>
          {differences.map(({ path, before, after }) => (
            <div key={path}>
              <dt>{path}</dt>
              <dd>
                {before === undefined ? null : <del>{JSON.stringify(before)}</del>}
                {after === undefined ? null : <ins>{JSON.stringify(after)}</ins>}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  )
}
