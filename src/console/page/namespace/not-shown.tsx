/** A namespace that the server does not show: its words, and what can be done about it. */
import { shellWord } from '../../../base/shell-text.ts'
import type { Unseen } from '../namespaces/follow-namespace.ts'
import { Link } from '../router.tsx'
import { useAnswer } from '../use-answer.ts'
import { useCluster } from '../use-cluster.ts'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Refusal } from '../widgets/refusal.tsx'

export function NotShown({ name, why }: { readonly name: string; readonly why: Unseen }) {
  const cluster = useCluster()
  const { value: me } = useAnswer(() => cluster.me(), [cluster])
  const user = me === undefined || me.username === '' ? 'USER' : me.username
  return (
    <>
      <Refusal error={why} />
      {why.isOpen ? (
        <p class="muted">You may work in it all the same: what you may read is below.</p>
      ) : (
        <section class="panel" aria-labelledby="next">
          <h2 id="next">What to do next</h2>
          <p>
            {why.isMissing ? 'It is not there, or hidden from you. ' : ''}
            Who may bind roles in it can let you in, for instance to look:
          </p>
          <CopyCommand
            command={`kubectl create rolebinding ${name}-view --clusterrole=view --user=${shellWord(user)} -n ${name}`}
          />
          <p>
            <Link href="/new/namespace">Create a namespace</Link>, or go back to{' '}
            <Link href="/namespaces">my namespaces</Link>.
          </p>
        </section>
      )}
    </>
  )
}
