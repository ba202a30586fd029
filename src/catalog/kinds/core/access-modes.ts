/** How claims and volumes may be mounted. */
import { type Part, type Report, textsIn } from '../report.ts'

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']

export const volumeModes: readonly string[] = ['Block', 'Filesystem']

export function checkAccessModes(report: Report, field: string, spec: Part, detail?: string): void {
  const modes = textsIn(spec, 'accessModes')
  if (modes.length === 0) report.required(field, detail)
  for (const mode of modes) report.oneOf(field, mode, accessModes)
  const alone = 'ReadWriteOncePod'
  if (modes.includes(alone) && modes.some((mode) => mode !== alone && accessModes.includes(mode))) {
    report.forbidden(field, 'may not use ReadWriteOncePod with other access modes')
  }
}
