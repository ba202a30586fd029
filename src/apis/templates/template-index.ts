/** All templates with their selectors parsed, following the store. */
import type { FeatureContext } from '../../feature/feature.ts'
import type { Namespace } from '../namespaces/types.ts'
import { compileMatcher, type Matcher, selectTemplates } from './match.ts'
import { templateResource } from './types.ts'

/** Empty until it follows the store: on servers without population no template matches. */
export class TemplateIndex {
  readonly #matchers = new Map<string, Matcher>()

  follow({ lister, typeOf }: Pick<FeatureContext, 'lister' | 'typeOf'>): void {
    lister.subscribe(typeOf(templateResource), (next, old) => {
      if (next) this.#matchers.set(next.name, compileMatcher(next.object))
      else if (old) this.#matchers.delete(old.name)
    })
  }

  matchers(): Iterable<Matcher> {
    return this.#matchers.values()
  }

  isMatched(namespace: Namespace): boolean {
    return selectTemplates(this.#matchers.values(), namespace).length > 0
  }
}
