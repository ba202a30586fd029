/** What a template said before, and the way back to it. */

import { revisionsOf } from '../../../apis/templates/revisions.ts'
import { rollbackTemplate } from '../../../apis/templates/rollback.ts'
import { type NamespaceTemplate, templateResource } from '../../../apis/templates/types.ts'
import { useMay } from '../access-review.ts'
import { Link } from '../router.tsx'
import { useAnswer } from '../use-answer.ts'
import { useCluster } from '../use-cluster.ts'
import { ActionButton } from '../widgets/action-button.tsx'
import { Moment } from '../widgets/moment.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { pathOfTemplate } from './templates-view.tsx'

const patienceMs = 60_000

export function History({ template }: { readonly template: NamespaceTemplate }) {
  const { client } = useCluster()
  const { name = '', generation: present, resourceVersion } = template.metadata
  const { group, resource } = templateResource
  const isAllowed = useMay({ verb: 'update', group, resource, name })
  const { value: revisions, error } = useAnswer(
    (signal) => revisionsOf(client, template, signal),
    [client, name, resourceVersion],
  )
  return (
    <section class="panel" aria-labelledby="history">
      <h2 id="history">History</h2>
      {error === undefined ? null : <Refusal error={error} />}
      <table class="table stacked">
        <thead>
          <tr>
            <th scope="col">Generation</th>
            <th scope="col">Objects</th>
            <th scope="col">Kept since</th>
            <th scope="col">Go back</th>
          </tr>
        </thead>
        <tbody>
          {(revisions ?? []).map(({ generation, spec, object }) => (
            <tr key={generation}>
              <th scope="row" data-title="Generation">
                {generation}
                {generation === present ? <span class="muted"> now</span> : null}
              </th>
              <td data-title="Objects">{(spec.templates?.length ?? 0) + (spec.objects?.length ?? 0)}</td>
              <td data-title="Kept since">
                <Moment at={object.metadata.creationTimestamp ?? undefined} />
              </td>
              <td>
                {generation === present ? null : (
                  <div class="row">
                    <Link class="button" href={`${pathOfTemplate(name)}/edit?generation=${generation}`}>
                      Plan it
                    </Link>
                    {isAllowed ? (
                      <ActionButton
                        title={`Roll back to ${generation}`}
                        act={() =>
                          rollbackTemplate(client, { name, generation, dryRun: false }, AbortSignal.timeout(patienceMs))
                        }
                      />
                    ) : null}
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
