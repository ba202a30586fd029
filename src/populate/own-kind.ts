/** Whether a cluster is a Borough that populates namespaces by itself. */
import { templateKind } from '../apis/templates/kind.ts'
import { templateGroupAlias, templateVersion } from '../apis/templates/types.ts'
import type { Client } from '../client/client.ts'

/** Borough serves the kind in a group that no custom resource can have. */
export const populatesItself = async (client: Client): Promise<boolean> =>
  (await client.discovery.findKind(`${templateGroupAlias}/${templateVersion}`, templateKind)) !== undefined
