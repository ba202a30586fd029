/**
 * What is wrong with one field of a file of the operator's, in upstream's words. What a client sent is told by
 * `field-error.ts`.
 */
import { marshal, quote } from './go-quote.ts'

export const requiredFault = (field: string, detail = ''): string =>
  `${field}: Required value${detail === '' ? '' : `: ${detail}`}`

export const invalidFault = (field: string, value: unknown, detail: string): string =>
  `${field}: Invalid value: ${shown(value)}: ${detail}`

export const duplicateFault = (field: string, value: unknown): string => `${field}: Duplicate value: ${shown(value)}`

const shown = (value: unknown): string => (typeof value === 'string' ? quote(value) : marshal(value))
