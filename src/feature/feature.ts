/**
 * What one concept brings to the server: the seam between the folders of `apis/` and the wiring. A feature declares;
 * what becomes of it (the order of admission, who leads, where metrics are shown) is the wiring's.
 *
 *   declared ──▶ kinds are served ──▶ the cache shows the store ──▶ open(context) ──▶ parts ──▶ start() ──▶ controllers
 */

import type { Counter, Gauge, Histogram } from 'prom-client'
import type { Accountant, AdmissionPlugin } from '../admission/admission.ts'
import type { Authorizer } from '../authz/authz.ts'
import type { Clock } from '../base/clock.ts'
import type { Diagnostics } from '../base/diagnostics.ts'
import type { Ids } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Resumable } from '../base/resumable.ts'
import type { Turns } from '../base/turns.ts'
import type { Catalog, TypeDeclaration } from '../catalog/catalog.ts'
import type { Strategy } from '../catalog/strategy.ts'
import type { Evaluator } from '../cel/evaluator.ts'
import type { Client } from '../client/client.ts'
import type { WebhookClient } from '../client/webhook-client.ts'
import type { ControllerSpec } from '../controller/controller.ts'
import type { FieldError } from '../kube/field-error.ts'
import type { PolicyRule } from '../kube/rbac.ts'
import type { Resource } from '../kube/resource.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Lister, Projections, Registry, StoreView } from '../registry/registry.ts'
import type { Storage } from '../storage/storage.ts'

export interface Feature {
  /** The folder below `apis/`. */
  readonly name: string
  /** Kinds that are not built in. */
  readonly kinds?: readonly TypeDeclaration[]
  /** Rights of its controllers, by service account: the ClusterRoles `system:controller:<name>`. */
  readonly controllerRules?: ControllerRules
  /** What has to be in the store before clients are served; made at the start where it is missing. */
  readonly defaultObjects?: readonly DefaultObject[]
  /** Called once, in the order of the list. It may follow the cache from here on. */
  open(context: FeatureContext): FeatureParts
}

export interface DefaultObject {
  readonly resource: Resource
  readonly object: KubeObject
  readonly fieldManager: string
}

export type ControllerRules = Readonly<Record<string, readonly PolicyRule[]>>

export interface FeatureParts {
  /**
   * By `resource.group`: strategies of its own kinds, and what it adds to those of built-in ones (`extendStrategy`).
   * Two features may not bring one for the same kind.
   */
  readonly strategies?: Readonly<Record<string, Strategy>>
  /** Of kinds that are not declared beforehand. */
  readonly customStrategy?: (type: ResourceType) => Strategy
  /** Each stands in the explicit order of admission by its name. */
  readonly admission?: readonly AdmissionPlugin[]
  readonly accountants?: readonly Accountant[]
  /** See `RegistryDeps.beforeRead`. */
  readonly beforeRead?: ReadonlyMap<ResourceType, (name: string) => Promise<void>>
  /** See `RegistryDeps.projections`. */
  readonly projections?: Projections
  /** Called where the controllers run, each time they begin to. */
  controllers?(run: ControllerContext): readonly ControllerSpec[]
  /** Called once, when the library of metrics is loaded. */
  metrics?(instruments: Instruments): void
  /** The default objects are in the store: from now on clients are served. */
  start?(): void
}

export interface FeatureContext {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly catalog: Catalog
  readonly lister: Lister
  /** Versions as they are stored, whatever serves them. */
  readonly stored: StoreView
  /** For the server's own records, which are no objects of the API. */
  readonly records: Pick<Storage, 'commit' | 'openedCommitMs'>
  /** As `Registry.writeRecords`: for records that what is queued may be about to change. */
  readonly writeRecords: Registry['writeRecords']
  readonly authorizer: Authorizer
  readonly webhookClient: WebhookClient
  /** Of expressions that clients write. */
  readonly evaluator: Evaluator
  readonly diagnostics: Diagnostics
  /** For what takes long and no client waits for. */
  readonly turns: Turns
  /** True while the controllers run in this process. */
  isLeading(): boolean
  /** Whether the holder of a lease of this server's is this process. */
  isOwnLease(holder: string): boolean
  /** A type that the server can't do without. @throws Error if it is not served */
  typeOf<T extends KubeObject>(resource: Resource<T>): ResourceType<T>
  /** Of any type; not to be called before all features are open. */
  strategyOf(type: ResourceType): Strategy
  /** What is wrong with a create, defaults and preparation included, as far as it depends on nothing but the object. */
  validateNew(type: ResourceType, object: KubeObject): Resumable<readonly FieldError[]>
  /**
   * What an apply makes where there is nothing, defaulted. It shares nothing with the configuration.
   * @returns undefined if it does not fit the schema. @throws StatusError
   */
  applyNew(type: ResourceType, configuration: KubeObject, manager: string): KubeObject | undefined
  /** A create by the server itself, or for `user`. */
  create(type: ResourceType, object: KubeObject, user?: UserInfo): Promise<void>
}

export interface ControllerContext {
  /** @param sharesValues only for controllers that never change an object they were given */
  client(account: string, sharesValues?: boolean): Client
  /** Where a watch broke and is taken up again. */
  onError(account: string): (error: unknown) => void
}

/** As the library's, registered already. */
export interface Instruments {
  counter<L extends string>(options: InstrumentOptions<L>): Counter<L>
  gauge<L extends string>(options: GaugeOptions<L>): Gauge<L>
  histogram<L extends string>(options: InstrumentOptions<L> & { readonly buckets: readonly number[] }): Histogram<L>
  /** Families that the feature counts itself. The names are those of the first call. */
  families(read: () => readonly ReadFamily[]): void
}

/** As the exposition format has it: figures of one name, told apart by labels. */
export interface ReadFamily {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly name: string
  readonly help: string
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number | Buckets }[]
}

/** Of a histogram: upper bounds with what was observed up to them, without `+Inf`, which is `count`. */
export interface Buckets {
  readonly buckets: readonly (readonly [upper: number, cumulative: number])[]
  readonly sum: number
  readonly count: number
}

export interface InstrumentOptions<L extends string> {
  readonly name: string
  readonly help: string
  readonly labels?: readonly L[]
}

export interface GaugeOptions<L extends string> extends InstrumentOptions<L> {
  /** How the figures of several processes become one. Default: their sum. */
  readonly aggregator?: 'max' | 'min' | 'first' | 'sum'
  /** Sets it whenever it is read. */
  collect?(gauge: Gauge<L>): void
}
