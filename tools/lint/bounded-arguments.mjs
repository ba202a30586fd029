/**
 * A lint rule: no list is spread into the arguments of a method that takes any number of them. Arguments go on the
 * stack, so where a client sizes the list (100,000 labels that are all wrong) such a call ends with a RangeError.
 *
 * The linter sees names, not types: these are the variadic methods of arrays, `Math` and `String`. Functions of ours
 * that take the rest of their arguments are called with what their caller writes down.
 */
const variadic = new Set([
  'concat',
  'fromCharCode',
  'fromCodePoint',
  'hypot',
  'max',
  'min',
  'push',
  'splice',
  'unshift',
])

const message = 'each item goes on the stack, and a client may size the list: use append (src/base/append.ts) or reduce'

const boundedArguments = {
  create: (context) => ({
    CallExpression({ callee, arguments: given }) {
      if (callee.type !== 'MemberExpression' || callee.computed || !variadic.has(callee.property.name)) return
      const spread = given.find(({ type }) => type === 'SpreadElement')
      if (spread !== undefined) context.report({ node: spread, message })
    },
  }),
}

export default { meta: { name: 'borough' }, rules: { 'bounded-arguments': boundedArguments } }
