/** What is sought among the rows of a view: reached by `/`, and part of the address. */
import { useEffect, useRef } from 'preact/hooks'
import { useRouter } from '../router.tsx'
import { SearchIcon } from './icons.tsx'

interface SearchProps {
  readonly label: string
  readonly placeholder: string
}

/** What the address says is sought. */
export const useSought = (): string => useRouter().place.value.query.get('q') ?? ''

/** Puts it into the address, beside what else stands there; '' = all. */
export function useSeek(): (text: string) => void {
  const router = useRouter()
  return (text) => {
    const { path, query } = router.place.value
    const next = new URLSearchParams(query)
    if (text === '') next.delete('q')
    else next.set('q', text)
    const view = path === '/' ? '/namespaces' : path
    router.become(next.size === 0 ? view : `${view}?${next.toString()}`)
  }
}

export function Search({ label, placeholder }: SearchProps) {
  const sought = useSought()
  const seek = useSeek()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, select') !== null
      if (event.key !== '/' || isTyping) return
      event.preventDefault()
      input.current?.focus()
    }
    document.addEventListener('keydown', focus)
    return () => document.removeEventListener('keydown', focus)
  }, [])
  return (
    <label class="search">
      <SearchIcon />
      <span class="hidden">{label}</span>
      <input
        ref={input}
        type="search"
        placeholder={placeholder}
        value={sought}
        onInput={({ currentTarget: { value } }) => seek(value)}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  )
}
