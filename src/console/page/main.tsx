/** The page's own start. */
import { render } from 'preact'
import { App } from './app.tsx'
import { Cluster } from './cluster.ts'
import { Locked } from './locked.tsx'
import { createRouter } from './router.tsx'
import { hasSecret, openSession } from './session.ts'
import { showHiddenCharacters } from './visible-page.ts'

showHiddenCharacters()
const page = document.getElementById('page')
if (page === null) throw new Error('the document has no place for the page')

// The address of a console that was started anew, opened in a tab of the one before: only its fragment is new.
addEventListener('hashchange', () => hasSecret(location) && location.reload())

openSession(location, history, localStorage).then(
  (session) => {
    const cluster = new Cluster(session, window)
    render(<App cluster={cluster} router={createRouter(window)} />, page)
  },
  (error: unknown) => {
    render(<Locked error={error} />, page)
  },
)
