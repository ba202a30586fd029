/** The release whose behaviour and types this server has. */
export const kubernetesVersion = { major: '1', minor: '36', patch: '3' } as const
