/**
 * Pod templates, as objects and inside other kinds.
 * @see ValidatePodTemplateSpec in pkg/apis/core/validation of Kubernetes 1.36
 */
import { validateAnnotations, validateLabels } from '../../../kube/metadata.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { column, containersOf, labelsAt, nameColumn, nameOf } from '../cell-text.ts'
import { fieldAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { findPart, type Part, partIn, partsIn, type Report } from '../report.ts'
import { checkSameProfiles, checkTemplateAnnotations } from './pod-annotations.ts'
import { checkUnlessStored } from './pod-security.ts'
import { checkPodSpec } from './pod-spec.ts'

/** `stored` is what the write replaces. */
export function checkPodTemplate(report: Report, at: string, template: Part, stored: Part | undefined): void {
  checkTemplateMetadata(report, at, template, stored)
  checkPodSpec(report, `${at}.spec`, partIn(template, 'spec'), findPart(stored, 'spec'))
  checkUnlessStored(report, template, stored, (own, part) => {
    checkSameProfiles(own, `${at}.spec`, partIn(part, 'metadata'), partIn(part, 'spec'))
  })
  if (partsIn(partIn(template, 'spec'), 'ephemeralContainers').length > 0) {
    report.forbidden(`${at}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')
  }
}

export function checkTemplateMetadata(report: Report, at: string, template: Part, stored: Part | undefined): void {
  const metadata = partIn(template, 'metadata')
  report.add(validateLabels(metadata.labels as Record<string, string> | undefined, `${at}.labels`))
  report.add(validateAnnotations(metadata.annotations as Record<string, string> | undefined, `${at}.annotations`))
  checkTemplateAnnotations(report, at, template, stored)
}

function checkPodTemplateObject(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  checkPodTemplate(report, 'template', partIn(next, 'template'), findPart(old, 'template'))
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Containers', 'string', 'The names of the containers in the template.'),
    column('Images', 'string', 'The images of the containers in the template.'),
    column('Pod Labels', 'string', 'The labels of its pods.'),
  ],
  cells: (o) => [
    nameOf(o),
    ...containersOf(fieldAt(o, 'template', 'spec')),
    labelsAt(o, 'template', 'metadata', 'labels'),
  ],
}

export const podTemplate: BuiltInKind = {
  strategy: {
    validate: validateWholeWith(checkPodTemplateObject),
    returnsDeleted: true,
    tracksGeneration: true,
    generationCounts: ({ template }) => template,
  },
  columns,
}
