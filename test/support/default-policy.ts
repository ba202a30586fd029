/** The default policy as a server with all features has it. */

import { defaultAdmissionSettings } from '../../src/apis/controlplane/admission-settings.ts'
import type { DefaultPolicy } from '../../src/apis/rbac/bootstrap.ts'
import { defaultClusterPolicy } from '../../src/apis/rbac/bootstrap.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { controllerRulesOf, featuresOf } from '../../src/app/features.ts'
import type { Feature } from '../../src/feature/feature.ts'

const flowControl = { configure: () => [], metrics: () => [] }
const deps = { caCert: '', signClientCertificate: (): string => '', flowControl, admission: defaultAdmissionSettings }

export const everyFeature: readonly Feature[] = featuresOf(defaultConfig, deps).list

export const defaultPolicy: DefaultPolicy = defaultClusterPolicy(controllerRulesOf(everyFeature))
export const bootstrapClusterRoles: DefaultPolicy['roles'] = defaultPolicy.roles
export const bootstrapClusterRoleBindings: DefaultPolicy['bindings'] = defaultPolicy.bindings
