/** What operators say in files beside the flags, read at the start: before a wrong one, nothing is served. */

import { type AdmissionSettings, readAdmissionSettings } from '../apis/controlplane/admission-settings.ts'
import { openAuthorizationWebhook } from '../authz/open-authorization-webhook.ts'
import type { ApiServerDeps } from './api-server.ts'
import type { Config } from './config.ts'

export interface OperatorFiles {
  readonly admission: AdmissionSettings
  readonly askElsewhere: ApiServerDeps['askElsewhere']
}

/** @throws Error, one line for the operator */
export async function openOperatorFiles({
  admissionConfigFile,
  authorizationWebhook,
  clock,
}: Config): Promise<OperatorFiles> {
  return {
    admission: await readAdmissionSettings(admissionConfigFile),
    askElsewhere: authorizationWebhook && (await openAuthorizationWebhook(authorizationWebhook, clock)),
  }
}
