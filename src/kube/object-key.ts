/**
 * Where objects lie in the store: `/registry/{storageName}/{namespace}/{name}`, cluster-scoped ones without a
 * namespace. `storageName` is the plural, with `.group` for custom resources. No part may contain a slash.
 */

export const objectsPrefix = '/registry/'

export function objectKey(storageName: string, namespace: string, name: string): string {
  return namespace === ''
    ? `${objectsPrefix}${storageName}/${name}`
    : `${objectsPrefix}${storageName}/${namespace}/${name}`
}

/** Prefix of all objects of a type, or of those in one namespace. */
export function objectsPrefixOf(storageName: string, namespace = ''): string {
  return namespace === '' ? `${objectsPrefix}${storageName}/` : `${objectsPrefix}${storageName}/${namespace}/`
}

/** `namespace/name`, or `name`: the key within its type. Sorted bytewise like the whole key. */
export function relativeKey(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`
}

/** Splits a key; undefined for a key that is not an object's. */
export function parseObjectKey(key: string): { readonly storageName: string; readonly relative: string } | undefined {
  if (!key.startsWith(objectsPrefix)) return undefined
  const slash = key.indexOf('/', objectsPrefix.length)
  if (slash < 0 || slash === key.length - 1) return undefined
  return { storageName: key.slice(objectsPrefix.length, slash), relative: key.slice(slash + 1) }
}
