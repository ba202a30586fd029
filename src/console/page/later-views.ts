/** Views that bring all that reads templates or explains a namespace, which the first view does not need. */
import type { ComponentType } from 'preact'
import type { NamespaceViewProps } from './namespace/namespace-view.tsx'

export const loadCreateView = async (): Promise<ComponentType> =>
  (await import('./namespaces/create-view.tsx')).CreateView

export const loadNamespaceView = async (): Promise<ComponentType<NamespaceViewProps>> =>
  (await import('./namespace/namespace-view.tsx')).NamespaceView

export const loadTemplateView = async (): Promise<ComponentType<{ readonly name: string }>> =>
  (await import('./templates/template-view.tsx')).TemplateView

export const loadMapView = async (): Promise<ComponentType> => (await import('./templates/map-view.tsx')).MapView
