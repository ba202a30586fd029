/** `borough why` as a view: why a namespace is not ready, or not gone, and what helps, with a button if one may. */
import { type Explanation, explainNamespace, type Obstacle } from '../../../apis/namespaces/explain.ts'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import { useMayAll } from '../access-review.ts'
import { rowOf } from '../namespaces/namespace-row.ts'
import { useAnswer } from '../use-answer.ts'
import { useCluster } from '../use-cluster.ts'
import { ActionButton } from '../widgets/action-button.tsx'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Moment } from '../widgets/moment.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { useTick } from '../widgets/use-tick.ts'
import { Words } from '../widgets/words.tsx'
import { type HelpingHand, helpingHand } from './helping-hand.ts'

/** What holds a namespace is told by its content too, which is not watched here. */
const askAgainMs = 3000

export function Why({ namespace }: { readonly namespace: Namespace }) {
  const cluster = useCluster()
  const { name = '', resourceVersion } = namespace.metadata
  const isHeld = namespace.metadata.deletionTimestamp !== undefined || namespace.spec?.initializers !== undefined
  const tick = useTick(isHeld ? askAgainMs : undefined)
  const { value, error } = useAnswer(
    (signal) => explainNamespace(cluster.client, name, cluster.clock, signal),
    [cluster, name, resourceVersion, tick],
  )
  return (
    <section class="panel why" aria-labelledby="why" aria-live="polite">
      <h2 id="why">{titleOf(value)}</h2>
      {error === undefined ? null : <Refusal error={error} />}
      {value === undefined ? null : <Explained explanation={value} isProtected={rowOf(namespace).isProtected} />}
    </section>
  )
}

function titleOf(explanation: Explanation | undefined): string {
  if (explanation === undefined) return 'State'
  if (!explanation.held) return explanation.obstacles.length > 0 ? 'Ready, but it could not be deleted' : 'Ready'
  return explanation.state === 'Terminating' ? 'Why it is not gone' : 'Why it is not ready'
}

interface ExplainedProps {
  readonly explanation: Explanation
  readonly isProtected: boolean
}

function Explained({ explanation, isProtected }: ExplainedProps) {
  const { held, since, obstacles, left, lacking = [], reports, notes } = explanation
  return (
    <>
      {!held && obstacles.length === 0 ? (
        <p class="muted">Nothing holds it up{isProtected ? '.' : ', and nothing would hold its deletion.'}</p>
      ) : null}
      {since === undefined ? null : (
        <p class="muted">
          {explanation.state} for <Moment at={since} />
          {left === undefined ? null : `, ${left.total} objects left`}
        </p>
      )}
      {obstacles.map((obstacle) => (
        <ObstacleCard key={obstacle.what} obstacle={obstacle} namespace={explanation.namespace} left={left} />
      ))}
      {reports.map(({ type, message }) => (
        <p class="notice" key={type}>
          <span>
            {/* A condition that is named while it is False reads as if it were met. */}
            <strong>{type === 'Populated' ? 'Its templates are incomplete' : type}</strong> <Words text={message} />
          </span>
        </p>
      ))}
      {lacking.map((obstacle) => (
        <ObstacleCard key={obstacle.what} obstacle={obstacle} namespace={explanation.namespace} left={left} />
      ))}
      {left?.unread.map(({ resource, why }) => (
        <p class="notice" key={resource}>
          {resource} could not be read: <Words text={why} />
        </p>
      ))}
      {notes.map((note) => (
        <p class="muted note" key={note}>
          <Words text={note} />
        </p>
      ))}
    </>
  )
}

interface ObstacleCardProps {
  readonly obstacle: Obstacle
  readonly namespace: string
  readonly left: Explanation['left']
}

function ObstacleCard({ obstacle, namespace, left }: ObstacleCardProps) {
  const { what, who, since, until, progress, helps } = obstacle
  return (
    <article class="obstacle">
      <h3>
        <Words text={what} />
      </h3>
      <dl class="facts">
        <div>
          <dt>Who must act</dt>
          <dd>
            <Words text={who} />
          </dd>
        </div>
        {since === undefined ? null : (
          <div>
            <dt>For</dt>
            <dd>
              <Moment at={since} />
            </dd>
          </div>
        )}
        {until === undefined ? null : (
          <div>
            <dt>Until</dt>
            <dd>
              <Moment at={until} ahead />
            </dd>
          </div>
        )}
        {progress === undefined ? null : (
          <div>
            <dt>It says</dt>
            <dd>
              <Words text={progress} />
            </dd>
          </div>
        )}
      </dl>
      {helps.map(({ command, effect }) => {
        const hand = helpingHand(command, namespace, left)
        return (
          <div class="help" key={command}>
            <p>{effect}</p>
            {hand === undefined ? null : <HandButton hand={hand} />}
            <CopyCommand command={command} />
          </div>
        )
      })}
    </article>
  )
}

/** Only for users whom the server would let. */
function HandButton({ hand }: { readonly hand: HelpingHand }) {
  const cluster = useCluster()
  return useMayAll(hand.needs) ? <ActionButton title={hand.title} isLasting act={() => hand.act(cluster)} /> : null
}
