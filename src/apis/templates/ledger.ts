/** What the last attempt in each namespace came to, per template: the figures of the template's status. */
import { rfc3339 } from '../../base/clock.ts'
import type { ObjectResult } from './populate.ts'
import type { NamespaceTemplate, TemplateFailure, TemplateStatus } from './types.ts'

/** Failures a status lists. */
const listedFailures = 10

export class TemplateLedger {
  /** template → namespace → failures there (empty = synced) */
  readonly #byTemplate = new Map<string, Map<string, readonly TemplateFailure[]>>()

  /** Answers the templates whose figures changed. */
  record(namespace: string, templates: readonly NamespaceTemplate[], results: readonly ObjectResult[]): string[] {
    const names = new Set(templates.map((t) => t.metadata.name ?? ''))
    const touched: string[] = []
    for (const [template, namespaces] of this.#byTemplate) {
      if (!names.has(template) && namespaces.delete(namespace)) touched.push(template)
    }
    for (const template of names) {
      const failures = results
        .filter((r) => r.template === template && r.failure !== undefined)
        .map((r) => ({
          namespace,
          object: r.object,
          reason: r.failure?.reason ?? 'Error',
          message: r.failure?.message ?? '',
        }))
      const namespaces = this.#byTemplate.get(template) ?? new Map<string, readonly TemplateFailure[]>()
      this.#byTemplate.set(template, namespaces)
      namespaces.set(namespace, failures)
      touched.push(template)
    }
    // Pruning may have emptied a namespace of a template that is going away.
    for (const r of results) if (!names.has(r.template)) touched.push(r.template)
    return touched
  }

  /** Answers the templates whose figures changed. */
  forgetNamespace(namespace: string): string[] {
    const touched: string[] = []
    for (const [template, namespaces] of this.#byTemplate) if (namespaces.delete(namespace)) touched.push(template)
    return touched
  }

  forgetTemplate(template: string): void {
    this.#byTemplate.delete(template)
  }

  statusOf(template: NamespaceTemplate, kinds: readonly string[], nowMs: number): TemplateStatus {
    const namespaces =
      this.#byTemplate.get(template.metadata.name ?? '') ?? new Map<string, readonly TemplateFailure[]>()
    const failures = [...namespaces.values()].flat()
    const failed = [...namespaces.values()].filter((f) => f.length > 0).length
    const old = template.status
    const before = old?.conditions?.find((c) => c.type === 'Synced')
    const status = failed === 0 ? 'True' : 'False'
    return {
      observedGeneration: template.metadata.generation ?? 0,
      matched: namespaces.size,
      synced: namespaces.size - failed,
      failed,
      ...(failures.length > 0 ? { failures: failures.slice(0, listedFailures) } : {}),
      kinds: [...new Set([...(old?.kinds ?? []), ...kinds])].sort(),
      conditions: [
        {
          type: 'Synced',
          status,
          reason: failed === 0 ? 'Synced' : (failures[0]?.reason ?? 'Failed'),
          message:
            failed === 0
              ? 'Every selected namespace holds what the template says'
              : `${failed} of ${namespaces.size} namespaces differ from the template`,
          lastTransitionTime: before?.status === status ? before.lastTransitionTime : rfc3339(nowMs),
        },
      ],
    }
  }
}
