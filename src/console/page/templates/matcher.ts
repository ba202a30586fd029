/** What a template selects, of one whose selector can't be read too: a server with a looser definition has it. */
import { compileMatcher, type Matcher } from '../../../apis/templates/match.ts'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { findStatusError } from '../../../kube/status-error.ts'

/** One that can't be read selects nothing, as it would for the controller, which refuses it. */
export function matcherOf(template: NamespaceTemplate): Matcher {
  try {
    return compileMatcher(template)
  } catch (error) {
    if (findStatusError(error) === undefined) throw error
    return { template, selects: () => false }
  }
}
