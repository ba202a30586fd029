import { nameOf } from '../../kube/metadata.ts'
import type { NamespaceTemplate } from './types.ts'

/** Which templates are being applied somewhere: a deleted template goes only after the last pass that applies it. */
export class ActivePasses {
  /** template → passes */
  readonly #counts = new Map<string, number>()

  isApplying(template: string): boolean {
    return this.#counts.has(template)
  }

  begin(templates: readonly NamespaceTemplate[]): void {
    for (const { metadata } of templates) this.#add(nameOf(metadata), 1)
  }

  end(templates: readonly NamespaceTemplate[]): void {
    for (const { metadata } of templates) this.#add(nameOf(metadata), -1)
  }

  #add(template: string, step: 1 | -1): void {
    const n = (this.#counts.get(template) ?? 0) + step
    if (n === 0) this.#counts.delete(template)
    else this.#counts.set(template, n)
  }
}
