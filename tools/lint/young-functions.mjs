/**
 * A lint rule: no function literal is assigned to a property. V8 takes such a function for a method, of which there is
 * one, and makes it in the old generation: one that belongs to a request holds it until the next full collection, and
 * all that the request holds (docs/adr/0117-nothing-is-born-old.md). Give it a name first, and assign that.
 */
const operators = new Set(['=', '??=', '||=', '&&='])
const literals = new Set(['ArrowFunctionExpression', 'FunctionExpression'])

const message = 'V8 makes this function in its old generation, with all that it holds: assign it to a const first'

const youngFunctions = {
  create: (context) => ({
    AssignmentExpression({ operator, left, right }) {
      if (!operators.has(operator) || left.type !== 'MemberExpression' || !literals.has(right.type)) return
      context.report({ node: right, message })
    },
  }),
}

export default { meta: { name: 'v8' }, rules: { 'young-functions': youngFunctions } }
