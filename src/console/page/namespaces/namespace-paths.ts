/** Where the page shows what concerns one namespace. */

export const pathOfNamespace = (name: string): string => `/namespaces/${encodeURIComponent(name)}`
export const pathOfBirth = (name: string): string => `${pathOfNamespace(name)}/birth`
