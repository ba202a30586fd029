/** All templates: how far each has reached, and the switch that stops them all. */
import { isPaused, pausedKey, populationConfig } from '../../../apis/templates/population-config.ts'
import { type NamespaceTemplate, templateResource } from '../../../apis/templates/types.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { useMay } from '../access-review.ts'
import { Link } from '../router.tsx'
import { useCluster, useFeed } from '../use-cluster.ts'
import { ActionButton } from '../widgets/action-button.tsx'
import { Asking } from '../widgets/asking.tsx'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { PlusIcon } from '../widgets/icons.tsx'
import { Moment } from '../widgets/moment.tsx'
import { ProgressBar, WordBadge } from './progress-bar.tsx'
import { progressOf, wordOf } from './template-state.ts'
import { TemplatesUnseen } from './templates-unseen.tsx'

export const pathOfTemplate = (name: string): string => `/templates/${encodeURIComponent(name)}`

export const useMayCreateTemplates = (): boolean =>
  useMay({ verb: 'create', group: templateResource.group, resource: templateResource.resource })

export function TemplatesView() {
  const { ready, objects, refused } = useFeed<NamespaceTemplate>({ resource: templateResource })
  const mayCreate = useMayCreateTemplates()
  return (
    <>
      <header class="view-head">
        <h1>
          Templates <span class="count">{ready && refused === undefined ? objects.length : ''}</span>
        </h1>
        <Link class="button" href="/map">
          Which reach which namespaces
        </Link>
        {mayCreate ? (
          <Link class="button primary" href="/new/template">
            <PlusIcon />
            New template
          </Link>
        ) : null}
      </header>
      {/* Where it is all text, keys must reach it to scroll it. */}
      <div class="scroll" tabIndex={0}>
        <Switch />
        {refused !== undefined ? (
          <TemplatesUnseen refused={refused} />
        ) : !ready ? (
          <Asking />
        ) : objects.length === 0 ? (
          <div class="empty">
            <h2>There is no template yet</h2>
            <p>A template holds objects that every namespace it selects is given when it is created, and keeps.</p>
            {mayCreate ? (
              <Link class="button primary" href="/new/template">
                Write the first template
              </Link>
            ) : (
              <p>You may not create one.</p>
            )}
          </div>
        ) : (
          <TemplateTable templates={objects} />
        )}
      </div>
      <footer class="view-foot">
        <CopyCommand command="kubectl get namespacetemplates -o wide" />
      </footer>
    </>
  )
}

function TemplateTable({ templates }: { readonly templates: readonly NamespaceTemplate[] }) {
  return (
    <section class="panel">
      <table class="table templates" aria-label="Templates">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Namespaces</th>
            <th scope="col">Progress</th>
            <th scope="col">Age</th>
          </tr>
        </thead>
        <tbody>
          {templates.map((template) => {
            const { name = '', creationTimestamp } = template.metadata
            return (
              <tr key={name}>
                <th scope="row">
                  <Link class="name-link" href={pathOfTemplate(name)}>
                    {name}
                  </Link>
                </th>
                <td>
                  <WordBadge word={wordOf(template)} />
                </td>
                <td>{progressOf(template).matched.toLocaleString('en')}</td>
                <td>
                  <ProgressBar progress={progressOf(template)} />
                </td>
                <td>
                  <Moment at={creationTimestamp ?? undefined} />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}

const configResource = { group: '', version: 'v1', resource: 'configmaps' } as const

/** One for all templates. Users who may not read it are not told. */
function Switch() {
  const { client } = useCluster()
  const { namespace, name } = populationConfig
  const { ready, objects, refused } = useFeed<KubeObject>({
    resource: configResource,
    namespace,
    fieldSelector: `metadata.name=${name}`,
  })
  const isAllowed = useMay({ verb: 'patch', resource: 'configmaps', namespace, name })
  if (!ready || refused !== undefined) return null
  const [config] = objects
  const isStopped = isPaused(config)
  const set = (value: string): Promise<unknown> =>
    config === undefined
      ? client.create(configResource, { metadata: { namespace, name }, data: { [pausedKey]: value } })
      : client.patch(configResource, { namespace, name }, { data: { [pausedKey]: value } })
  return (
    <div class={isStopped ? 'notice wait' : 'row'}>
      {isStopped ? (
        <span>
          <strong>All templates are paused.</strong> Namespaces that exist are left as they are; new ones are populated.
        </span>
      ) : null}
      {isAllowed ? (
        <ActionButton
          title={isStopped ? 'Resume all' : 'Pause all templates'}
          isHarmless={isStopped}
          act={() => set(isStopped ? 'false' : 'true')}
        />
      ) : null}
    </div>
  )
}
