/** What the model found, reduced to what matters. */
import type { Step } from './steps.ts'

export const foundBefore: Readonly<Record<string, readonly (readonly Step[])[]>> = {}
