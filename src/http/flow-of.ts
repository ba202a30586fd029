/**
 * Whose memory and connections a request takes. The accounts of one namespace are one flow: its tenant makes as many of
 * them as it likes, and would have as many shares. Those of `kube-system` are the operator's, and each its own.
 */
import { anonymousUser } from '../kube/user.ts'
import { addressGroup } from './address-group.ts'

const accountPrefix = 'system:serviceaccount:'

/** Of a user who is known. */
export function flowOf(username: string): string {
  if (!username.startsWith(accountPrefix)) return `user ${username}`
  const namespace = username.slice(accountPrefix.length).split(':', 1)[0]
  return namespace === 'kube-system' ? `user ${username}` : `service accounts of ${namespace}`
}

export const flowOfAddress = (address: string): string => `address ${addressGroup(address)}`

/** Clients without credentials have one name in common: they are told apart by their addresses. */
export const flowOfCaller = (username: string, remoteAddress: string): string =>
  username === anonymousUser.username ? flowOfAddress(remoteAddress) : flowOf(username)
