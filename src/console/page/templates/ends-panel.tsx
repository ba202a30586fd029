/** Beside a plan: when namespaces would end, where the edit says something else of it. */
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { useFeed } from '../use-cluster.ts'
import { countOf } from './plan-panel.tsx'
import { plannedEnds } from './planned-ends.ts'

interface EndsPanelProps {
  readonly present: NamespaceTemplate | undefined
  readonly template: NamespaceTemplate
}

export function EndsPanel({ present, template }: EndsPanelProps) {
  const { ready, objects } = useFeed<Namespace>({ resource: namespaceResource })
  const ends = ready ? plannedEnds(present, template, objects) : undefined
  if (ends === undefined) return null
  const { newOnes, max, beyond, endless, kept } = ends
  return (
    <section class="panel" aria-labelledby="ends">
      <h2 id="ends">When namespaces end</h2>
      <p>
        A new namespace that names no end {lifeText(newOnes.after)}
        {newOnes.before === newOnes.after ? '' : `; until now it ${lifeText(newOnes.before)}`}.
      </p>
      <p>
        <strong>The end of no namespace changes.</strong>
        {kept === 0
          ? ''
          : ` ${countOf(kept)} within what the template says ${kept === 1 ? 'keeps its' : 'keep their'} end.`}
      </p>
      <Named
        names={beyond}
        text={`would live longer than the ${max} that are allowed from now on, and still ${
          beyond.length === 1 ? 'does' : 'do'
        }; a later end than that is refused`}
      />
      <Named
        names={endless}
        text={`${endless.length === 1 ? 'has' : 'have'} no end, and ${
          endless.length === 1 ? 'is' : 'are'
        } given none: to end, each must be told so (borough.dev/expires-at)`}
      />
    </section>
  )
}

const lifeText = (life: string | undefined): string =>
  life === undefined ? 'lives until it is deleted' : `ends ${life} after its creation`

function Named({ names, text }: { readonly names: readonly string[]; readonly text: string }) {
  if (names.length === 0) return null
  return (
    <details>
      <summary>
        {countOf(names.length)} {text}
      </summary>
      <p>{names.join(', ')}</p>
    </details>
  )
}
