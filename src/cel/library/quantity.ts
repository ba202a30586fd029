/** Quantities: `quantity('1.5Gi')`. @see k8s.io/apiserver/pkg/cel/library/quantity.go v0.36 */
import {
  addQuantities,
  compareQuantities,
  findQuantity,
  isWhole,
  parseQuantity,
  type Quantity,
  QuantityError,
  subtractQuantities,
  wholeQuantity,
} from '../../kube/quantity.ts'
import type { Budget } from '../budget.ts'
import { fn, type Library, method } from '../functions.ts'
import { CelError, OpaqueValue } from '../values.ts'

class QuantityValue extends OpaqueValue {
  override readonly typeName = 'kubernetes.Quantity'
  readonly quantity: Quantity
  constructor(quantity: Quantity) {
    super()
    this.quantity = quantity
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && other.quantity.nanos === this.quantity.nanos
  }
}

const type = 'kubernetes.Quantity'
const one = 1_000_000_000n

function parse(text: string, budget: Budget): QuantityValue {
  budget.work(Math.min(text.length, 256))
  try {
    return new QuantityValue(parseQuantity(text))
  } catch (e) {
    if (e instanceof QuantityError) throw new CelError(e.message, { cause: e })
    throw e
  }
}

const fitsInt = ({ nanos }: Quantity): boolean => BigInt.asIntN(64, nanos / one) === nanos / one
const wholeOf = ({ quantity }: QuantityValue): bigint => {
  if (!isWhole(quantity) || !fitsInt(quantity)) throw new CelError('cannot convert value to integer')
  return quantity.nanos / one
}

const order = (a: QuantityValue, b: QuantityValue): number => compareQuantities(a.quantity, b.quantity)

export const quantityLibrary: Library = [
  fn('string_to_quantity', 'quantity', ['string', type], parse),
  fn('is_quantity_string', 'isQuantity', ['string', 'bool'], (text: string) => findQuantity(text) !== undefined),
  method('quantity_sign', 'sign', [type, 'int'], ({ quantity: { nanos } }: QuantityValue) => {
    return nanos > 0n ? 1n : nanos < 0n ? -1n : 0n
  }),
  method(
    'quantity_is_greater_than',
    'isGreaterThan',
    [`${type}, ${type}`, 'bool'],
    (a: QuantityValue, b: QuantityValue) => order(a, b) > 0,
  ),
  method('quantity_is_less_than', 'isLessThan', [`${type}, ${type}`, 'bool'], (a: QuantityValue, b: QuantityValue) => {
    return order(a, b) < 0
  }),
  method('quantity_compare_to', 'compareTo', [`${type}, ${type}`, 'int'], (a: QuantityValue, b: QuantityValue) => {
    return BigInt(order(a, b))
  }),
  method('quantity_get_float', 'asApproximateFloat', [type, 'double'], ({ quantity: { nanos } }: QuantityValue) => {
    return Number(nanos / one) + Number(nanos % one) / 1e9
  }),
  method('quantity_get_int', 'asInteger', [type, 'int'], wholeOf),
  method('quantity_is_integer', 'isInteger', [type, 'bool'], ({ quantity }: QuantityValue) => {
    return isWhole(quantity) && fitsInt(quantity)
  }),
  method('quantity_add', 'add', [`${type}, ${type}`, type], (a: QuantityValue, b: QuantityValue) => {
    return new QuantityValue(addQuantities(a.quantity, b.quantity))
  }),
  method('quantity_add_int', 'add', [`${type}, int`, type], (a: QuantityValue, b: bigint) => {
    return new QuantityValue(addQuantities(a.quantity, wholeQuantity(b)))
  }),
  method('quantity_sub', 'sub', [`${type}, ${type}`, type], (a: QuantityValue, b: QuantityValue) => {
    return new QuantityValue(subtractQuantities(a.quantity, b.quantity))
  }),
  method('quantity_sub_int', 'sub', [`${type}, int`, type], (a: QuantityValue, b: bigint) => {
    return new QuantityValue(subtractQuantities(a.quantity, wholeQuantity(b)))
  }),
]
