/** Line drawings of 16 by 16, in the colour of the text. Each stands beside words, so screen readers pass over them. */
import type { ComponentChildren } from 'preact'

function Icon({ children }: { readonly children: ComponentChildren }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      {children}
    </svg>
  )
}

export const CopyIcon = () => (
  <Icon>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
    <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />
  </Icon>
)

export const DoneIcon = () => (
  <Icon>
    <path d="m3 8.5 3.2 3.2L13 4.8" />
  </Icon>
)

export const SearchIcon = () => (
  <Icon>
    <circle cx="7" cy="7" r="4.5" />
    <path d="m10.5 10.5 3 3" />
  </Icon>
)

export const PlusIcon = () => (
  <Icon>
    <path d="M8 3v10M3 8h10" />
  </Icon>
)

export const ShieldIcon = () => (
  <Icon>
    <path d="M8 2 3 4v4c0 3 2.2 5 5 6 2.8-1 5-3 5-6V4z" />
  </Icon>
)

export const WarningIcon = () => (
  <Icon>
    <path d="M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.800v.2" />
  </Icon>
)

/** Half the machine decides, or one of the two. */
export const ThemeIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="5.5" />
    <path d="M8 2.5v11a5.5 5.5 0 0 0 0-11z" class="filled" />
  </Icon>
)

/** Four quarters of a town. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
    <rect x="1" y="1" width="8" height="11" rx="1.5" />
    <rect x="11" y="1" width="8" height="6" rx="1.5" opacity=".55" />
    <rect x="1" y="14" width="8" height="5" rx="1.5" opacity=".55" />
    <rect x="11" y="9" width="8" height="10" rx="1.5" opacity=".8" />
  </svg>
)
