/**
 * Ingress classes.
 * @see ValidateIngressClass in pkg/apis/networking/validation, pkg/apis/networking/v1/defaults.go of Kubernetes 1.36
 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { type DefaultRule, findStruct } from '../default-rules.ts'
import { checkDomainPrefixedPath } from '../domain-prefixed-path.ts'
import { fieldAt, objectAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { findPart, partIn, type Report, textIn } from '../report.ts'
import { checkLocalReference } from './ingress.ts'

function checkIngressClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  const controller = textIn(spec, 'controller')
  if (old) report.immutable('spec.controller', controller, partIn(old, 'spec').controller)
  if (controller.length > 250) report.tooLong('spec.controller', 250)
  checkDomainPrefixedPath(report, 'spec.controller', controller)
  const parameters = findPart(spec, 'parameters')
  if (!parameters) return
  checkLocalReference(report, 'spec.parameters', parameters)
  const scope = textIn(parameters, 'scope')
  report.oneOf('spec.parameters.scope', scope, ['Cluster', 'Namespace'])
  const { namespace } = parameters
  if (scope === 'Namespace') {
    if (typeof namespace === 'string') report.label('spec.parameters.namespace', namespace)
    else report.required('spec.parameters.namespace', "`parameters.scope` is set to 'Namespace'")
  }
  if (scope === 'Cluster' && namespace !== undefined)
    report.forbidden('spec.parameters.namespace', "`parameters.scope` is set to 'Cluster'")
}

const parametersScope: DefaultRule = (spec) => {
  const parameters = findStruct(spec, 'parameters')
  if (parameters && parameters.scope === undefined) parameters.scope = 'Cluster'
}

function ingressParameters(ingressClass: KubeObject): string {
  const parameters = objectAt(ingressClass, 'spec', 'parameters')
  if (!parameters) return '<none>'
  const group = fieldAt(parameters, 'apiGroup')
  return `${textAt(parameters, 'kind')}${group === undefined ? '' : `.${group}`}/${textAt(parameters, 'name')}`
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Controller', 'string', 'Who serves the ingresses of this class.'),
    column('Parameters', 'string', 'Where the controller finds more settings.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), textAt(o, 'spec', 'controller'), ingressParameters(o), ageOf(o, now)],
}

export const ingressClass: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkIngressClass), tracksGeneration: true },
  defaults: { 'io.k8s.api.networking.v1.IngressClassSpec': [parametersScope] },
  columns,
}
