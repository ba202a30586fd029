/** All templates with their selectors parsed, following the store. */
import type { FeatureContext } from '../../feature/feature.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { heldGeneration } from './held-version.ts'
import { compileMatcher, type Matcher, selectTemplates, templatesIn } from './match.ts'
import { protectedKind, protectedKindsOf } from './protection.ts'
import { heldVersion, revisionName, revisionNamespace, revisionResource } from './revisions.ts'
import { type NamespaceTemplate, templateResource } from './types.ts'

/** Empty until it follows the store: on servers without population no template matches. */
export class TemplateIndex {
  readonly #matchers = new Map<string, Matcher>()
  /** Those that say when namespaces end. */
  readonly #expiring = new Set<string>()
  /** Of which the version in force could not be read yet. */
  readonly #unread = new Map<string, NamespaceTemplate>()
  #findRevision: (name: string) => KubeObject | undefined = () => undefined
  readonly #protectionListeners: (() => void)[] = []
  #protected: ReadonlySet<string> = new Set()

  follow({ lister, typeOf }: Pick<FeatureContext, 'lister' | 'typeOf'>): void {
    const revisions = typeOf(revisionResource)
    const findRevision = (name: string): KubeObject | undefined =>
      lister.find(revisions, revisionNamespace, name)?.object
    this.#findRevision = findRevision
    lister.subscribe(typeOf(templateResource), (next, old) => {
      const name = next?.name ?? old?.name ?? ''
      this.#unread.delete(name)
      this.#expiring.delete(name)
      if (next === undefined) this.#matchers.delete(name)
      else this.#put(next.object)
      this.#noteProtection()
    })
  }

  matchers(): Iterable<Matcher> {
    if (this.#unread.size > 0) this.#readHeld()
    return this.#matchers.values()
  }

  anyExpires(): boolean {
    if (this.#unread.size > 0) this.#readHeld()
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
    const kinds = new Set([...this.#matchers.values()].flatMap(templatesIn).flatMap(protectedKindsOf))
    const isSame = kinds.size === this.#protected.size && [...kinds].every((kind) => this.#protected.has(kind))
    this.#protected = kinds
    if (!isSame) for (const listener of this.#protectionListeners) listener()
  }

  #put(template: NamespaceTemplate): void {
    const name = nameOf(template.metadata)
    const generation = heldGeneration(template)
    const held =
      generation === undefined ? undefined : heldVersion(template, this.#findRevision(revisionName(name, generation)))
    if (generation !== undefined && held === undefined) this.#unread.set(name, template)
    this.#matchers.set(name, { ...compileMatcher(template), held })
    if (template.spec?.expiry !== undefined || held?.template.spec?.expiry !== undefined) this.#expiring.add(name)
  }

  /** A revision is kept shortly after its template is written. */
  #readHeld(): void {
    const unread = [...this.#unread.values()]
    this.#unread.clear()
    for (const template of unread) this.#put(template)
    if (this.#unread.size < unread.length) this.#noteProtection()
  }

  isMatched(namespace: Namespace): boolean {
    return selectTemplates(this.#matchers.values(), namespace).length > 0
  }
}
