/** A view whose code is loaded when it is opened, or before that in the background. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Refusal } from './refusal.tsx'

interface LaterProps<P> {
  readonly load: () => Promise<ComponentType<P>>
  /** Of the view. */
  readonly given: P
}

type Loaded<P> = { readonly View: ComponentType<P> } | { readonly error: unknown }

export function Later<P extends object>({ load, given }: LaterProps<P>) {
  const [loaded, setLoaded] = useState<Loaded<P>>()
  useEffect(() => {
    load().then(
      (View) => setLoaded({ View }),
      (error: unknown) => setLoaded({ error }),
    )
  }, [load])
  if (loaded === undefined) {
    return (
      <p class="muted pad" role="status">
        Loading…
      </p>
    )
  }
  if ('error' in loaded) return <Refusal error={loaded.error} title="A part of the page was not loaded" />
  const { View } = loaded
  return <View {...given} />
}
