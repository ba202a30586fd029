/** Runtime classes. @see pkg/apis/node/validation of Kubernetes 1.36 */
import { validateLabels } from '../../../kube/metadata.ts'
import { isDns1123Label } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { checkTolerations } from '../core/pod-spec.ts'
import { checkResourceRequirements } from '../core/resource-requirements.ts'
import { textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { findPart, type Part, partIn, partsIn, type Report, sameValue, textIn } from '../report.ts'

function checkRuntimeClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const handler = textIn(next, 'handler')
  if (old) report.immutable('handler', handler, old.handler)
  // Beyond upstream, which looks at nothing else of an update: what is stored stays fit to be made again.
  if (old && sameValue({ ...next, metadata: null }, { ...old, metadata: null })) return
  if (handler === '') report.required('handler')
  else report.each('handler', handler, isDns1123Label(handler))
  const overhead = findPart(next, 'overhead')
  if (overhead) checkResourceRequirements(report, 'overhead', { limits: overhead.podFixed })
  const scheduling = partIn(next, 'scheduling')
  const labels = partIn(scheduling, 'nodeSelector') as Record<string, string>
  report.add(validateLabels(labels, 'scheduling.nodeSelector'))
  const at = 'scheduling.tolerations'
  const tolerations = partsIn(scheduling, 'tolerations')
  checkTolerations(report, at, tolerations)
  const seen = new Set<string>()
  tolerations.forEach((toleration, i) => {
    const shown = shownToleration(toleration)
    const key = JSON.stringify({ ...shown, TolerationSeconds: null })
    if (seen.has(key)) report.duplicate(`${at}[${i}]`, shown)
    seen.add(key)
  })
}

/** As Go prints it. */
const shownToleration = (t: Part): object => ({
  Key: textIn(t, 'key'),
  Operator: textIn(t, 'operator'),
  Value: textIn(t, 'value'),
  Effect: textIn(t, 'effect'),
  TolerationSeconds: t.tolerationSeconds ?? null,
})

const columns: TableColumns = {
  definitions: [nameColumn, column('Handler', 'string', 'What runs its containers.'), ageColumn],
  cells: (o, now) => [nameOf(o), textAt(o, 'handler'), ageOf(o, now)],
}

export const runtimeClass: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkRuntimeClass), createOnUpdate: true, unconditionalUpdate: false },
  columns,
}
