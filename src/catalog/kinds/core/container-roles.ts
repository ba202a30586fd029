/** In the order in which upstream visits them. @see VisitContainersWithPath in pkg/apis/core/pods of Kubernetes 1.36 */
export const containerRoles = ['initContainers', 'containers', 'ephemeralContainers'] as const
