/** Pods: their strategy, the collector of those whose time is over, and Pod Security. */

import type { ObjectKey } from '../../controller/controller.ts'
import { changesOf } from '../../controller/source.ts'
import type { Feature } from '../../feature/feature.ts'
import { typeFeed } from '../../feature/type-feed.ts'
import { namespaceLookup } from '../namespaces/lookup.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import { defaultTolerations } from './default-tolerations.ts'
import { podCollector, podCollectorName } from './reconcile.ts'
import { podSecurity } from './security/admission.ts'
import { podExempted, podJudged, podJudgementFailed, podSecurityMetrics } from './security/metrics.ts'
import type { PodSecuritySettings } from './security/pod-security-configuration.ts'
import { podStrategy } from './strategy.ts'
import { nodeResource, podResource } from './types.ts'

export const pods = (security: PodSecuritySettings): Feature => ({
  name: 'pods',
  controllerRules: {
    // Removes pods whose time is over, and those of nodes that do not exist.
    [podCollectorName]: [
      may([...read, 'delete'], '', 'pods'),
      may('patch update', '', 'pods/status'),
      may(read, '', 'nodes'),
      events,
    ],
  },
  open(context) {
    const { catalog, clock, diagnostics, lister, typeOf } = context
    const podType = typeOf(podResource)
    const nodeType = typeOf(nodeResource)
    const nodeExists = (name: string): boolean => lister.find(nodeType, '', name) !== undefined
    return {
      strategies: { pods: podStrategy(catalog.strategyOf(podType), nodeExists) },
      admission: [
        podSecurity({
          settings: security,
          namespaces: namespaceLookup(context),
          clock,
          *podsIn(namespace) {
            for (const { object } of lister.list(podType, namespace)) yield object
          },
          judged: (judgement) => diagnostics.publish(podJudged, judgement),
          exempted: (pod) => diagnostics.publish(podExempted, pod),
          failed: (fault) => diagnostics.publish(podJudgementFailed, fault),
        }),
        defaultTolerations,
      ],
      controllers({ client }) {
        /** Pods that were given time to end. */
        const ending = new Map<string, ObjectKey>()
        return [
          {
            name: podCollectorName,
            workers: 4,
            sources: [
              changesOf(typeFeed(lister, podType)).map((next, old) => {
                const { namespace, name } = next ?? old ?? { namespace: '', name: '' }
                const key = { namespace, name }
                // By bytes first: a start with many pods does not parse them all.
                if (next && hasGrace(next.bytes) && next.object.metadata.deletionGracePeriodSeconds) {
                  ending.set(`${namespace}/${name}`, key)
                  return key
                }
                ending.delete(`${namespace}/${name}`)
                return undefined
              }),
              changesOf(typeFeed(lister, nodeType)).map((next) => (next === undefined ? ending.values() : undefined)),
            ],
            reconciler: podCollector({ client: client(podCollectorName), clock, nodeExists }),
          },
        ]
      },
      metrics: (instruments) => podSecurityMetrics(instruments, diagnostics),
    }
  },
})

const graceMark = Buffer.from('"deletionGracePeriodSeconds":')
const hasGrace = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(graceMark)
