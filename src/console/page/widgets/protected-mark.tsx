/** A shield beside a name: others may not delete or write it. */
import { ShieldIcon } from './icons.tsx'

export const ProtectedMark = ({ title }: { readonly title: string }) => (
  <span class="mark-protected" role="img" aria-label={title} title={title}>
    <ShieldIcon />
  </span>
)
