/** What is left of a view that failed: its error and a way back. The frame around it goes on. */
import { Component, type ComponentChildren } from 'preact'
import { Link } from '../router.tsx'
import { WarningIcon } from './icons.tsx'

interface ViewBoundaryProps {
  /** A view at another address is another view. */
  readonly address: string
  readonly children: ComponentChildren
}

interface Failed {
  readonly failed?: { readonly error: unknown; readonly address: string } | undefined
}

export class ViewBoundary extends Component<ViewBoundaryProps, Failed> {
  override componentDidCatch(error: unknown): void {
    // To the browser's own log, with its stack.
    reportError(error)
    this.setState({ failed: { error, address: this.props.address } })
  }

  override render({ address, children }: ViewBoundaryProps, { failed }: Failed) {
    if (failed === undefined || failed.address !== address) return children
    const { error } = failed
    return (
      <div class="scroll">
        <div class="notice bad" role="alert">
          <WarningIcon />
          <div>
            <h1>This view failed</h1>
            <p>{error instanceof Error ? `${error.name}: ${error.message}` : String(error)}</p>
            <p>It is a fault of the console. Nothing was changed in the cluster by it; the other views go on.</p>
          </div>
        </div>
        <div class="row">
          <button type="button" class="button primary" onClick={() => this.setState({ failed: undefined })}>
            Try again
          </button>
          <Link class="button" href="/namespaces">
            My namespaces
          </Link>
        </div>
      </div>
    )
  }
}
