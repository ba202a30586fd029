/**
 * No text of the page turns the direction of what stands beside it, or hides: tenants choose what names of roles,
 * owners and events' messages hold. What does not show as it is becomes its escape (`\u202e`), wherever it is rendered.
 */
import { Fragment, options, type VNode } from 'preact'
import { visibleText } from '../../base/shell-text.ts'

/** Line breaks and tabs are shown as they are, or as spaces. */
const hidden = /[\p{Cf}\p{Zl}\p{Zp}]|(?![\n\r\t])\p{Cc}/gu

/** What is read aloud, or shown on hover. */
const shownAttributes = ['title', 'aria-label', 'aria-valuetext'] as const

const shown = (text: string): string => text.replaceAll(hidden, visibleText)

export function showHiddenCharacters(): void {
  const before = options.vnode
  options.vnode = (vnode) => {
    if (typeof vnode.type === 'string' || vnode.type === Fragment) show(vnode)
    before?.(vnode)
  }
}

function show({ type, props }: VNode): void {
  const given = props as Record<string, unknown>
  const { children } = given
  // Of an option without a value its text is what is chosen.
  if (type !== 'option' || given['value'] !== undefined) {
    if (typeof children === 'string') given['children'] = shown(children)
    else if (Array.isArray(children))
      given['children'] = (children as readonly unknown[]).map((c) => (typeof c === 'string' ? shown(c) : c))
  }
  for (const name of shownAttributes) {
    const text = given[name]
    if (typeof text === 'string') given[name] = shown(text)
  }
}
