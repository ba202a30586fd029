/** Of one namespace: which templates it has, and where one of them is not what it says. Loaded when it is opened. */
import { useMemo } from 'preact/hooks'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import { selectTemplates } from '../../../apis/templates/match.ts'
import { type NamespaceTemplate, templateResource } from '../../../apis/templates/types.ts'
import { Link } from '../router.tsx'
import { FieldsAndManagers } from '../templates/failures.tsx'
import { matcherOf } from '../templates/matcher.ts'
import { failuresOf, type PopulationEvent } from '../templates/template-failures.ts'
import { pathOfTemplate } from '../templates/templates-view.tsx'
import { useFeed } from '../use-cluster.ts'
import { Words } from '../widgets/words.tsx'

const eventResource = { group: '', version: 'v1', resource: 'events' } as const

export function TemplateStanding({ namespace }: { readonly namespace: Namespace }) {
  const { name = '' } = namespace.metadata
  const templates = useFeed<NamespaceTemplate>({ resource: templateResource })
  const { objects: events } = useFeed<PopulationEvent>({ resource: eventResource, namespace: name })
  const selecting = useMemo(
    () => selectTemplates(templates.objects.map(matcherOf), namespace),
    [templates.objects, namespace],
  )
  const rows = useMemo(
    () =>
      selecting.flatMap((template) =>
        failuresOf(template, [namespace], events)
          .filter((row) => row.namespace === name)
          .map((row) => ({ ...row, template: template.metadata.name ?? '' })),
      ),
    [selecting, namespace, events],
  )
  // Who may not read them has the words of the condition above.
  if (templates.refused !== undefined || !templates.ready) return null
  return (
    <section class="panel wide" aria-labelledby="standing">
      <h2 id="standing">Templates</h2>
      <p>
        {selecting.length === 0 ? 'No template selects it.' : 'Selected by '}
        {selecting.map(({ metadata: { name: template = '' } }) => (
          <Link key={template} class="chip" href={pathOfTemplate(template)}>
            {template}
          </Link>
        ))}
      </p>
      {rows.length === 0 ? (
        selecting.length === 0 ? null : (
          <p class="muted">No conflict, no drift, and nothing that was refused, left out or added to.</p>
        )
      ) : (
        <table class="table">
          <thead>
            <tr>
              {['Template', 'Object', 'Reason', 'Field and manager', 'Message'].map((title) => (
                <th scope="col" key={title}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ template, object, reason, message }) => (
              <tr key={`${template} ${object}`}>
                <td>
                  <Link href={`${pathOfTemplate(template)}?q=${encodeURIComponent(name)}`}>{template}</Link>
                </td>
                <td>{object === '' ? '–' : <Words text={object} />}</td>
                <td>{reason === '' ? '–' : reason}</td>
                <td>
                  <FieldsAndManagers message={message} />
                </td>
                <td class="message">
                  <Words text={message} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
