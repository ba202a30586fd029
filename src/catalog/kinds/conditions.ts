/**
 * Conditions in the form that all newer kinds have.
 * @see ValidateConditions in k8s.io/apimachinery/pkg/apis/meta/v1/validation v0.36
 */
import { isQualifiedName, mustMatch } from '../../kube/names.ts'
import { numberIn, type Part, type Report, textIn } from './report.ts'

const statuses = ['False', 'True', 'Unknown']
const maxReasonBytes = 1024
const maxMessageBytes = 32 * 1024

const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'
const reasonShape = new RegExp(`^${reasonPattern}$`)
const reasonFault = mustMatch(
  'a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric ' +
    "characters or '_,:', and must end with an alphanumeric character or '_'",
  reasonPattern,
  'my_name',
  'MY_NAME',
  'MyName',
  'ReasonA,ReasonB',
  'ReasonA:ReasonB',
)

export function checkStandardConditions(report: Report, at: string, conditions: readonly Part[]): void {
  const seen = new Set<string>()
  conditions.forEach((condition, i) => {
    const type = textIn(condition, 'type')
    report.unique(`${at}[${i}].type`, type, seen)
    checkCondition(report, `${at}[${i}]`, condition, type)
  })
}

function checkCondition(report: Report, at: string, condition: Part, type: string): void {
  report.each(`${at}.type`, type, isQualifiedName(type))
  report.oneOf(`${at}.status`, textIn(condition, 'status'), statuses)
  const generation = numberIn(condition, 'observedGeneration')
  if (generation !== undefined && generation < 0) {
    report.invalid(`${at}.observedGeneration`, generation, 'must be greater than or equal to zero')
  }
  if (textIn(condition, 'lastTransitionTime') === '') report.required(`${at}.lastTransitionTime`)
  const reason = textIn(condition, 'reason')
  if (reason === '') report.required(`${at}.reason`)
  else {
    if (!reasonShape.test(reason)) report.invalid(`${at}.reason`, reason, reasonFault)
    checkLength(report, `${at}.reason`, reason, maxReasonBytes)
  }
  checkLength(report, `${at}.message`, textIn(condition, 'message'), maxMessageBytes)
}

function checkLength(report: Report, field: string, text: string, maxBytes: number): void {
  if (Buffer.byteLength(text) > maxBytes) report.tooLong(field, maxBytes)
}
