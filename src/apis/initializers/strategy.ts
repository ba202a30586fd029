/** What a NamespaceInitializerConfiguration may say beyond its schema. */
import { append } from '../../base/append.ts'
import type { Strategy } from '../../catalog/strategy.ts'
import { type FieldError, fieldDuplicate, fieldForbidden, fieldInvalid, fieldRequired } from '../../kube/field-error.ts'
import { validateLabelSelector } from '../../kube/label-selector.ts'
import { isDns1123Subdomain } from '../../kube/names.ts'
import { type NamespaceInitializerConfiguration, namespaceTemplateInitializer } from './types.ts'

export const initializerConfigurationStrategy: Strategy = {
  validate: (next: NamespaceInitializerConfiguration) => configurationErrors(next),
}

const qualifiedSegments = 3

/**
 * `log-index.example.com`: whose it is can be read off the name.
 * @see k8s.io/kubernetes/pkg/apis/core/validation ValidateInitializerName v1.13
 */
export function initializerNameErrors(name: string, field: string): FieldError[] {
  if (name === '') return [fieldRequired(field)]
  const errors = isDns1123Subdomain(name).map((problem) => fieldInvalid(field, name, problem))
  if (errors.length === 0 && name.split('.').length < qualifiedSegments) {
    errors.push(fieldInvalid(field, name, 'should be a domain with at least three segments separated by dots'))
  }
  return errors
}

export function configurationErrors({ initializers = [] }: NamespaceInitializerConfiguration): FieldError[] {
  const seen = new Set<string>()
  // What is required is checked beside this, not before it: a name may be missing.
  return initializers.flatMap(({ name = '', namespaceSelector }, i) => {
    const field = `initializers[${i}]`
    const errors =
      name === namespaceTemplateInitializer
        ? [
            fieldForbidden(
              `${field}.name`,
              'it is built in: templates that match a namespace put it first by themselves',
            ),
          ]
        : initializerNameErrors(name, `${field}.name`)
    if (seen.has(name)) errors.push(fieldDuplicate(`${field}.name`, name))
    seen.add(name)
    append(errors, validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`))
    return errors
  })
}
