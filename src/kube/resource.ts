/**
 * Names of resources that carry the TypeScript type of their objects: clients, cache views and sources that are given
 * one answer objects of that type. What the type promises is what validation has made sure of when it was stored.
 */
import type { GroupVersionResource } from './gvk.ts'
import type { KubeObject } from './types.ts'

declare const objectType: unique symbol

/** A plain `GroupVersionResource` is one too: of a kind that TypeScript knows nothing about. */
export interface Resource<T extends KubeObject = KubeObject> extends GroupVersionResource {
  /** Exists for the type checker only. */
  readonly [objectType]?: T
}

/** `resource<Pod>('', 'v1', 'pods')` */
export const resourceOf = <T extends KubeObject>(group: string, version: string, resource: string): Resource<T> => ({
  group,
  version,
  resource,
})
