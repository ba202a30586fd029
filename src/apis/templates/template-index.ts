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
  /** Those that say when namespaces end. */
  readonly #expiring = new Set<string>()
  readonly #protectionListeners: (() => void)[] = []
  #protected: ReadonlySet<string> = new Set()

  follow({ lister, typeOf }: Pick<FeatureContext, 'lister' | 'typeOf'>): void {
    lister.subscribe(typeOf(templateResource), (next, old) => {
      const name = next?.name ?? old?.name ?? ''
      this.#expiring.delete(name)
      if (next === undefined) this.#matchers.delete(name)
      else {
        this.#matchers.set(name, compileMatcher(next.object))
        if (next.object.spec?.expiry !== undefined) this.#expiring.add(name)
      }
      this.#noteProtection()
    })
  }

  matchers(): Iterable<Matcher> {
    return this.#matchers.values()
  }

  anyExpires(): boolean {
    return this.#expiring.size > 0
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
