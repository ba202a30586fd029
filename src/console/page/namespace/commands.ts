/** The views of a namespace as commands that show the same, joined where one kubectl shows less. */
import { templateNameLabel } from '../../../apis/templates/types.ts'

/** What a page shows of a namespace, and what makes a new one. */
export type NamespaceSubject = '' | 'objects' | 'access' | 'events' | 'delete' | 'birth'

/** A key of labels or annotations in a path of kubectl's. */
export const keyPath = (key: string): string => key.replaceAll('.', '\\.')

export const columnsFlag = (columns: Readonly<Record<string, string>>): string =>
  `-o custom-columns='${Object.entries(columns)
    .map(([title, path]) => `${title}:${path}`)
    .join(',')}'`

/** Events are shown apart, as on the page. */
const everyKind = '"$(kubectl api-resources --namespaced --verbs=list,watch -o name | grep -v ^events | paste -sd,)"'

const objectColumns = columnsFlag({
  KIND: '.kind',
  NAME: '.metadata.name',
  TEMPLATE: `.metadata.labels.${keyPath(templateNameLabel)}`,
  OWNER: '.metadata.ownerReferences[*].name',
  GOING: '.metadata.deletionTimestamp',
  FINALIZERS: '.metadata.finalizers[*]',
  CREATED: '.metadata.creationTimestamp',
})

/** What most templates hold. */
export const kindsOfBirth = [
  { group: '', version: 'v1', resource: 'serviceaccounts' },
  { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'roles' },
  { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' },
  { group: '', version: 'v1', resource: 'resourcequotas' },
  { group: '', version: 'v1', resource: 'limitranges' },
  { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' },
  { group: '', version: 'v1', resource: 'configmaps' },
] as const

/**
 * @param name one that a namespace can have: it needs no quotes
 * @param isSeen the server shows the namespace itself, not only what is in it
 */
export function commandOf(subject: NamespaceSubject, name: string, isSeen: boolean): string {
  return commandsOf(subject, name, isSeen).join('; ')
}

function commandsOf(subject: NamespaceSubject, name: string, isSeen: boolean): readonly string[] {
  const why = isSeen ? [`borough why ${name}`] : []
  const events = `kubectl get events -n ${name} --sort-by=.lastTimestamp -o wide`
  const objects = `kubectl get ${everyKind} -n ${name} ${objectColumns}`
  switch (subject) {
    case '': {
      const itself = isSeen
        ? [`kubectl get namespace ${name}`, `kubectl describe namespace ${name}`]
        : [`kubectl describe resourcequotas,limitranges -n ${name}`]
      return [...why, ...itself, `${events} | tail -n 6`]
    }
    case 'objects':
      return [objects]
    case 'access':
      return [
        `kubectl auth can-i --list -n ${name}`,
        `kubectl get rolebindings,clusterrolebindings -n ${name} -o wide`,
        `kubectl describe roles -n ${name}`,
        'kubectl describe clusterroles',
      ]
    case 'events':
      return [events]
    case 'delete':
      return [...why, objects]
    case 'birth':
      return [
        `kubectl get namespace ${name}`,
        ...why,
        `kubectl get ${kindsOfBirth.map(({ resource }) => resource).join(',')} -n ${name}`,
      ]
  }
}
