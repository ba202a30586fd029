/**
 * What a namespace would be, before it is made: as the server answers a dry run, and what the templates that the user
 * may read say of it. Pure.
 */
import { expiresAtAnnotation, expirySourceAnnotation } from '../../../apis/expiry/types.ts'
import { deadlineOf, mergeConfigurations } from '../../../apis/initializers/configurations.ts'
import {
  type NamespaceInitializerConfiguration,
  namespaceTemplateInitializer,
} from '../../../apis/initializers/types.ts'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import { resolveNameOnly } from '../../../apis/templates/clones.ts'
import { ownerOf, selectTemplates } from '../../../apis/templates/match.ts'
import { holdersOf, keysHeld, titleOfKey, valueOf } from '../../../apis/templates/namespace-metadata.ts'
import { type Rendered, render, titleOf } from '../../../apis/templates/render.ts'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { matcherOf } from '../templates/matcher.ts'
import { sayingsOf } from '../templates/object-words.ts'

export interface PreviewedObject {
  /** `ConfigMap/about` */
  readonly title: string
  /** Absent where the template may not be read, and where it is a copy. */
  readonly object?: KubeObject
  /** What the template says of it beside its content. */
  readonly said?: readonly string[]
}

export interface PreviewedTemplate {
  /** '' = said by the server alone. */
  readonly name: string
  readonly objects: readonly PreviewedObject[]
}

export interface DraftPreview {
  readonly owner: string
  readonly expires?: { readonly at: string; readonly template?: string }
  /** What templates set on the namespace: `label example.com/cost`. */
  readonly metadata: readonly { readonly title: string; readonly value: string; readonly template: string }[]
  readonly templates: readonly PreviewedTemplate[]
  /** What would be left out, with the reason. */
  readonly skipped: readonly { readonly title: string; readonly message: string }[]
  /** Whom it waits for after its templates, in that order. */
  readonly awaited: readonly Awaited[]
  readonly warnings: readonly string[]
}

export interface Awaited {
  readonly name: string
  /** What its configuration says, where the user may read that; `timeoutMs` undefined = for ever. */
  readonly turn?: { readonly timeoutMs?: number; readonly goesOn: boolean }
}

/** How Borough says in the warnings of a dry run what it would make. */
const wouldCreate = /^would create (.*)$/

export function previewOf(
  answer: Namespace,
  warnings: readonly string[],
  readable: readonly NamespaceTemplate[],
  configurations?: readonly NamespaceInitializerConfiguration[],
): DraftPreview {
  const templates = selectTemplates(readable.map(matcherOf), answer)
  const { objects, skipped } = render(templates, answer, resolveNameOnly)
  const rendered = templates.map(({ metadata }) => ({
    name: metadata.name ?? '',
    objects: objects.filter(({ template }) => template.metadata.name === metadata.name).map(previewed),
  }))
  const known = new Set(rendered.flatMap((template) => template.objects.map(({ title }) => title)))
  const told = warnings.flatMap((text) => wouldCreate.exec(text)?.[1] ?? []).filter((title) => !known.has(title))
  const { [expiresAtAnnotation]: at, [expirySourceAnnotation]: source } = answer.metadata.annotations ?? {}
  return {
    owner: ownerOf(answer) ?? '',
    ...(at === undefined ? {} : { expires: { at, ...(source === undefined ? {} : { template: source }) } }),
    metadata: keysHeld(holdersOf(answer)).map(({ part, key, template }) => ({
      title: titleOfKey({ part, key }),
      value: valueOf(answer, { part, key }) ?? '',
      template,
    })),
    templates: [...rendered, ...(told.length === 0 ? [] : [{ name: '', objects: told.map((title) => ({ title })) }])],
    skipped: skipped.map(({ object, message }) => ({ title: object, message })),
    awaited: awaitedBy(answer, configurations),
    warnings: warnings.filter((text) => !wouldCreate.test(text)),
  }
}

/** The dry run of a server with initializers is answered with their names, for which no right is needed. */
function awaitedBy(
  answer: Namespace,
  configurations: readonly NamespaceInitializerConfiguration[] | undefined,
): readonly Awaited[] {
  const names = (answer.spec?.initializers?.pending ?? []).map(({ name }) => name)
  const others = names.filter((name) => name !== namespaceTemplateInitializer)
  if (configurations === undefined) return others.map((name) => ({ name }))
  const merged = mergeConfigurations(configurations)
  return others.map((name) => {
    const { timeoutMs, goesOn = false } = deadlineOf(merged, answer, name) ?? {}
    return { name, turn: { ...(timeoutMs === undefined ? {} : { timeoutMs }), goesOn } }
  })
}

function previewed({ object, held }: Rendered): PreviewedObject {
  const said = sayingsOf(held)
  return {
    title: titleOf(object),
    ...(held.cloneFrom === undefined ? { object: withoutPlace(object) } : {}),
    ...(said.length === 0 ? {} : { said }),
  }
}

/** The namespace and the name stand beside it. */
function withoutPlace({ metadata: { namespace: _, ...metadata }, ...rest }: KubeObject): KubeObject {
  return { ...rest, metadata }
}
