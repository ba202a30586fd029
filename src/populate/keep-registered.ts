/**
 * What a cluster was told stays as it was told: policies and webhooks that another client changes or takes off are put
 * back within a minute. Without one of them templates would no longer be enforced, and no status would say so.
 *
 * Which process does it is told by a mark on the webhook that changes objects, the anchor: a digest of all objects, so
 * that replicas of one version and address do the same work, and those of two versions do not undo each other's. Where
 * the anchor is gone nothing is put back: `--uninstall` takes it off first, and so does an administrator who wants to
 * be rid of all of it.
 */
import { createHash } from 'node:crypto'
import { type Clock, sleep } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Client } from '../client/client.ts'
import { jsonEqual } from '../kube/json-value.ts'
import { isConflict, isNotFound } from '../kube/status-error.ts'
import type { JsonObject, KubeObject } from '../kube/types.ts'
import {
  applyAdmission,
  findAnchor,
  findRegistered,
  installAdmission,
  isAnchor,
  registeredMark,
  uninstallAdmission,
} from './admission.ts'

const checkMs = 60_000

export interface KeeperOptions {
  readonly client: Client
  readonly clock: Clock
  readonly log: Log
  /** Told after each look: whether the cluster holds what this process would tell it. */
  onLook(isHeld: boolean): void
}

/** With the mark by which a process knows them again. */
export function marked(objects: readonly KubeObject[]): KubeObject[] {
  const digest = createHash('sha256').update(JSON.stringify(objects)).digest('hex').slice(0, 16)
  return objects.map((object) =>
    isAnchor(object)
      ? { ...object, metadata: { ...object.metadata, annotations: { [registeredMark]: digest } } }
      : object,
  )
}

const markOf = (anchor: KubeObject | undefined): string | undefined => anchor?.metadata.annotations?.[registeredMark]
/** A controller of the cluster's own writes the status. */
const contentOf = ({
  apiVersion: _v,
  kind: _k,
  metadata: _m,
  status: _s,
  ...content
}: KubeObject & { status?: unknown }) => content as unknown as JsonObject
const titleOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`

interface Differing {
  readonly wanted: KubeObject
  readonly before: KubeObject | undefined
}

export class Keeper {
  readonly #options: KeeperOptions
  #objects: readonly KubeObject[]
  #isMissed = false
  /** Versions in which objects are as this process would tell them, by title: such an object needs no write. */
  readonly #told = new Map<string, string | undefined>()

  /** @param objects `marked`, and told to the cluster */
  constructor(options: KeeperOptions, objects: readonly KubeObject[]) {
    this.#options = options
    this.#objects = objects
  }

  /** The cluster is told these from now on, unless it was rid of all. */
  async replace(objects: readonly KubeObject[]): Promise<void> {
    const { client } = this.#options
    this.#objects = objects
    this.#told.clear()
    if ((await findAnchor(client)) !== undefined) await installAdmission(client, objects)
  }

  /** Looks every minute until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    while (!signal.aborted) {
      try {
        await this.look()
      } catch (error) {
        log.warn({ error }, 'could not look whether policies and webhooks are as they were told')
      }
      await sleep(clock, checkMs, signal)
    }
  }

  async look(): Promise<void> {
    const { client, log, onLook } = this.#options
    const objects = this.#objects
    const anchor = await findAnchor(client)
    this.#tellMissing(anchor === undefined)
    const isHeld = anchor !== undefined && markOf(anchor) === markOf(objects.find(isAnchor))
    if (isHeld) {
      const differing = await this.#findDiffering(objects, anchor)
      // A replica of another version tells its anchor first: what was found before that is changed no more.
      if (differing.length > 0 && markOf(await findAnchor(client)) !== markOf(anchor)) return onLook(false)
      const changed = await this.#applyAll(differing, anchor.metadata.uid)
      if (changed.length > 0)
        log.warn({ changed }, 'policies or webhooks were changed or taken off by another client, and are put back')
      // Meanwhile taken off, in a different order: nothing of it may stay behind.
      if (differing.length > 0 && (await findAnchor(client)) === undefined) await uninstallAdmission(client)
    }
    onLook(isHeld)
  }

  /** Those that another client may have written since the last look. */
  async #findDiffering(objects: readonly KubeObject[], anchor: KubeObject): Promise<Differing[]> {
    const differing: Differing[] = []
    for (const wanted of objects) {
      const before = isAnchor(wanted) ? anchor : await findRegistered(this.#options.client, wanted)
      const version = before?.metadata.resourceVersion
      if (version === undefined || this.#told.get(titleOf(wanted)) !== version) differing.push({ wanted, before })
    }
    return differing
  }

  /**
   * Answers those that were not so. Each is changed as it was found, so that what a replica of another version has told
   * since stays; `uid`: of the anchor, which is never made again.
   */
  async #applyAll(differing: readonly Differing[], uid: string | undefined): Promise<string[]> {
    const { client } = this.#options
    const changed: string[] = []
    for (const { wanted, before } of differing) {
      const { resourceVersion } = before?.metadata ?? {}
      const found = isAnchor(wanted) ? { uid, resourceVersion } : { resourceVersion }
      const object = { ...wanted, metadata: { ...wanted.metadata, ...found } }
      try {
        const after = await applyAdmission(client, object as KubeObject)
        this.#told.set(titleOf(wanted), after.metadata.resourceVersion)
        if (before === undefined || !jsonEqual(contentOf(before), contentOf(after))) changed.push(titleOf(wanted))
      } catch (error) {
        // The next look sees what became of it.
        if (!isConflict(error) && !(isAnchor(wanted) && isNotFound(error))) throw error
      }
    }
    return changed
  }

  #tellMissing(isMissing: boolean): void {
    if (isMissing && !this.#isMissed)
      this.#options.log.error(
        {},
        'the webhooks were taken off the cluster: what templates ask of namespaces is not asked until a replica starts',
      )
    this.#isMissed = isMissing
  }
}
