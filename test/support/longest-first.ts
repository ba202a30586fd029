/**
 * The order of the files of a whole run: those that take longest begin first, so that all workers end together. vitest
 * would go by the size of a file where it remembers no run, as in CI, and leave all but one worker idle at the end.
 */
import { fileURLToPath } from 'node:url'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those of more than 15 seconds on two quiet cores, the longest first. */
export const longest: readonly string[] = [
  'test/simulation/simulation.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/generated/generated-objects.test.ts',
  'test/interop/namespace-deletion.test.ts',
  'test/interop/template-prune.test.ts',
  'test/console/addresses.browser.test.ts',
  'test/population/enforcement.property.test.ts',
  'test/crash/killed-commands.test.ts',
  'test/matrix/matrix.test.ts',
  'test/population/stops.test.ts',
  'test/contract/storage.etcd.test.ts',
  'test/crash/full-disk.test.ts',
  'test/console/senses.browser.test.ts',
  'test/console/namespaces.browser.test.ts',
  'test/population/enforcement-model/model.property.test.ts',
  'test/population/applied-record.test.ts',
  'test/support/runner-flags.test.ts',
  'test/replicas/resilience.etcd.test.ts',
  'test/console/unreached.browser.test.ts',
  'test/attacks/overload.test.ts',
  'test/replicas/quota-storm.etcd.test.ts',
  'test/population/policies.test.ts',
  'test/interop/completion.test.ts',
  'test/interop/commands.test.ts',
  'test/contract/status-metadata.test.ts',
  'test/console/every-page.browser.test.ts',
  'test/interop/populate.test.ts',
  'test/simulation/found.test.ts',
  'test/console/commands.browser.test.ts',
  'test/console/rollouts.browser.test.ts',
  'test/replicas/partitions.etcd.test.ts',
  'test/console/tabs.browser.test.ts',
  'test/replicas/rolling-upgrade.etcd.test.ts',
  'test/population/rollout.test.ts',
  'test/encryption/storage-contract.test.ts',
  'test/console/one-namespace.browser.test.ts',
  'test/contract/storage.sqlite.test.ts',
  'test/toolchain/started.systemd.test.ts',
  'test/console/templates.browser.test.ts',
  'test/console/elsewhere.browser.test.ts',
  'test/replicas/member-disk.etcd.test.ts',
  'test/console/rights.browser.test.ts',
  'test/crash/removed-locks.test.ts',
  'test/interop/story.test.ts',
  'test/interop/output.test.ts',
  'test/interop/helm.test.ts',
  'test/console/hostile-text.browser.test.ts',
  'test/interop/oidc-kubectl.test.ts',
  'test/interop/cli.test.ts',
  'test/contract/etcd-engine.etcd.test.ts',
]

const root = fileURLToPath(new URL('../../', import.meta.url))
const ranks = new Map(longest.map((file, rank) => [`${root}${file}`, rank]))

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => ranks.get(moduleId) ?? longest.length
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b))
  }
}
