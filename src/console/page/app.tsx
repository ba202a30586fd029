/** The frame around every view: where one is, as whom, and whether the cluster is reached. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Cluster } from './cluster.ts'
import { loadCreateView, loadMapView, loadNamespaceView, loadTemplateView } from './later-views.ts'
import { Locked } from './locked.tsx'
import { isTabPath } from './namespace/tabs.ts'
import { Birth } from './namespaces/birth.tsx'
import { NamespacesView } from './namespaces/namespaces-view.tsx'
import { Link, type Router, RouterContext } from './router.tsx'
import { EditView } from './templates/edit-view.tsx'
import { TemplatesView } from './templates/templates-view.tsx'
import { ClusterContext, useCluster } from './use-cluster.ts'
import { namespaceInPath, templateInPath } from './view-paths.ts'
import { Mark, ThemeIcon } from './widgets/icons.tsx'
import { Later } from './widgets/later.tsx'
import { ViewBoundary } from './widgets/view-boundary.tsx'
import { beginningOf } from './widgets/words.tsx'

interface AppProps {
  readonly cluster: Cluster
  readonly router: Router
}

export function App({ cluster, router }: AppProps) {
  const { path } = router.place.value
  const { view, title } = viewAt(path)
  useEffect(() => {
    document.title = `${title} · Borough`
  }, [title])
  if (cluster.lost.value !== undefined) return <Locked error={cluster.lost.value} />
  return (
    <ClusterContext.Provider value={cluster}>
      <RouterContext.Provider value={router}>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <TopBar path={path} />
        <Trouble />
        <main id="main" tabIndex={-1}>
          <ViewBoundary address={path}>{view}</ViewBoundary>
        </main>
      </RouterContext.Provider>
    </ClusterContext.Provider>
  )
}

function viewAt(path: string): { readonly view: ComponentChildren; readonly title: string } {
  if (path === '/' || path === '/namespaces') return { view: <NamespacesView />, title: 'My namespaces' }
  if (path === '/new/namespace')
    return { view: <Later load={loadCreateView} given={{}} />, title: 'Create a namespace' }
  const namespace = namespaceInPath(path)
  if (namespace?.tab === 'birth') {
    return { view: <Birth key={namespace.name} name={namespace.name} />, title: `${namespace.name} comes to be` }
  }
  if (namespace !== undefined && isTabPath(namespace.tab)) {
    const { name, tab } = namespace
    return { view: <Later key={name} load={loadNamespaceView} given={{ name, tab }} />, title: name }
  }
  if (path === '/templates') return { view: <TemplatesView />, title: 'Templates' }
  if (path === '/map')
    return { view: <Later load={loadMapView} given={{}} />, title: 'Which template reaches which namespaces' }
  if (path === '/new/template') return { view: <EditView name={undefined} />, title: 'New template' }
  const template = templateInPath(path)
  if (template !== undefined) {
    const { name, isEdited } = template
    if (isEdited) return { view: <EditView key={name} name={name} />, title: `Edit ${name}` }
    return { view: <Later key={name} load={loadTemplateView} given={{ name }} />, title: name }
  }
  return { view: <NoView path={path} />, title: 'No such page' }
}

function NoView({ path }: { readonly path: string }) {
  return (
    <div class="empty">
      <h1>There is no page {path}</h1>
      <Link class="button" href="/namespaces">
        My namespaces
      </Link>
    </div>
  )
}

/** What is not of one namespace or template stands beside these: a namespace may be named `new`, a template `map`. */
const areaOf = (path: string): string =>
  /^\/(?:templates\/|templates$|map$|new\/template$)/.test(path) ? '/templates' : '/namespaces'

const areas = [
  { href: '/namespaces', title: 'Namespaces' },
  { href: '/templates', title: 'Templates' },
] as const

function TopBar({ path }: { readonly path: string }) {
  const { place } = useCluster()
  return (
    <header class="top">
      <Link class="brand" href="/namespaces">
        <Mark />
        Borough
      </Link>
      <nav aria-label="Areas">
        {areas.map(({ href, title }) => (
          <Link key={href} href={href} aria-current={areaOf(path) === href ? 'page' : undefined}>
            {title}
          </Link>
        ))}
      </nav>
      <span class="where" title="the server of the kubeconfig">
        {place.server.replace(/^https?:\/\//, '')}
      </span>
      <Me />
      <Theme />
    </header>
  )
}

function Me() {
  const cluster = useCluster()
  const name = useSignal('')
  const groups = useSignal('')
  useEffect(() => {
    cluster.me().then(
      ({ username, groups: all }) => {
        name.value = username
        groups.value = all.join(', ')
      },
      // The line below the bar says what is wrong.
      () => undefined,
    )
  }, [cluster, cluster.trouble.value])
  return (
    <span class="me" title={`groups: ${groups}`}>
      {name}
    </span>
  )
}

/** The one answer that people wait for when nothing moves. */
function Trouble() {
  const { trouble, failing } = useCluster()
  const why = trouble.value ?? failing.value
  const state = trouble.value === undefined ? 'Asking again.' : 'Reconnecting.'
  return (
    <div role="status" class={why === undefined ? 'trouble none' : 'trouble'}>
      {why === undefined ? null : (
        <>
          <strong>{state}</strong> What is shown may be old: {beginningOf(why)}
        </>
      )}
    </div>
  )
}

const themes = ['system', 'light', 'dark'] as const
const themeName = 'borough-console-theme'

function Theme() {
  const { storage } = useCluster()
  const theme = useSignal(storage.getItem(themeName) ?? themes[0])
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme.value
    storage.setItem(themeName, theme.value)
  }, [theme.value])
  const next = themes[(themes.findIndex((t) => t === theme.value) + 1) % themes.length] ?? themes[0]
  return (
    <button
      type="button"
      class="quiet"
      title={`Colours: ${theme}`}
      aria-label={`Colours: ${theme}. Change to ${next}`}
      onClick={() => {
        theme.value = next
      }}
    >
      <ThemeIcon />
    </button>
  )
}
