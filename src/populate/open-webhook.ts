/** The admission webhook of templates, with the types that it reviews. */
import { namespaceResource } from '../apis/namespaces/types.ts'
import { templateKind, templateKinds } from '../apis/templates/kind.ts'
import { templateResource } from '../apis/templates/types.ts'
import { templateWebhook } from '../apis/templates/webhook.ts'
import type { Clock } from '../base/clock.ts'
import { loadCatalog } from '../catalog/catalog.ts'
import type { Client } from '../client/client.ts'
import { heldRules } from './held-rules.ts'

export function openWebhook({
  client,
  clock,
}: {
  readonly client: Client
  readonly clock: Clock
}): ReturnType<typeof templateWebhook> {
  const catalog = loadCatalog()
  const namespaceType = catalog.types.find(namespaceResource)
  const declared = templateKinds.find((kind) => kind.kind === templateKind && kind.group === templateResource.group)
  if (namespaceType === undefined || declared === undefined)
    throw new Error('the catalogue lacks namespaces or templates')
  return templateWebhook({
    client,
    clock,
    namespaceType,
    templateType: catalog.declare(declared),
    rulesOf: (user) => heldRules(client, clock, user),
  })
}
