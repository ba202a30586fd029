/** Clients and informers over Borough or any cluster. */
export type * from './client.ts'
export { Informer, type InformerOptions } from './informer.ts'
export { RestClient, type RestClientOptions } from './rest-client.ts'
export type { Transport, TransportRequest, TransportResponse } from './transport.ts'
