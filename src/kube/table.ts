/**
 * meta.k8s.io/v1 Table: what `kubectl get` asks for. Columns and cells come from `columns-of.ts`; here they become a
 * Table document.
 * @see k8s.io/apimachinery/pkg/apis/meta/v1/types.go v0.36
 */
import { fieldInvalid } from './field-error.ts'
import { badRequest, type StatusError } from './status-error.ts'
import type { KubeObject, ListMeta } from './types.ts'

export interface ColumnDefinition {
  readonly name: string
  /** string, integer, number, boolean, date: OpenAPI types, and a date printed as an age. */
  readonly type: string
  /** `name` marks the column that identifies the row. */
  readonly format: string
  readonly description: string
  /** 0 = always shown, 1 = with `-o wide`. */
  readonly priority: number
}

export interface RowCondition {
  readonly type: 'Completed'
  readonly status: 'True'
  readonly reason: string
  readonly message: string
}

export interface TableColumns {
  readonly definitions: readonly ColumnDefinition[]
  /** As many as definitions. */
  cells(object: KubeObject, nowMs: number): unknown[]
  /** Rows that some clients hide: finished pods. */
  conditions?(object: KubeObject): readonly RowCondition[] | undefined
}

export interface TableRow {
  readonly cells: readonly unknown[]
  readonly conditions?: readonly RowCondition[]
  readonly object: KubeObject | null
}

export interface Table {
  readonly kind: 'Table'
  readonly apiVersion: string
  readonly metadata: ListMeta
  readonly columnDefinitions: readonly ColumnDefinition[] | null
  readonly rows: readonly TableRow[]
}

export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** @throws StatusError BadRequest */
export function parseIncludeObject(text: string | undefined): IncludeObject {
  if (!text) return 'Metadata'
  if (text === 'None' || text === 'Metadata' || text === 'Object') return text
  throw badIncludeObject(text)
}

function badIncludeObject(text: string): StatusError {
  const { field, body } = fieldInvalid('includeObject', text, "must be 'Metadata', 'Object', 'None', or empty")
  return badRequest(`Unable to convert to Table as requested: ${field}: ${body}`)
}

export interface TableRequest {
  readonly columns: TableColumns
  readonly includeObject: IncludeObject
  readonly nowMs: number
  /** `v1` or `v1beta1`. */
  readonly version: string
}

export interface WholeTableRequest extends TableRequest {
  /** Complete with apiVersion and kind where `includeObject` is Object. */
  readonly objects: readonly KubeObject[]
  readonly metadata: ListMeta
  /** False: all but the first Table of a watch come without definitions. */
  readonly withDefinitions?: boolean
}

const apiVersionOf = ({ version }: TableRequest): string => `meta.k8s.io/${version}`

function rowObject(object: KubeObject, include: IncludeObject, apiVersion: string): KubeObject | null {
  if (include === 'None') return null
  return include === 'Object' ? object : { kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata }
}

/** A Table without its rows. */
export function tableHead(request: TableRequest, metadata: ListMeta, withDefinitions = true): Omit<Table, 'rows'> {
  const columnDefinitions = withDefinitions ? request.columns.definitions : null
  return { kind: 'Table', apiVersion: apiVersionOf(request), metadata, columnDefinitions }
}

export function tableRow(request: TableRequest, object: KubeObject): TableRow {
  const { columns, includeObject, nowMs } = request
  const conditions = columns.conditions?.(object)
  return {
    cells: columns.cells(object, nowMs),
    ...(conditions ? { conditions } : {}),
    object: rowObject(object, includeObject, apiVersionOf(request)),
  }
}

export function renderTable(request: WholeTableRequest): Table {
  const head = tableHead(request, request.metadata, request.withDefinitions)
  return { ...head, rows: request.objects.map((object) => tableRow(request, object)) }
}
