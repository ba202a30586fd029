/** Names of the cluster's own: no issuer of tokens may give them (upstream lets it). */
const reserved = 'system:'

export const isReserved = (name: string): boolean => name.startsWith(reserved)

/** @returns what is wrong with a text that is put in front of every name of an issuer; undefined = nothing */
export const faultOfPrefix = (prefix: string): string | undefined =>
  isReserved(prefix) ? 'may not begin with "system:", as what belongs to the cluster does' : undefined
