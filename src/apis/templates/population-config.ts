/** The ConfigMap with what administrators say of all templates together. */
import type { KubeObject } from '../../kube/types.ts'

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
