import { describe, expect, test } from 'vitest'
import { findInCondition } from './conditions.ts'
import type { TemplateParameter } from './types.ts'

const parameters: readonly TemplateParameter[] = [
  { name: 'size', fromLabel: 'size', enum: ['small', 'large'], default: 'small' },
  { name: 'tier', fromLabel: 'tier', enum: ['a', 'b'] },
  { name: 'zone', fromLabel: 'zone', enum: ['x'], required: true },
  { name: 'free', fromAnnotation: 'free' },
]
const known = 'there are params.size, params.tier, params.zone, params.free'

describe('a condition over parameters', () => {
  test.each([
    "params.size == 'large'",
    "'small' != params.size",
    "params['size'] in ['small', 'large']",
    "params.tier == '' || params.free == 'anything'",
    "'size' in params && has(params.tier)",
    "params.all(name, name != 'other')",
    "['x'].exists(params, params == 'y')",
    "namespaceObject.metadata.labels['params.siz'] == 'smal'",
    'not an expression',
  ])('may say %s', (expression) => {
    expect(findInCondition(expression, parameters)).toEqual({ problems: [], doubts: [] })
  })

  test.each([
    ["params.siz == 'large'", 'siz'],
    ["'a' in [params['siz']]", 'siz'],
    ["has(params.siz) && params.siz == 'large'", 'siz'],
    ["'Size' in params", 'Size'],
    ["['x'].all(one, params.siz == one)", 'siz'],
    ["params[?'siz'].orValue('') == 'large'", 'siz'],
  ])('names a parameter that is not declared in %s', (expression, name) => {
    const problems = [`params.${name} is no parameter: ${known}`]
    expect(findInCondition(expression, parameters)).toEqual({ problems, doubts: [] })
  })

  test('says that the template has none', () => {
    const problems = ['params.size is no parameter: the template has none']
    expect(findInCondition("params.size == 'large'", [])).toEqual({ problems, doubts: [] })
  })

  test.each([
    ["params.size == 'smal'", 'parameter "size" is never "smal": it is one of "small", "large"'],
    ["'smal' != params['size']", 'parameter "size" is never "smal": it is one of "small", "large"'],
    ["params.size in ['large', 'smal']", 'parameter "size" is never "smal": it is one of "small", "large"'],
    ["params.size == ''", 'parameter "size" is never "": it is one of "small", "large"'],
    ["params.zone == ''", 'parameter "zone" is never "": it is one of "x"'],
  ])('doubts a choice that there is not in %s', (expression, doubt) => {
    expect(findInCondition(expression, parameters)).toEqual({ problems: [], doubts: [doubt] })
  })
})
