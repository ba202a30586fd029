/**
 * The second address answers administrators alone: who is in system:masters, whatever RBAC says. Others have the first
 * one, and what they do there does not keep an operator out.
 */
import { StatusError } from '../../kube/status-error.ts'
import { mastersGroup } from '../../kube/user.ts'
import type { Stage } from '../api.ts'

export const keepForAdministrators: Stage = (next) => (request, context) => {
  if (request.reserved === true && !context.user.groups.includes(mastersGroup)) {
    const message = `This address is kept for group ${mastersGroup}, and user ${JSON.stringify(context.user.username)} is not in it.`
    throw new StatusError(message, { reason: 'Forbidden', details: {} })
  }
  return next(request, context)
}
