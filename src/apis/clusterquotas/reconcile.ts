/**
 * `cluster-resource-quota-controller`: after a change of a spec it brings the accounts of namespaces in line, one by
 * one, each in a transaction of its own, and then says so in `status.observedGeneration`. From the change on, what is
 * decided about namespaces stands on the new spec, so what is in line stays so.
 */
import type { DecidedWrite, Decision, DecisionView } from '../../admission/admission.ts'
import { aborted } from '../../base/aborted.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import type { Turns } from '../../base/turns.ts'
import type { ObjectKey, Reconciler, Source } from '../../controller/controller.ts'
import { keysOf } from '../../controller/source.ts'
import type { FeatureContext } from '../../feature/feature.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type AlignDeps, alignNamespace } from './align.ts'
import { type Figures, isInLine } from './figures.ts'
import type { Counter } from './records.ts'
import type { ParsedQuota } from './selection.ts'
import type { StatusWriter } from './status-writer.ts'

export const clusterQuotaControllerName = 'cluster-resource-quota-controller'

export interface ClusterQuotaReconcilerDeps extends AlignDeps, Pick<FeatureContext, 'writeRecords' | 'log'> {
  readonly figures: Figures
  readonly statuses: StatusWriter
  readonly turns: Turns
  /** In steps, each as it is when it is come to. */
  namespaces(): Iterable<readonly { readonly name: string; readonly metadata: KubeObject['metadata'] }[]>
  see(
    view: DecisionView,
    namespace: string,
  ): { readonly key: string; readonly object: KubeObject | undefined } & Pick<DecidedWrite, 'expect'>
}

/** Keys of this namespace ask for the status alone. */
const statusOnly = 'status'
/** Namespaces brought in line at one time. */
const alignedAtOnce = 8
const mostRemoved = 50

export class ClusterQuotaReconciler implements Reconciler {
  readonly #deps: ClusterQuotaReconcilerDeps

  constructor(deps: ClusterQuotaReconcilerDeps) {
    this.#deps = deps
  }

  async reconcile({ namespace, name }: ObjectKey, signal: AbortSignal): Promise<undefined> {
    const { quotas, statuses } = this.#deps
    if (namespace === statusOnly) {
      await statuses.write(name)
      return undefined
    }
    await this.#deps.figures.surveyed()
    await this.#removeFormer(signal)
    const quota = quotas.find(name)
    if (quota === undefined) return undefined
    if (!(await this.#alignAll(quota, signal))) return undefined
    // An edit meanwhile brings the key back.
    await statuses.write(name, quota)
    return undefined
  }

  /** What was decided before, without the spec or by others, is queued before this write: the cache shows it then. */
  async #awaitQueued(): Promise<void> {
    const { records, writeRecords } = this.#deps
    await writeRecords((view) => ({ writes: [records.nextEpoch(view)] }))
  }

  /** False if it must end before all are in line. */
  async #alignAll(quota: ParsedQuota, signal: AbortSignal): Promise<boolean> {
    const { quotas, figures, log, turns } = this.#deps
    for (;;) {
      await this.#awaitQueued()
      const out: string[] = []
      const slice = await turns.begin()
      for (const step of this.#deps.namespaces()) {
        for (const { name, metadata } of step) {
          if (!isInLine(quota, figures.of(quota.uid).shares.get(name), { metadata })) out.push(name)
        }
        await slice.pause()
      }
      if (out.length === 0) return true
      const misfits = await this.#align(out, () => signal.aborted || quotas.find(quota.name) !== quota)
      if (signal.aborted || quotas.find(quota.name) !== quota) return false
      const [first] = misfits
      if (first === undefined) continue
      log.warn({ quota: quota.name, ...first }, 'a namespace is not counted by a ClusterResourceQuota')
      return false
    }
  }

  async #align(
    names: readonly string[],
    isOver: () => boolean,
  ): Promise<readonly { readonly namespace: string; readonly problem: string }[]> {
    const misfits: { namespace: string; problem: string }[] = []
    let next = 0
    const work = async (): Promise<void> => {
      for (let name = names[next++]; name !== undefined && !isOver(); name = names[next++]) {
        const problem = await this.#alignOne(name)
        if (problem !== undefined) misfits.push({ namespace: name, problem })
      }
    }
    await Promise.all(Array.from({ length: Math.min(alignedAtOnce, names.length) }, work))
    return misfits
  }

  /** Answers why it can't be. */
  async #alignOne(name: string): Promise<string | undefined> {
    let problem: string | undefined
    await this.#deps.writeRecords((view) => {
      problem = undefined
      const { key, expect, object } = this.#deps.see(view, name)
      if (object === undefined) return undefined
      const aligned = alignNamespace(this.#deps, view, { name, object, content: undefined }, false)
      if ('problem' in aligned) {
        ;({ problem } = aligned)
        return undefined
      }
      const { guards = [], writes = [], begin } = aligned
      if (begin !== undefined) return aligned
      return writes.length === 0 ? undefined : { writes, guards: [...guards, { key, expect }] }
    })
    return problem
  }

  /** Of quotas that are gone: nothing is charged to them any more. */
  async #removeFormer(signal: AbortSignal): Promise<void> {
    const { figures, quotas, writeRecords } = this.#deps
    for (const uid of [...figures.uids()]) {
      if (signal.aborted) return
      if (quotas.byUid(uid) !== undefined) continue
      await this.#align([...figures.of(uid).shares.keys()], () => signal.aborted)
      await this.#awaitQueued()
      const counters = [...figures.of(uid).counters.values()]
      for (let from = 0; from < counters.length; from += mostRemoved) {
        const some = counters.slice(from, from + mostRemoved)
        await writeRecords((view) => this.#countersGone(view, uid, some))
      }
    }
  }

  #countersGone(view: DecisionView, uid: string, counters: readonly Counter[]): Decision | undefined {
    const { records } = this.#deps
    const writes: DecidedWrite[] = []
    for (const { holder = '' } of counters) {
      const { key, expect, object } = records.counter(view, uid, holder)
      if (object !== undefined) writes.push({ key, expect, value: undefined })
    }
    return writes.length === 0 ? undefined : { writes }
  }
}

/** How long a status may be behind for watchers. */
const statusAfterMs = 1000

/** Statuses to be stored: those of quotas whose figures have changed. */
export function changedFigures(
  figures: Figures,
  nameOf: (uid: string) => string | undefined,
  clock: Pick<Clock, 'after'>,
): Source {
  return {
    async run(enqueue, signal) {
      const changed = new Set<string>()
      let timer: Timer | undefined
      const tell = (): void => {
        timer = undefined
        for (const uid of changed) {
          const name = nameOf(uid)
          if (name !== undefined) enqueue({ namespace: statusOnly, name })
        }
        changed.clear()
      }
      const stop = figures.onChange((uid) => {
        changed.add(uid)
        timer ??= clock.after(statusAfterMs, tell)
      })
      await aborted(signal)
      stop()
      timer?.cancel()
    },
  }
}

/** Asks at the start for what quotas have left that went while no controller ran. */
export const formerQuotas: Source = keysOf((enqueue) => {
  enqueue({ namespace: '', name: '' })
  return () => {}
})
