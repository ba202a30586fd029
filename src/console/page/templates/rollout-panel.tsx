/** The rollout of one template: how far it came, why it stands still, what helps, and the buttons that do it. */
import type { ComponentChildren } from 'preact'
import { isRolloutPaused } from '../../../apis/templates/match.ts'
import { rollbackTemplate } from '../../../apis/templates/rollback.ts'
import {
  applyAnnotation,
  confirmPruneAnnotation,
  type NamespaceTemplate,
  pauseRolloutAnnotation,
  type TemplateCondition,
  templateResource,
} from '../../../apis/templates/types.ts'
import { useMay } from '../access-review.ts'
import { Link } from '../router.tsx'
import { useCluster } from '../use-cluster.ts'
import { ActionButton } from '../widgets/action-button.tsx'
import { Moment } from '../widgets/moment.tsx'
import { ProgressBar, WordBadge } from './progress-bar.tsx'
import { conditionOf, isDisabled, isResumed, progressOf, progressText, stopOf, wordOf } from './template-state.ts'
import { pathOfTemplate } from './templates-view.tsx'

const disabledMeans =
  'Namespaces that exist keep what they have, as far as it has come, and new ones get nothing from it.'
const pausedMeans =
  'No further namespace is begun: those that wait keep what they have. New ones are given the newest all the same.'

interface PartProps {
  readonly template: NamespaceTemplate
}

export function Rollout({ template }: PartProps) {
  const isOff = isDisabled(template)
  const stop = isOff ? undefined : stopOf(template)
  return (
    <section class="panel" aria-labelledby="rollout">
      <h2 id="rollout">Rollout of generation {template.metadata.generation}</h2>
      {/* Above what changes while it goes: a button must not move from under a pointer. */}
      <Steps template={template} stop={stop} />
      <div role="status" class="rollout-said">
        {isOff ? (
          <p class="notice wait">
            <span>
              <strong>It is disabled.</strong> {disabledMeans}
            </span>
          </p>
        ) : (
          <>
            <p>{progressText(template)}</p>
            {stop !== undefined ? (
              <Halted template={template} stop={stop} />
            ) : isRolloutPaused(template) ? (
              <p class="notice wait">
                <span>
                  {progressOf(template).waiting > 0 ? (
                    <>
                      <strong>It is being paused.</strong> {pausedMeans}
                    </>
                  ) : (
                    <>
                      <strong>It is paused, and nothing waits.</strong> The next edit is held until it is resumed.
                    </>
                  )}
                </span>
              </p>
            ) : null}
          </>
        )}
      </div>
      {isOff ? null : <ProgressBar progress={progressOf(template)} />}
      <Facts template={template} />
      {/* Of one that is disabled they speak of the namespaces that it selects: none. */}
      {(isOff ? [] : ['Progressing', 'Synced']).map((type) => {
        const condition = conditionOf(template, type)
        const isOld = condition?.reason === 'Paused' && isResumed(template)
        return condition === undefined || condition.message === '' || condition === stop || isOld ? null : (
          <p key={type} class="muted">
            {condition.message} (<Moment at={condition.lastTransitionTime} />)
          </p>
        )
      })}
    </section>
  )
}

interface StepsProps extends PartProps {
  readonly stop: TemplateCondition | undefined
}

/** Those that come and go stand last: none takes the place of another. */
function Steps({ template, stop }: StepsProps) {
  const { client } = useCluster()
  const { name = '', generation = 0 } = template.metadata
  const of = { group: templateResource.group, resource: templateResource.resource, name }
  const mayPatch = useMay({ verb: 'patch', ...of })
  const mayUpdate = useMay({ verb: 'update', ...of })
  const isOff = isDisabled(template)
  const annotate = (key: string, value: string | null): Promise<unknown> =>
    client.patch(templateResource, { name }, { metadata: { annotations: { [key]: value } } })
  const goBack = (): Promise<unknown> =>
    rollbackTemplate(client, { name, dryRun: false }, AbortSignal.timeout(patienceMs))
  if (!mayPatch) return null
  return (
    <div class="row">
      {/* One button with two sides: a keyboard stays on it. */}
      {isRolloutPaused(template) ? (
        <ActionButton title="Resume the rollout" isHarmless act={() => annotate(pauseRolloutAnnotation, null)} />
      ) : (
        // One press: it goes on while a question is read, and a pause can be taken back.
        <ActionButton title="Pause the rollout" isHarmless act={() => annotate(pauseRolloutAnnotation, 'true')} />
      )}
      {isOff ? (
        <ActionButton title="Enable this template" isHarmless act={() => annotate(applyAnnotation, null)} />
      ) : (
        <ActionButton
          title="Disable this template"
          warning={disabledMeans}
          act={() => annotate(applyAnnotation, 'disable')}
        />
      )}
      {stop?.reason === 'TooManyPrunes' ? (
        <ActionButton
          title={`Delete these objects: confirm generation ${generation}`}
          isLasting
          act={() => annotate(confirmPruneAnnotation, String(generation))}
        />
      ) : null}
      {stop !== undefined && stop.reason !== 'PopulationPaused' && mayUpdate && generation > 1 ? (
        <ActionButton title="Go back to the generation before" act={goBack} />
      ) : null}
    </div>
  )
}

const patienceMs = 60_000

function Halted({ template, stop }: { readonly template: NamespaceTemplate; readonly stop: TemplateCondition }) {
  return (
    <div class="notice wait">
      <div>
        <strong>{haltedTitle(template, stop)}</strong>
        {/* Without its time: that is of the last change between True and False, not of this reason. */}
        <p>{stop.message}</p>
        <h3>What to do</h3>
        <p>{helpFor(template, stop)}</p>
      </div>
    </div>
  )
}

function haltedTitle(template: NamespaceTemplate, { reason }: TemplateCondition): string {
  if (reason === 'TooManyPrunes') return 'Halted: it would delete in more namespaces than it may.'
  if (reason === 'PopulationPaused') return 'Halted: all templates are paused.'
  return isRolloutPaused(template) ? 'The rollout is paused.' : 'Halted: it failed in a namespace.'
}

function helpFor(template: NamespaceTemplate, { reason }: TemplateCondition): ComponentChildren {
  const { name = '', deletionTimestamp } = template.metadata
  const edit = <Link href={`${pathOfTemplate(name)}/edit`}>edit it</Link>
  if (reason === 'PopulationPaused') {
    return (
      <>
        Resume all at <Link href="/templates">Templates</Link>. Its figures stand still until then.
      </>
    )
  }
  if (reason === 'TooManyPrunes') {
    return deletionTimestamp === undefined ? (
      <>
        Confirm it if it is meant. If not: {edit} so that it deletes less, or go back to the generation before. Nothing
        is changed until then.
      </>
    ) : (
      'Confirm it if it is meant. If not, set spec.deletionPolicy to Orphan: then it leaves everything in place.'
    )
  }
  if (isRolloutPaused(template)) {
    return (
      <>
        {pausedMeans} Resume it, go back to the generation before, or {edit}.
      </>
    )
  }
  return <>Mend what stands in its way, below: it goes on by itself. Or {edit}, or go back to the generation before.</>
}

function Facts({ template }: PartProps) {
  const { rollout, driftPolicy, deletionPolicy } = template.spec ?? {}
  return (
    <dl class="facts">
      <Fact term="State">
        <WordBadge word={wordOf(template)} />
      </Fact>
      {isDisabled(template) ? null : <Fact term="Selects">{progressOf(template).matched.toLocaleString('en')}</Fact>}
      <Fact term="At a time">{rollout?.maxUnavailable ?? '10%, at least 5'}</Fact>
      <Fact term="After a failure">{rollout?.pauseOnFailure === true ? 'it pauses' : 'it goes on'}</Fact>
      <Fact term="Drift">{driftPolicy ?? 'Correct'}</Fact>
      <Fact term="What it no longer holds">{deletionPolicy === 'Orphan' ? 'stays' : 'is deleted'}</Fact>
    </dl>
  )
}

function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  )
}
