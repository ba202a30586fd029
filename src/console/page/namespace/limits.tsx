/** What each container, pod or claim is given and may ask for: the LimitRanges of a namespace. */
import type { KubeObject } from '../../../kube/types.ts'
import { useFeed } from '../use-cluster.ts'

type Amounts = Readonly<Record<string, string>>

interface Limit {
  readonly type: string
  readonly default?: Amounts
  readonly defaultRequest?: Amounts
  readonly min?: Amounts
  readonly max?: Amounts
}

interface LimitRange extends KubeObject {
  spec?: { limits?: readonly Limit[] }
}

const limitRangeResource = { group: '', version: 'v1', resource: 'limitranges' } as const
const columns = [
  { key: 'defaultRequest', title: 'Request by default' },
  { key: 'default', title: 'Limit by default' },
  { key: 'min', title: 'Least' },
  { key: 'max', title: 'Most' },
] as const

export function Limits({ namespace }: { readonly namespace: string }) {
  const { objects } = useFeed<LimitRange>({ resource: limitRangeResource, namespace })
  const rows = objects.flatMap(({ spec }) => spec?.limits ?? []).flatMap(rowsOf)
  if (rows.length === 0) return null
  return (
    <table class="table stacked">
      <caption>Each container, pod or claim</caption>
      <thead>
        <tr>
          <th scope="col">Resource</th>
          {columns.map(({ key, title }) => (
            <th scope="col" key={key}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ limit, resource }) => (
          <tr key={`${limit.type} ${resource}`}>
            <th scope="row">
              {limit.type} {resource}
            </th>
            {columns.map(({ key, title }) => (
              <td key={key} data-title={title}>
                {limit[key]?.[resource] ?? '–'}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const rowsOf = (limit: Limit): { readonly limit: Limit; readonly resource: string }[] =>
  [...new Set(columns.flatMap(({ key }) => Object.keys(limit[key] ?? {})))].map((resource) => ({ limit, resource }))
