import type { StatusError } from '../../kube/status-error.ts'

/** What an apply says of a field that the schema lacks, or that has another type, comes without a reason. */
export const reasonOf = ({ reason, message }: StatusError): string =>
  reason ?? (message.startsWith('failed to create typed patch object') ? 'Invalid' : 'Error')
