/** What `borough populate` says once it serves: what it registered in a line each, for that is much. */
import type { Populate } from '../populate/populate.ts'

export interface PopulateReady extends Pick<Populate, 'policies' | 'registered' | 'url'> {
  readonly cluster: string
  readonly failOpen: boolean
}

export const populateReadyText = ({ cluster, url, policies, failOpen, registered }: PopulateReady): string =>
  `Namespaces of ${cluster} are populated from templates; webhooks at ${url}\n` +
  `Registered:\n${registered.map((name) => `  ${name}\n`).join('')}` +
  `While no replica answers, ${absenceOf(policies, failOpen)}\n`

/** What becomes of namespaces then. */
function absenceOf(policies: Populate['policies'], failOpen: boolean): string {
  if (policies === 'all') {
    const set = 'those that a template gives labels, annotations or an end are'
    return `namespaces are created and wait for their templates;\n${set} ${failOpen ? 'created without' : 'refused'}`
  }
  if (failOpen) return 'namespaces are created unasked (--fail-open) and populated later'
  return 'namespaces are neither created nor changed; --fail-open lets them'
}
