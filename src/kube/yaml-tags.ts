/** How YAML is read where kubectl reads it: as YAML 1.1, without types that JSON does not have. For browsers too. */
import type { ScalarTag, Tags } from 'yaml'

/** Of an integer, in any base and with what stands between them. JSON numbers end at 309. */
const maxDigits = 1100

const unwanted = new Set(['timestamp', 'binary', 'omap', 'pairs', 'set'])

/** Without the YAML 1.1 types that JSON does not have. */
function jsonTags(tags: Tags): Tags {
  return tags
    .filter(
      (tag) => typeof tag === 'string' || !(unwanted.has(tag.tag.split(':').at(-1) ?? '') || tag.format === 'TIME'),
    )
    .map((tag) =>
      typeof tag !== 'string' && tag.tag === 'tag:yaml.org,2002:int' ? withinDigits(tag as ScalarTag) : tag,
    )
}

/** Reading the digits of an integer takes more time than they grow. */
const withinDigits = (tag: ScalarTag): ScalarTag => ({
  ...tag,
  resolve(text, onError, options) {
    if (text.length <= maxDigits) return tag.resolve(text, onError, options)
    onError(`an integer has more than ${maxDigits} digits`)
    return null
  },
})

export const asKubectl: {
  readonly version: '1.1'
  readonly schema: 'yaml-1.1'
  readonly customTags: (tags: Tags) => Tags
} = { version: '1.1', schema: 'yaml-1.1', customTags: jsonTags }
