/**
 * The second address answers administrators alone: members of system:masters, whatever RBAC says. Others have the first
 * one, and nothing that they do there keeps an operator out.
 */
import { StatusError } from '../../kube/status-error.ts'
import { mastersGroup } from '../../kube/user.ts'
import type { Stage } from '../api.ts'

export const keepForAdministrators: Stage = (next) => (request, context) => {
  if (request.reserved === true && !context.user.groups.includes(mastersGroup)) {
    const user = JSON.stringify(context.user.username)
    const message = `This address is kept for group ${mastersGroup}, and user ${user} is not in it.`
    throw new StatusError(message, { reason: 'Forbidden', details: {} })
  }
  return next(request, context)
}
