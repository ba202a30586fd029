/** The editor in the colours of the page, which reach into its shadow root as variables. */
import { tags } from '@lezer/highlight'

export const highlights = [
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.comment], color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--wait)' },
]

const chip = { border: '1px solid var(--line)', backgroundColor: 'var(--surface)', color: 'var(--text)' }

export const look = {
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '12.5px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--accent-soft) !important' },
  '.cm-tooltip': { ...chip, borderRadius: '7px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-ground)', color: '#fff' },
  // In the place of images in `data:` addresses, which the policy of the page does not load.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad) 1px' },
  '.cm-lint-marker-error': { content: '"\\25cf"', color: 'var(--bad)', textAlign: 'center', lineHeight: '1' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
}
