/** What admission asks of a write of a template, and says of it. */
import type { Attributes } from '../../admission/admission.ts'
import { andThen, type Eventual } from '../../base/eventual.ts'
import { runInSlices } from '../../base/resumable.ts'
import type { Turns } from '../../base/turns.ts'
import { type CheckTemplateDeps, checkTemplate } from './check-template.ts'
import { judgeAheadIn } from './judge-ahead.ts'
import { type HeldLookups, warnOfStop } from './stop-warning.ts'

export interface JudgeTemplateDeps extends CheckTemplateDeps {
  /** For what takes long, where no client is there to pay for it. */
  readonly turns: Turns
  /** Absent where another server is to be asked for it: that takes too long for a write. */
  readonly held?: HeldLookups
}

/** @throws StatusError as `checkTemplate` */
export function judgeTemplate(a: Attributes, deps: JudgeTemplateDeps): Eventual<void> {
  const checked = a.operation === 'DELETE' ? undefined : runInSlices(checkTemplate(a, deps), a.slice)
  const { held } = deps
  return held === undefined ? checked : andThen(checked, () => judgeAheadIn(a, warnOfStop(a, held), deps.turns))
}
