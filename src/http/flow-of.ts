/**
 * Whose memory and connections a request takes. The accounts of one namespace are one flow: its tenant makes as many of
 * them as it likes, and would have as many shares. Those of `kube-system` are the operator's, and each its own.
 */
const accountPrefix = 'system:serviceaccount:'

export function flowOf(username: string): string {
  if (!username.startsWith(accountPrefix)) return `user ${username}`
  const namespace = username.slice(accountPrefix.length).split(':', 1)[0]
  return namespace === 'kube-system' ? `user ${username}` : `service accounts of ${namespace}`
}
