/** One template: how its rollout goes, what stands in its way, what it said before. */
import type { ComponentChildren } from 'preact'
import {
  applyAnnotation,
  confirmPruneAnnotation,
  type NamespaceTemplate,
  templateResource,
} from '../../../apis/templates/types.ts'
import { useMay } from '../access-review.ts'
import { Link } from '../router.tsx'
import { useCluster, useFeed } from '../use-cluster.ts'
import { ActionButton } from '../widgets/action-button.tsx'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Moment } from '../widgets/moment.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { Failures } from './failures.tsx'
import { History } from './history.tsx'
import { ProgressBar, WordBadge } from './progress-bar.tsx'
import { conditionOf, isDisabled, progressOf, stopOf, wordOf } from './template-state.ts'
import { pathOfTemplate } from './templates-view.tsx'

export function TemplateView({ name }: { readonly name: string }) {
  const { ready, objects, refused } = useFeed<NamespaceTemplate>({
    resource: templateResource,
    fieldSelector: `metadata.name=${name}`,
  })
  const [template] = objects
  return (
    <>
      <header class="view-head">
        <nav aria-label="Back" class="back">
          <Link href="/templates">Templates</Link>
        </nav>
        <h1>{name}</h1>
        <Link class="button" href={`/map?template=${encodeURIComponent(name)}`}>
          Which namespaces
        </Link>
        <Link class="button primary" href={`${pathOfTemplate(name)}/edit`}>
          Edit and plan
        </Link>
      </header>
      <div class="scroll">
        {refused === undefined ? null : <Refusal error={refused} />}
        {ready && refused === undefined && template === undefined ? (
          <Refusal error={new Error(`namespacetemplates "${name}" not found`)} />
        ) : null}
        {template === undefined ? null : (
          <>
            <Rollout template={template} />
            <Failures template={template} />
            <History template={template} />
          </>
        )}
      </div>
      <footer class="view-foot">
        <CopyCommand command={`kubectl get namespacetemplate ${name} -o yaml`} />
      </footer>
    </>
  )
}

const disabledMeans =
  'Namespaces that exist keep what they have, as far as it has come, and new ones get nothing from it.'

function Rollout({ template }: { readonly template: NamespaceTemplate }) {
  const { client } = useCluster()
  const { name = '', generation } = template.metadata
  const isAllowed = useMay({ verb: 'patch', group: templateResource.group, resource: templateResource.resource, name })
  const progress = progressOf(template)
  const stop = stopOf(template)
  const isOff = isDisabled(template)
  const annotate = (key: string, value: string | null): Promise<unknown> =>
    client.patch(templateResource, { name }, { metadata: { annotations: { [key]: value } } })
  return (
    <section class="panel" aria-labelledby="rollout" aria-live="polite">
      <h2 id="rollout">Rollout of generation {generation}</h2>
      {isOff ? (
        <p class="notice wait">
          <span>
            <strong>It is disabled.</strong> {disabledMeans}
          </span>
        </p>
      ) : (
        <ProgressBar progress={progress} />
      )}
      <dl class="facts">
        <Fact term="State">
          <WordBadge word={wordOf(template)} />
        </Fact>
        {isOff ? null : <Fact term="Selects">{progress.matched.toLocaleString('en')}</Fact>}
        <Fact term="At a time">{template.spec?.rollout?.maxUnavailable ?? '10%, at least 5'}</Fact>
        <Fact term="Drift">{template.spec?.driftPolicy ?? 'Correct'}</Fact>
        <Fact term="What it lets go">{template.spec?.deletionPolicy ?? 'Delete'}</Fact>
      </dl>
      {/* Above what changes while it goes: a button must not move from under a pointer. */}
      {isAllowed ? (
        <div class="row">
          {stop?.reason === 'TooManyPrunes' ? (
            <ActionButton
              title={`Delete these objects: confirm generation ${generation}`}
              isLasting
              act={() => annotate(confirmPruneAnnotation, String(generation))}
            />
          ) : null}
          {/* One button with two sides: a keyboard stays on it. */}
          {isOff ? (
            <ActionButton title="Enable this template" isHarmless act={() => annotate(applyAnnotation, null)} />
          ) : (
            <ActionButton
              title="Disable this template"
              warning={disabledMeans}
              act={() => annotate(applyAnnotation, 'disable')}
            />
          )}
        </div>
      ) : null}
      {/* Of one that is disabled they speak of the namespaces that it selects: none. */}
      {(isOff ? [] : ['Progressing', 'Synced']).map((type) => {
        const condition = conditionOf(template, type)
        return condition === undefined || condition.message === '' ? null : (
          <p key={type} class={stop === condition ? 'notice wait' : 'muted'}>
            {condition.message} (<Moment at={condition.lastTransitionTime} />)
          </p>
        )
      })}
    </section>
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
