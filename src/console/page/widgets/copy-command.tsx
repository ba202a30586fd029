/** What is on the screen, as a command that shows the same. */
import { useState } from 'preact/hooks'
import { useCluster } from '../use-cluster.ts'
import { CopyIcon, DoneIcon } from './icons.tsx'

export function CopyCommand({ command }: { readonly command: string }) {
  const { clock } = useCluster()
  const [said, say] = useState<string>()
  const copy = async (): Promise<void> => {
    // A browser may forbid it: the command can still be marked by hand.
    const said = await navigator.clipboard.writeText(command).then(
      () => 'Copied',
      () => 'Not allowed',
    )
    say(said)
    clock.after(2000, () => say(undefined))
  }
  return (
    <div class="command">
      <code>{command}</code>
      <button
        type="button"
        class="quiet"
        aria-label={`${said ?? 'Copy'} as kubectl`}
        title={command}
        onClick={() => void copy()}
      >
        {said === undefined ? <CopyIcon /> : <DoneIcon />}
        <span aria-live="polite">{said ?? 'Copy'}</span>
      </button>
    </div>
  )
}
