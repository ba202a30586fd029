/** All templates with their selectors parsed, following the store. */
import type { FeatureContext } from '../../feature/feature.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { Namespace } from '../namespaces/types.ts'
import { compileMatcher, type Matcher, selectTemplates } from './match.ts'
import { protectedKind, protectedKindsOf } from './protection.ts'
import { templateResource } from './types.ts'

/** Empty until it follows the store: on servers without population no template matches. */
export class TemplateIndex {
  readonly #matchers = new Map<string, Matcher>()
  readonly #protectionListeners: (() => void)[] = []
  #protected: ReadonlySet<string> = new Set()

  follow({ lister, typeOf }: Pick<FeatureContext, 'lister' | 'typeOf'>): void {
    lister.subscribe(typeOf(templateResource), (next, old) => {
      if (next) this.#matchers.set(next.name, compileMatcher(next.object))
      else if (old) this.#matchers.delete(old.name)
      this.#noteProtection()
    })
  }

  matchers(): Iterable<Matcher> {
    return this.#matchers.values()
  }

  /** Whether any template protects objects of this kind. */
  protects({ group, kind }: ResourceType): boolean {
    return this.#protected.has(protectedKind(group, kind))
  }

  onProtectedKindsChange(listener: () => void): void {
    this.#protectionListeners.push(listener)
  }

  #noteProtection(): void {
    const kinds = new Set([...this.#matchers.values()].flatMap(({ template }) => protectedKindsOf(template)))
    const isSame = kinds.size === this.#protected.size && [...kinds].every((kind) => this.#protected.has(kind))
    this.#protected = kinds
    if (!isSame) for (const listener of this.#protectionListeners) listener()
  }

  isMatched(namespace: Namespace): boolean {
    return selectTemplates(this.#matchers.values(), namespace).length > 0
  }
}
