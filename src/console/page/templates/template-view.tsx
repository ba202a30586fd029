/** One template: how its rollout goes, what stands in its way, what it said before. */
import { type NamespaceTemplate, templateResource } from '../../../apis/templates/types.ts'
import { Link } from '../router.tsx'
import { useFeed } from '../use-cluster.ts'
import { Asking } from '../widgets/asking.tsx'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { Failures } from './failures.tsx'
import { History } from './history.tsx'
import { Rollout } from './rollout-panel.tsx'
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
      {/* Where it is all text, keys must reach it to scroll it. */}
      <div class="scroll" tabIndex={0}>
        {refused === undefined ? null : <Refusal error={refused} />}
        {ready && refused === undefined && template === undefined ? (
          <Refusal error={new Error(`namespacetemplates "${name}" not found`)} />
        ) : null}
        {ready ? null : <Asking />}
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
