/** APIServices: one for each group and version that this server answers itself. */
import type { Feature } from '../../feature/feature.ts'
import { may, read } from '../rbac/bootstrap-rules.ts'
import { apiServiceController, apiServiceControllerName } from './reconcile.ts'

export const apiServices: Feature = {
  name: 'apiservices',
  controllerRules: {
    // Registers what this server serves.
    [apiServiceControllerName]: [
      may([...read, 'create', 'delete', 'update'], 'apiregistration.k8s.io', 'apiservices'),
      may('patch update', 'apiregistration.k8s.io', 'apiservices/status'),
    ],
  },
  open: ({ catalog, clock }) => ({
    controllers: ({ client, onError }) => [
      apiServiceController({
        client: client(apiServiceControllerName),
        clock,
        types: catalog.types,
        groupPriority: (group) => catalog.groupPriority(group),
        onError: onError(apiServiceControllerName),
      }),
    ],
  }),
}
