/** For who may not list namespaces: why the list is short, and a way to name more. */
import { useState } from 'preact/hooks'
import type { MyNamespaces } from './my-namespaces.ts'

export function KnownOnly({ refused, mine }: { readonly refused: Error; readonly mine: MyNamespaces }) {
  const added = mine.rows.value?.filter(({ phase }) => phase === 'Unknown') ?? []
  return (
    <details class="notice">
      <summary>
        The server does not list namespaces to you. These are the ones that the kubeconfig names, and those you added.
      </summary>
      <p>{refused.message}</p>
      <p>
        A Borough that runs with <code>--list-own-namespaces</code> lists to every user their own.
      </p>
      <AddKnown mine={mine} />
      {added.map(({ name, refused: why }) => (
        <p key={name}>
          {why}{' '}
          <button type="button" class="quiet" onClick={() => mine.remove(name)}>
            Forget {name}
          </button>
        </p>
      ))}
    </details>
  )
}

export function AddKnown({ mine }: { readonly mine: MyNamespaces }) {
  const [name, setName] = useState('')
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        if (name !== '') mine.add(name)
        setName('')
      }}
    >
      <label>
        <span class="hidden">Name of a namespace</span>
        <input value={name} placeholder="a namespace you know" onInput={(e) => setName(e.currentTarget.value)} />
      </label>
      <button type="submit" class="button">
        Add
      </button>
      <small class="muted">
        Kept by this browser for this address alone: the next <code>borough console</code> has another port. A context
        of the kubeconfig with that namespace is shown by each.
      </small>
    </form>
  )
}
