/** Where what concerns all templates stands: what administrators say of them together, and who applies them. */
import type { KubeObject } from '../../kube/types.ts'

/** Of the process of `borough populate` that runs the controllers, where it was told no other namespace. */
export const populateLease = { namespace: 'borough-system', name: 'borough-population' } as const

/** The ConfigMap of administrators. */
export const populationConfig = { namespace: 'kube-system', name: 'borough-population' } as const

/** One value of it; undefined = not said. */
export function settingOf(config: KubeObject | undefined, key: string): string | undefined {
  const value = (config?.['data'] as Record<string, unknown> | undefined)?.[key]
  return typeof value === 'string' ? value : undefined
}

/** Namespaces that exist are left as they are, whatever templates say. New ones are populated. */
export const pausedKey = 'paused'

/** A slip of who wants it to stop must not let it run: every value but `false` stops it. */
export function isPaused(config: KubeObject | undefined): boolean {
  const value = settingOf(config, pausedKey)?.trim() ?? ''
  return value !== '' && value !== 'false'
}
