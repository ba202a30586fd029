/** What `borough populate` calls the things that it installs and uses on a cluster. */
import { populateLease } from '../apis/templates/population-config.ts'

/** Where its account, its Lease, its Secret and, in the cluster, its pods live. */
export const defaultNamespace: string = populateLease.namespace

/** The Deployment, the Service, the webhook configurations, the Lease. */
export const installName: string = populateLease.name
export const secretName = 'borough-population-tls'
export const accountName = 'namespace-template-controller'

/** What it always needs. */
export const baseRoleName = 'borough:population'
/** What it needs to write the objects of templates: made from their kinds. */
export const kindsRoleName = 'borough:population:templated-kinds'

/** Owns what it applies at its start. */
export const installFieldManager = 'borough-populate'

/** Of the Deployment's containers. */
export const containerPort = 9443

/** The name under which API servers reach it by way of its Service. */
export const serviceHost = (namespace: string): string => `${installName}.${namespace}.svc`
