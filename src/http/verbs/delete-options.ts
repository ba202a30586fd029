/** metav1.DeleteOptions as sent. */
export interface DeleteOptionsBody {
  gracePeriodSeconds?: number
  propagationPolicy?: string
  orphanDependents?: boolean
  preconditions?: { uid?: string; resourceVersion?: string }
  dryRun?: string[]
}
