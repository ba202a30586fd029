/** Clients and informers over Borough or any cluster. */
export type { GroupVersionResource } from '../kube/gvk.ts'
export type { KubeList, KubeObject, Status } from '../kube/types.ts'
export type * from './client.ts'
export { Informer, type InformerOptions } from './informer.ts'
export { RestClient, type RestClientOptions } from './rest-client.ts'
export type { Transport, TransportRequest, TransportResponse } from './transport.ts'
export type { OnWarning } from './warnings.ts'
