/** LimitRange: defaults and bounds for containers, pods and claims. */
import type { Feature } from '../../feature/feature.ts'
import { limitRanger } from './admission.ts'
import { limitRangeResource } from './types.ts'

export const limitRanges: Feature = {
  name: 'limits',
  open({ lister, typeOf }) {
    const type = typeOf(limitRangeResource)
    return {
      admission: [
        limitRanger({
          of: (namespace) => [...lister.list(type, namespace)].map(({ object }) => object),
          refresh: () => lister.refresh(),
        }),
      ],
    }
  },
}
