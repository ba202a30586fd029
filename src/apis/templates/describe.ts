/** What a template means to the author of a namespace: how to be selected, what to give, what comes of it. */
import type { Client } from '../../client/client.ts'
import { labelSelectorOf, printLabelSelector } from '../../kube/label-selector.ts'
import type { TemplateExpiry } from '../expiry/types.ts'
import { type DescribedQuota, quotasIn, quotasOver } from './describe-quotas.ts'
import { type DescribedRight, peopleIn, rightsIn } from './describe-rights.ts'
import { type ExampleNamespace, exampleNamespace, givingCommands } from './example-namespace.ts'
import { heldGeneration } from './held-version.ts'
import { isDisabled } from './match.ts'
import { metadataParts, titleOfKey } from './namespace-metadata.ts'
import { allowedFor } from './parameters.ts'
import { titleOf } from './render.ts'
import { objectsOf } from './template-objects.ts'
import {
  type NamespaceTemplate,
  requirePermissionAnnotation,
  type TemplateParameter,
  templateResource,
} from './types.ts'

export type { DescribedQuota, DescribedRight, ExampleNamespace }

export interface DescribedParameter {
  readonly name: string
  /** `label example.com/size` */
  readonly from: string
  /** `one of "small", "large"` */
  readonly allowed: string
  readonly default?: string
  readonly required: boolean
}

export interface TemplateDescription {
  readonly template: string
  readonly isDisabled: boolean
  readonly isBeingDeleted?: true
  /** Which is in force where the newest generation, which is described, does not select a namespace. */
  readonly heldGeneration?: number
  /** Conditions, all of which a namespace must meet; none = every namespace but kube-system. */
  readonly selects: readonly string[]
  /** Rights that it takes to create such a namespace, beside that to create namespaces. */
  readonly needs: readonly string[]
  readonly parameters: readonly DescribedParameter[]
  /** `label example.com/cost-centre` → the value, with its tokens. */
  readonly sets: Readonly<Record<string, string>>
  /** When it ends by itself; absent: the template says nothing of that. */
  readonly expiry?: TemplateExpiry
  /** `RoleBinding/admin` */
  readonly objects: readonly string[]
  readonly rights: readonly DescribedRight[]
  /** `$(OWNER)` → who that is; of those that the template names. */
  readonly people: Readonly<Record<string, string>>
  /** Of a namespace of this template: its own, and those over several namespaces. */
  readonly quotas: readonly DescribedQuota[]
  /** The caller may not list quotas over several namespaces, or the cluster has none: none is among `quotas`. */
  readonly withoutClusterQuotas?: true
  /** One that it selects, with all that it requires; what only its author knows stands as `<…>`. */
  readonly example: ExampleNamespace
  /** Commands that give a namespace which exists what is required. */
  readonly giving: readonly string[]
}

export async function describeTemplate(
  client: Pick<Client, 'get' | 'list'>,
  name: string,
  signal: AbortSignal,
): Promise<TemplateDescription> {
  const template = (await client.get(templateResource, { name }, { signal })) as NamespaceTemplate
  const { spec, metadata } = template
  const over = await quotasOver(client, template, signal)
  const held = heldGeneration(template)
  const isGuarded = metadata.annotations?.[requirePermissionAnnotation] === 'true'
  return {
    template: metadata.name ?? name,
    isDisabled: isDisabled(template),
    ...(metadata.deletionTimestamp === undefined ? {} : { isBeingDeleted: true }),
    ...(held === undefined ? {} : { heldGeneration: held }),
    selects: selectionOf(template),
    needs: isGuarded ? [`use on namespacetemplates ${name}`] : [],
    parameters: (spec?.parameters ?? []).map(describeParameter),
    sets: Object.fromEntries(
      metadataParts.flatMap((part) =>
        Object.entries(spec?.namespaceMetadata?.[part] ?? {}).map(([key, value]) => [titleOfKey({ part, key }), value]),
      ),
    ),
    ...(spec?.expiry === undefined ? {} : { expiry: spec.expiry }),
    objects: objectsOf(template).map(
      ({ source, when }) => `${titleOf(source)}${when === undefined ? '' : ` if ${when}`}`,
    ),
    rights: rightsIn(template),
    people: peopleIn(template),
    quotas: [...quotasIn(template), ...(over ?? [])],
    ...(over === undefined ? { withoutClusterQuotas: true } : {}),
    example: exampleNamespace(template),
    giving: givingCommands(template),
  }
}

function describeParameter(parameter: TemplateParameter): DescribedParameter {
  const { name, fromLabel, fromAnnotation, default: preset, required = false } = parameter
  return {
    name,
    from: fromLabel === undefined ? `annotation ${fromAnnotation}` : `label ${fromLabel}`,
    allowed: allowedFor(parameter),
    ...(preset ? { default: preset } : {}),
    required,
  }
}

function selectionOf({ spec }: NamespaceTemplate): string[] {
  const { labelSelector = {}, nameSelector = {}, creatorSelector } = spec?.namespaces ?? {}
  const labels = printLabelSelector(labelSelectorOf(labelSelector))
  const { include = [], exclude = [] } = nameSelector
  return [
    ...(labels === '' ? [] : [`labels ${labels}`]),
    ...(include.length > 0 ? [`name ${include.join(' or ')}`] : []),
    ...(exclude.length > 0 ? [`name not ${exclude.join(', ')}`] : []),
    ...(creatorSelector === undefined
      ? []
      : [`creator ${[...(creatorSelector.users ?? []), ...(creatorSelector.serviceAccounts ?? [])].join(' or ')}`]),
  ]
}
