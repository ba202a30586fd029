/** What the user may do in a namespace: the server's own answer, which takes no right to read roles. */
import { useSignal } from '@preact/signals'
import { askRules } from '../access-review.ts'
import { useAnswer } from '../use-answer.ts'
import { useCluster } from '../use-cluster.ts'
import { Asking } from '../widgets/asking.tsx'
import { useFirst } from '../widgets/first.tsx'
import { Moment } from '../widgets/moment.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { Words } from '../widgets/words.tsx'
import { type OwnRule, ownRules, pathsText, type RulesAnswer, shortfall } from './own-rules.ts'

/** No watch tells of it: it is asked for when it is opened, and when the user asks again. */
export function OwnAccess({ namespace }: { readonly namespace: string }) {
  const cluster = useCluster()
  const round = useSignal(0)
  const { value, error, isPending } = useAnswer(
    async (signal) => {
      const answer = await askRules(cluster, namespace, signal)
      return { answer, rows: ownRules(answer.resourceRules ?? []), at: new Date(cluster.clock.now()).toISOString() }
    },
    [cluster, namespace, round.value],
  )
  return (
    <section class="panel" aria-labelledby="own-access">
      <h2 id="own-access">What you may do here</h2>
      <div class="row">
        <button
          type="button"
          class="button"
          aria-disabled={isPending}
          onClick={() => {
            if (!isPending) round.value += 1
          }}
        >
          Refresh
        </button>
        {value === undefined ? null : (
          <span class="muted">
            the server’s answer, age <Moment at={value.at} />
          </span>
        )}
      </div>
      {error === undefined || isPending ? null : <Refusal error={error} />}
      {value !== undefined ? (
        <Rules answer={value.answer} rows={value.rows} />
      ) : isPending ? (
        <Asking what="Asking…" />
      ) : null}
    </section>
  )
}

function Rules({ answer, rows }: { readonly answer: RulesAnswer; readonly rows: readonly OwnRule[] }) {
  const warning = shortfall(answer)
  const paths = pathsText(answer.nonResourceRules ?? [])
  return (
    <>
      {warning === undefined ? null : (
        <div class="notice wait" role="status">
          <div>
            <strong>{warning}</strong>
            {answer.evaluationError ? (
              <p>
                <Words text={answer.evaluationError} />
              </p>
            ) : null}
          </div>
        </div>
      )}
      {rows.length === 0 ? <p class="muted">Nothing that the server lists.</p> : <RulesTable rows={rows} />}
      {paths === '' ? null : (
        <p class="muted">
          In every namespace, these paths of the server: <Words text={paths} />
        </p>
      )}
    </>
  )
}

function RulesTable({ rows }: { readonly rows: readonly OwnRule[] }) {
  const { most, more } = useFirst(rows.length)
  return (
    <>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Resources</th>
            <th scope="col">Verbs</th>
            <th scope="col">Named</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map(({ key, resources, groups, verbs, names }) => (
            <tr key={key}>
              <th scope="row">
                <Words text={resources} />{' '}
                <span class="muted">
                  of <Words text={groups} />
                </span>
              </th>
              <td class="verbs">
                <Words text={verbs} />
              </td>
              <td>
                <Words text={names} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  )
}
