/**
 * Of what its templates could not give a namespace: which template, who must act, and what helps. Read with the rights
 * of the caller: who may not read templates is told the same without their names.
 */
import { objectArguments } from '../../base/shell-text.ts'
import type { Client } from '../../client/client.ts'
import { ifReadable } from '../../client/if-readable.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Explanation, Help, Obstacle } from '../namespaces/explanation.ts'
import type { Namespace } from '../namespaces/types.ts'
import { compileMatcher } from './match.ts'
import { failuresTold, titlesIn } from './told-failures.ts'
import { type NamespaceTemplate, templateResource } from './types.ts'

interface Lack {
  readonly namespace: string
  /** `ConfigMap/one` */
  readonly object: string
  readonly reason: string
  readonly message: string
  readonly template: string | undefined
}

/** What holds up a namespace where `borough populate` has not come to it. */
export const notTried = 'its templates have not been applied yet'
/** Where the controller has acted, and can't help. */
export const triedInVain: Pick<Obstacle, 'what' | 'who'> = {
  what: 'its templates could not give it all that it must have',
  who: 'who is named below with each object that is missing; it is tried again',
}

/** One for each that the namespace tells of; absent where it tells of none. */
export async function explainFailures(
  client: Pick<Client, 'list'>,
  namespace: Namespace,
  signal: AbortSignal,
): Promise<Pick<Explanation, 'lacking'>> {
  const told = failuresTold(namespace).filter(({ object }) => object !== '')
  if (told.length === 0) return {}
  const listed = await ifReadable(client.list(templateResource, { signal }))
  const selecting = ((listed?.items ?? []) as NamespaceTemplate[])
    .filter((template) => compileMatcher(template).selects(namespace))
    .map((template) => ({ template, titles: titlesIn(template, namespace) }))
  const where = nameOf(namespace.metadata)
  const lacking = told.map(({ object, reason, message }) => {
    const holding = selecting.filter(({ titles }) => titles.has(object)).map(({ template }) => template)
    const failures = holding.flatMap((template) => failureOf(template, where, object) ?? [])
    const name = failures[0]?.template ?? (holding.length === 1 ? nameOf(holding[0]?.metadata ?? {}) : undefined)
    const lack: Lack = {
      ...{ namespace: where, object, message, template: name },
      reason: reason || (failures[0]?.reason ?? ''),
    }
    return obstacleOf(lack)
  })
  return { lacking }
}

/** The first failures of a template stand in its status. */
function failureOf(
  { metadata, status }: NamespaceTemplate,
  namespace: string,
  object: string,
): { readonly template: string; readonly reason: string } | undefined {
  const found = status?.failures?.find((f) => f.namespace === namespace && f.object === object)
  return found && { template: nameOf(metadata), reason: found.reason }
}

function obstacleOf(lack: Lack): Obstacle {
  const { object, reason, template } = lack
  const of = template === undefined ? 'one of its templates' : `NamespaceTemplate ${JSON.stringify(template)}`
  const { who, helps } = adviceOn(lack)
  return { what: `${object} of ${of} is not as it says${reason === '' ? '' : ` (${reason})`}`, who, helps }
}

type Advice = Pick<Obstacle, 'who' | 'helps'>

const authors = 'who writes the template'
const tenants = 'who may write in this namespace'
const whoGrants = 'who gives the account of borough populate its rights'

function adviceOn(lack: Lack): Advice {
  const quota = /\bexceeded quota: ([^,\s]+), /.exec(lack.message)?.[1]
  if (quota !== undefined)
    return { who: `${tenants} (delete what uses it up), or who sets the quota`, helps: [lookAtQuota(lack, quota)] }
  switch (lack.reason) {
    case 'AlreadyExists':
      return {
        who: `${tenants}, or ${authors}`,
        helps: [
          ...remove(lack, 'the template makes its own within a minute; copy what is needed to another name first'),
          ...change(lack, { adopt: true }, 'take over what is in the way of it, in all its namespaces'),
        ],
      }
    case 'TakenOver':
    case 'Drift':
    case 'DriftStopped':
      return {
        who: `${tenants}, as another writer of it, or ${authors}`,
        helps: [
          ...remove(lack, 'it is made again as the template says'),
          ...edit(
            lack,
            'spec.objects[].yieldTo leaves fields to another writer; spec.driftPolicy: Correct puts them back',
          ),
        ],
      }
    case 'ParameterMissing':
    case 'ParameterInvalid':
      return {
        who: 'who may change labels and annotations of this namespace',
        helps: describe(lack, 'what a namespace has to give, and the commands that give it'),
      }
    case 'SourceMissing':
    case 'SourceRefused':
      // As API servers word it: the source may be there.
      if (/ is forbidden: User /.test(lack.message)) return { who: whoGrants, helps: grant(lack) }
      return { who: 'who looks after the source that it is copied from', helps: [] }
    case 'UnknownKind': {
      const [, service] = /^APIService (\S+) does not answer /.exec(lack.message) ?? []
      if (service === undefined) return { who: `who installs kinds in the cluster, or ${authors}`, helps: [] }
      const effect = 'says why; the object is made once it answers'
      return {
        who: 'who runs the API server of this kind',
        helps: [{ command: `kubectl get apiservice ${service}`, effect }],
      }
    }
    case 'Invalid':
    case 'Forbidden':
      return {
        who: `${authors}; where the object was changed or made anew in this namespace, who may delete it`,
        helps: [
          ...remove(lack, 'if it is there: it is made again as the template says'),
          ...edit(lack, 'if what it says is refused everywhere'),
        ],
      }
    default:
      return { who: authors, helps: edit(lack, 'what it says') }
  }
}

/** Of a label, an annotation or a parameter there is no object. */
function remove({ object, namespace }: Lack, effect: string): readonly Help[] {
  const [, kind, name] = /^([A-Z]\w*)\/(\S+)$/.exec(object) ?? []
  if (kind === undefined || name === undefined) return []
  return [{ command: `kubectl delete ${objectArguments(kind.toLowerCase(), name)} -n ${namespace}`, effect }]
}

const change = ({ template }: Lack, spec: object, effect: string): readonly Help[] =>
  template === undefined
    ? []
    : [{ command: `kubectl patch namespacetemplate ${template} --type=merge -p '${JSON.stringify({ spec })}'`, effect }]

const edit = ({ template }: Lack, effect: string): readonly Help[] =>
  template === undefined ? [] : [{ command: `kubectl edit namespacetemplate ${template}`, effect }]

/** Where a cluster is Borough's own the controller may read all there is. */
const grant = ({ template }: Lack): readonly Help[] =>
  template === undefined
    ? []
    : [
        {
          command: `kubectl get namespacetemplate ${template} -o yaml | borough populate --print-manifests -f -`,
          effect: 'what an administrator applies: the rights that it takes are among it',
        },
      ]

const describe = ({ template }: Lack, effect: string): readonly Help[] =>
  template === undefined ? [] : [{ command: `borough template describe ${template}`, effect }]

/** As `countedOver` words it. */
const lookAtQuota = ({ message, namespace }: Lack, quota: string): Help =>
  /\bthis ClusterResourceQuota selects\b/.test(message)
    ? {
        command: `kubectl get ${objectArguments('clusterresourcequota', quota)} -o yaml`,
        effect: 'what it allows, and what is used',
      }
    : {
        command: `kubectl describe ${objectArguments('resourcequota', quota)} -n ${namespace}`,
        effect: 'what it allows, and what is used',
      }
