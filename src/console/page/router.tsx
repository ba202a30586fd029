/** Every view has a path, and what is chosen in it stands in the query: an address shows its next reader the same. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'

export interface Place {
  readonly path: string
  readonly query: URLSearchParams
}

export interface Router {
  readonly place: ReadonlySignal<Place>
  go(href: string): void
  /** As `go`, without a step to go back to. */
  become(href: string): void
}

export function createRouter(window: Window): Router {
  const read = (): Place => ({
    path: window.location.pathname,
    query: new URLSearchParams(window.location.search),
  })
  const place = signal(read())
  window.addEventListener('popstate', () => {
    place.value = read()
  })
  return {
    place,
    go(href) {
      window.history.pushState(null, '', href)
      place.value = read()
      // What was pressed is gone: keyboards and screen readers go on at the new view.
      focusMain(window.document)
    },
    become(href) {
      window.history.replaceState(null, '', href)
      place.value = read()
    },
  }
}

/** Where a view begins, for keyboards and screen readers. */
export const focusMain = (document: Document): void => document.getElementById('main')?.focus()

export const RouterContext = createContext<Router | undefined>(undefined)

export function useRouter(): Router {
  const router = useContext(RouterContext)
  if (router === undefined) throw new Error('no router above this component')
  return router
}

interface LinkProps {
  readonly href: string
  readonly children: ComponentChildren
  readonly class?: string
  readonly tabIndex?: number
  readonly 'aria-current'?: 'page' | undefined
}

export function Link({ href, children, ...rest }: LinkProps) {
  const router = useRouter()
  const follow = (event: MouseEvent): void => {
    // Another tab or window is the browser's business.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    router.go(href)
  }
  return (
    <a {...rest} href={href} onClick={follow}>
      {children}
    </a>
  )
}
