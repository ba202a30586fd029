/** Which engine holds the store, and how it is reached. Types and names alone: no engine is loaded with this file. */
import type { RelayPort } from '../base/relay-port.ts'

export type StorageChoice =
  | { readonly engine: 'memory' }
  | { readonly engine: 'sqlite' }
  | EtcdChoice
  /** Held by another process of this machine, which compacts it. */
  | { readonly engine: 'relay'; readonly port: RelayPort }

export interface EtcdChoice {
  readonly engine: 'etcd'
  /** `host:port`, all of one cluster. */
  readonly endpoints: readonly string[]
  /** In front of every key; empty or `/like/this`. */
  readonly prefix: string
  /** Values are written with a checksum, whatever other servers of this etcd announce. Absent = false. */
  readonly checksums?: boolean
  /** The newest format level that is announced and written. Absent = the newest there is. */
  readonly formatLevel?: number
  /** Absent = no TLS. */
  readonly tls?: EtcdTlsFiles
  /** Absent = no user, or the one that the client certificate names. */
  readonly user?: EtcdLogin
}

/** The password itself is nowhere in a configuration: it is read when it is needed. */
export interface EtcdLogin {
  readonly name: string
  /** Absent: the environment variable `etcdPasswordVariable` holds it. */
  readonly passwordFile?: string
}

export const etcdPasswordVariable = 'BOROUGH_ETCD_PASSWORD'

/** Paths of PEM files. */
export interface EtcdTlsFiles {
  /** Absent: the authorities that Node trusts. */
  readonly caFile?: string
  /** Both or none: who we are to etcd. */
  readonly certFile?: string
  readonly keyFile?: string
}

/** True if other processes may serve the same store at the same time. */
export const isShared = ({ storage }: { readonly storage: StorageChoice }): boolean =>
  storage.engine === 'etcd' || storage.engine === 'relay'

/** Of a SQLite store: kept back so that it can be emptied, closed and opened where there is no more room. */
export const reserveBytes: number = 8 * 1024 * 1024
/** The least that a largest size may be. */
export const leastMaxStoreBytes: number = 8 * reserveBytes
