/** All NamespaceInitializerConfigurations as one list, following the store. */
import { deriveFromObjects } from '../../feature/derive-from-objects.ts'
import type { FeatureContext } from '../../feature/feature.ts'
import type { Namespace } from '../namespaces/types.ts'
import { deadlineOf, mergeConfigurations, pendingInitializers } from './configurations.ts'
import {
  initializerConfigurationResource,
  type NamespaceInitializer,
  type NamespaceInitializerConfiguration,
} from './types.ts'

/** Empty until it follows the store: on servers without initializers nothing is pending. */
export class InitializerConfigurations {
  #merged: () => readonly NamespaceInitializer[] = () => []

  follow({ lister, typeOf }: Pick<FeatureContext, 'lister' | 'typeOf'>): void {
    this.#merged = deriveFromObjects(lister, typeOf(initializerConfigurationResource), (objects) =>
      mergeConfigurations(objects as NamespaceInitializerConfiguration[]),
    )
  }

  deadlineOf(...[namespace, initializer]: DropFirst<Parameters<typeof deadlineOf>>): ReturnType<typeof deadlineOf> {
    return deadlineOf(this.#merged(), namespace, initializer)
  }

  /** @param isPopulated templates match it */
  pendingFor(namespace: Namespace, isPopulated: boolean): ReturnType<typeof pendingInitializers> {
    return pendingInitializers(this.#merged(), namespace, isPopulated)
  }
}

type DropFirst<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never
