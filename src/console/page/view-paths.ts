/**
 * Names in the paths of views. A link may come from anywhere, and views put the name into requests, field selectors and
 * commands to copy: a path whose name no namespace or template can have leads to no view.
 */
import { isDns1123Label, isDns1123Subdomain } from '../../kube/names.ts'

/** `/namespaces/team-a/events` */
export function namespaceInPath(path: string): { readonly name: string; readonly tab: string } | undefined {
  const [, name = '', tab = ''] = /^\/namespaces\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? []
  return isDns1123Label(name).length === 0 ? { name, tab } : undefined
}

/** `/templates/default/edit` */
export function templateInPath(path: string): { readonly name: string; readonly isEdited: boolean } | undefined {
  const [, name = '', edit] = /^\/templates\/([^/]+)(\/edit)?$/.exec(path) ?? []
  return isDns1123Subdomain(name).length === 0 ? { name, isEdited: edit !== undefined } : undefined
}
