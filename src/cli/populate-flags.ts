/** What `borough populate` is told: shared by the command and the two things it does, which are loaded when needed. */
import type { AdmissionBy } from '../populate/populate.ts'
import type { ListenAddress } from './listen-address.ts'
import type { RemoteFlags } from './remote-flags.ts'

export interface PopulateFlags extends RemoteFlags {
  readonly listen: ListenAddress
  readonly namespace: string
  readonly webhookUrl?: string
  readonly admission: AdmissionBy
  readonly failOpen: boolean
  readonly printManifests: boolean
  readonly filename: readonly string[]
  readonly image: string
  readonly uninstall: boolean
  readonly logLevel: string
}
