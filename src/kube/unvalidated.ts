/**
 * The two ways between `KubeObject` and `Unvalidated`. Both answer the object itself: only the type checker sees a
 * difference, so a request pays nothing for it.
 */
import type { KubeObject, Unvalidated } from './types.ts'

/** Hands an object to code that runs before validation. */
export const unvalidated = <T extends KubeObject>(object: T | Unvalidated<T>): Unvalidated<T> =>
  object as unknown as Unvalidated<T>

/** For the places that validate, or that take an object apart as a plain JSON tree. Never to read fields of a spec. */
export const assumeValid = <T extends KubeObject>(object: Unvalidated<T>): T => object as unknown as T
