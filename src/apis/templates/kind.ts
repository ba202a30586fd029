/** The kind NamespaceTemplate, in both its groups. */
import type { TypeDeclaration } from '../../catalog/catalog.ts'
import type { Column } from '../../kube/resource-type.ts'
import { templateGroup, templateGroups, templateProperties, templateResourceName, templateVersion } from './types.ts'

const templateColumns: readonly Column[] = [
  { name: 'Matched', type: 'integer', jsonPath: '.status.matched', description: 'Namespaces it selects.' },
  {
    name: 'Synced',
    type: 'integer',
    jsonPath: '.status.synced',
    description: 'Of them, those that hold what it says.',
  },
  { name: 'Failed', type: 'integer', jsonPath: '.status.failed', description: 'Of them, those that do not.' },
  {
    name: 'Skipped',
    type: 'integer',
    jsonPath: '.status.skipped',
    description: 'Of them, those without what names a creator or owner: none is recorded.',
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Since it was created.' },
  {
    name: 'Extended',
    type: 'integer',
    jsonPath: '.status.extended',
    description: 'Namespaces where others have added to what it says.',
    priority: 1,
  },
  {
    name: 'Waiting',
    type: 'integer',
    jsonPath: '.status.waiting',
    description: 'Namespaces whose turn to be changed has not come.',
    priority: 1,
  },
  {
    name: 'Rollout',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Progressing")].reason',
    description: 'Complete, RollingOut, or why it stopped.',
    priority: 1,
  },
]

export const templateKind = 'NamespaceTemplate'

/** One storage for both. */
export const templateKinds: readonly TypeDeclaration[] = templateGroups.map((group) => ({
  group,
  version: templateVersion,
  resource: templateResourceName,
  kind: templateKind,
  namespaced: false,
  properties: Object.fromEntries(templateProperties),
  description: 'NamespaceTemplate holds objects that every namespace it selects is given and keeps.',
  hasStatus: true,
  columns: templateColumns,
  // A short name in two groups makes kubectl warn at every use.
  ...(group === templateGroup ? { shortNames: ['nstpl'] } : {}),
  storageName: `${templateResourceName}.${templateGroup}`,
}))
