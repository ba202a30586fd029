/** Which version of a template is for a namespace, as `docs/templates.md` has it: by what the test itself wrote. */
import type { KubeObject } from '../../../src/kube/types.ts'
import { isGoing, isOff, isOut, selects } from '../enforcement/facts.ts'
import type { Template } from './oracle.ts'

export const isHalted = (template: Template): boolean => progressOf(template) === 'TooManyPrunes'
export const progressOf = ({ status }: Template): string | undefined =>
  status?.conditions?.find((c) => c.type === 'Progressing')?.reason

/** What templates said at each of their generations. */
export class WrittenSpecs {
  readonly #specs = new Map<string, Template['spec']>()

  note({ metadata, spec }: Template): void {
    this.#specs.set(`${metadata.uid} ${metadata.generation}`, spec)
  }

  /** The version in force while the newest is halted, or not looked at: all is paused. undefined = it is the newest. */
  heldOf(template: Template): Template | undefined {
    const { deletionTimestamp: _, ...metadata } = template.metadata
    const held = template.status?.heldGeneration
    const spec = held === undefined ? undefined : this.#specs.get(`${metadata.uid} ${held}`)
    return spec && { ...template, metadata, spec }
  }

  /** undefined = the template is not for it. */
  versionFor(template: Template, namespace: KubeObject): Template | undefined {
    if (isOff(template) || isOut(namespace)) return undefined
    if (!isGoing(template) && selects(template, namespace)) return template
    const held = this.heldOf(template)
    return held !== undefined && selects(held, namespace) ? held : undefined
  }

  versionsFor(templates: readonly Template[], namespace: KubeObject): Template[] {
    return templates.flatMap((template) => this.versionFor(template, namespace) ?? [])
  }
}
