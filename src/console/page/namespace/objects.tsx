/** What a namespace holds, by template and by owner. */
import { useMemo } from 'preact/hooks'
import { protectedByLabel } from '../../../apis/templates/types.ts'
import { objectArguments } from '../../../base/shell-text.ts'
import { qualifiedResource } from '../../../kube/gvk.ts'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { useFirst } from '../widgets/first.tsx'
import { exactTime, Moment } from '../widgets/moment.tsx'
import { ProtectedMark } from '../widgets/protected-mark.tsx'
import { beginningOf } from '../widgets/words.tsx'
import { firstOf, type TreeNode, treeOf } from './object-tree.ts'
import { useContent } from './use-content.ts'

export function Objects({ namespace }: { readonly namespace: string }) {
  const { ready, found, hidden } = useContent(namespace)
  const { most, more } = useFirst(found.length)
  const tree = useMemo(() => treeOf(found), [found])
  const counts = new Map(tree.map(({ template, roots }) => [template, roots.length]))
  if (!ready && found.length === 0) {
    return (
      <p class="muted" role="status">
        Asking for every kind…
      </p>
    )
  }
  return (
    <div class="tree">
      {found.length === 0 ? (
        <div class="empty">
          <h2>Nothing that you may list is in it</h2>
          <CopyCommand command={`kubectl apply -n ${namespace} -f FILE`} />
        </div>
      ) : null}
      {firstOf(tree, most).map(({ template, roots }) => (
        <section class="panel" key={template} aria-label={titleOf(template)}>
          <h2>
            {titleOf(template)} <span class="count">{counts.get(template)}</span>
          </h2>
          <NodeList nodes={roots} namespace={namespace} />
        </section>
      ))}
      {more}
      {hidden.length === 0 ? null : (
        <details class="notice">
          <summary>{hidden.length} kinds are not shown</summary>
          <ul class="objects">
            {hidden.map(({ kind, why }) => (
              <li key={kind}>
                {kind}: {why}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}

const titleOf = (template: string): string => (template === '' ? 'Of no template' : `Template ${template}`)

function NodeList({ nodes, namespace }: { readonly nodes: readonly TreeNode[]; readonly namespace: string }) {
  return (
    <ul class="nodes">
      {nodes.map((node) => (
        <li key={node.object.metadata.uid}>
          <Node node={node} namespace={namespace} />
          {node.owned.length === 0 ? null : <NodeList nodes={node.owned} namespace={namespace} />}
        </li>
      ))}
    </ul>
  )
}

function Node({ node: { kind, object }, namespace }: { readonly node: TreeNode; readonly namespace: string }) {
  const { name = '', labels = {}, creationTimestamp, deletionTimestamp, finalizers = [] } = object.metadata
  return (
    <details class="node">
      <summary>
        <span class="kind">{kind.kind}</span>
        <span class="node-name">{beginningOf(name)}</span>
        {protectedByLabel in labels ? (
          <ProtectedMark title={`protected by template ${labels[protectedByLabel]}`} />
        ) : null}
        {deletionTimestamp === undefined ? null : (
          <span class="badge bad">going{finalizers.length > 0 ? `, held by ${finalizers.join(', ')}` : ''}</span>
        )}
        <Moment at={creationTimestamp ?? undefined} takesFocus={false} />
      </summary>
      <p class="muted">Created {exactTime(creationTimestamp ?? undefined)}</p>
      <CopyCommand command={`kubectl get ${objectArguments(qualifiedResource(kind), name)} -n ${namespace} -o yaml`} />
    </details>
  )
}
