/** In place of templates that the server does not show: its words, and what to do without them. */
import { isNotFound } from '../../../kube/status-error.ts'
import { Link } from '../router.tsx'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Refusal } from '../widgets/refusal.tsx'

const grantCommand =
  'kubectl create clusterrole template-reader --verb=get,list,watch --resource=namespacetemplates.policy.borough.dev'

export function TemplatesUnseen({ refused }: { readonly refused: Error }) {
  if (isNotFound(refused)) {
    return (
      <div class="empty">
        <h2>This cluster has no templates</h2>
        <p>borough populate brings them to any cluster: a controller and its webhooks.</p>
        <CopyCommand command="borough populate" />
      </div>
    )
  }
  return (
    <>
      <Refusal error={refused} title="The server does not show templates to you" />
      <section class="panel" aria-labelledby="without">
        <h2 id="without">What you can do without them</h2>
        <p>
          What templates gave to a namespace of yours stands in it, under <em>Objects</em>. What a new namespace would
          be given is shown while you fill in its form, and a label that a template asks for is asked for there.
        </p>
        <div class="row">
          <Link class="button primary" href="/new/namespace">
            Create namespace
          </Link>
          <Link class="button" href="/namespaces">
            My namespaces
          </Link>
        </div>
        <p class="muted">An administrator lets you see them by a binding to such a role:</p>
        <CopyCommand command={grantCommand} />
      </section>
    </>
  )
}
