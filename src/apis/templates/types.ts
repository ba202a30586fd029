/**
 * NamespaceTemplate: its shape, its schema, and the labels, annotations and names by which templates, namespaces and
 * populated objects know each other. Vocabulary only; `reconcile.ts` is where the work begins.
 */
import type { Resource } from '../../kube/resource.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import { type TemplateExpiry, templateExpirySchema } from '../expiry/types.ts'

export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

/** Which namespaces a template is for. All given parts must match. */
export interface NamespaceMatch {
  /** Empty selects every namespace. */
  labelSelector?: LabelSelector
  /** Globs over the name (ours). */
  nameSelector?: { include?: string[]; exclude?: string[] }
  /** Globs over the creator (ours): user names, and `namespace/name` of service accounts. */
  creatorSelector?: { users?: string[]; serviceAccounts?: string[] }
}

export type DeletionPolicy = 'Delete' | 'Orphan'
export type DriftPolicy = 'Correct' | 'Report'
/** What a new namespace does while an object of the template can't be made: wait, or open without it. */
export type FailurePolicy = 'Hold' | 'Ignore'

/** How a change of the template reaches the namespaces that exist. New ones are given the newest at once. */
export interface Rollout {
  /** Namespaces that may be under way or failed at one time: a number or a share (`10%`). Absent = 10 %, at least 5. */
  maxUnavailable?: number | string
  /** After a failure no further namespace is begun until it is mended or the template is edited. */
  pauseOnFailure?: boolean
  /**
   * A change or deletion that would delete objects in more namespaces than this is not begun until it is confirmed.
   * Absent = 10 %, at least 5.
   */
  maxPrune?: number | string
}

/** A text that each namespace gives; `$(name)` stands for it. Exactly one of `fromLabel` and `fromAnnotation`. */
export interface TemplateParameter {
  name: string
  fromLabel?: string
  fromAnnotation?: string
  /** What it may be; absent = anything. */
  enum?: string[]
  /** RE2, of the whole value. */
  pattern?: string
  /** Of a namespace that gives none; absent = the empty text. */
  default?: string
  /** A namespace that gives none is refused. */
  required?: boolean
}

/** One of `spec.objects`. */
export interface ObjectEntry {
  /** CEL over `params` and `namespaceObject`. Absent = for every namespace that the template selects. */
  when?: string
  /** Absent = as `driftPolicy` says. */
  drift?: DriftPolicy | 'Strict'
  /** Field managers whose fields are left to them, whatever the template says. */
  yieldTo?: string[]
  /** Others may not write it, but holders of the verb `bypass` on the template. */
  protect?: boolean
  /** An object without a namespace. */
  template?: JsonObject
  /** In its place: the Secret or ConfigMap that is copied, under its own name. */
  cloneFrom?: Partial<CloneSource>
}

export interface CloneSource {
  namespace: string
  apiVersion: string
  kind: string
  name: string
}

export interface NamespaceTemplate extends KubeObject {
  spec?: {
    namespaces?: NamespaceMatch
    parameters?: TemplateParameter[]
    /** Set on the namespace itself. */
    namespaceMetadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }
    /** Objects without a namespace. */
    templates?: JsonObject[]
    /** The same, with a say in whether and how they are kept. */
    objects?: ObjectEntry[]
    deletionPolicy?: DeletionPolicy
    driftPolicy?: DriftPolicy
    failurePolicy?: FailurePolicy
    adopt?: boolean
    rollout?: Rollout
    expiry?: TemplateExpiry
  }
  status?: TemplateStatus
}

export interface TemplateFailure {
  namespace: string
  /** `RoleBinding/admin` */
  object?: string
  reason: string
  message: string
}

export interface TemplateStatus {
  observedGeneration?: number
  /** While `observedGeneration` is stopped or rests: the one that namespaces are given meanwhile. 0 = none was yet. */
  heldGeneration?: number
  /** Namespaces it selects. */
  matched?: number
  /** Of them, those that hold what this generation says. */
  synced?: number
  /** Namespaces where something of it could not be made, or could not be taken away. */
  failed?: number
  /** Of the selected, those without what names a creator or owner: none is recorded there. */
  skipped?: number
  /** Of the selected, those that hold all of this generation, and others have added to it. */
  extended?: number
  /** Selected namespaces that wait for their turn. */
  waiting?: number
  failures?: TemplateFailure[]
  /** Kinds ever populated from this template and not yet pruned everywhere: `networking.k8s.io/v1/NetworkPolicy`. */
  kinds?: string[]
  conditions?: TemplateCondition[]
}

export interface TemplateCondition {
  type: string
  status: string
  reason: string
  message: string
  lastTransitionTime: string
}

/** The group of every example and message, for every cluster accepts it. */
export const templateGroup = 'policy.borough.dev'
/** Served by Borough alone, from the same storage: a custom resource's group needs a dot. */
export const templateGroupAlias = 'policy'
export const templateGroups: readonly string[] = [templateGroup, templateGroupAlias]
export const templateVersion = 'v1alpha1'
export const templateResourceName = 'namespacetemplates'

export const templateResource: Resource<NamespaceTemplate> = {
  group: templateGroup,
  version: templateVersion,
  resource: templateResourceName,
}

/** On every populated object: the name of its template. */
export const templateNameLabel = 'policy/namespace-template-name'
/** On objects that are protected: the name of their template, for policies and for people. */
export const protectedByLabel = 'policy.borough.dev/protected-by'
/** Metadata that no status write may change of a protected object: by an owner the garbage collector deletes it. */
export const keptByStatus = ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const
/** On a template: "disable" stops it. */
export const applyAnnotation = 'policy/namespace-template-apply'
/** On a template: "true" asks for the verb `use`. The seed's spelling with a second slash is no legal key. */
export const requirePermissionAnnotation = 'policy/namespace-template-require-permission'
/** On a template: the generation whose prunes are meant, beyond `spec.rollout.maxPrune`; its deletion is one too. */
export const confirmPruneAnnotation = 'policy.borough.dev/confirm-prune'
/** On a template: no further existing namespace is brought to its newest generation; every value but `false` does. */
export const pauseRolloutAnnotation = 'policy.borough.dev/pause-rollout'
/** On a template or its definition: what a version must understand to act on it (`feature-level.ts`). */
export const featureLevelAnnotation = 'policy.borough.dev/feature-level'
/** On a Secret or ConfigMap: the namespaces that may have a copy of it, as a label selector; `*` is all. */
export const cloneToAnnotation = 'policy.borough.dev/clone-to'
/** On a namespace: "true" keeps templates off; needs the verb `optout`. */
export const optOutAnnotation = 'policy/namespace-template-opt-out'
/** On a namespace, set by the server: who created it. Also a label where the name is a legal label value. */
export const creatorKey = 'authorization.k8s.io/creator'
/** On a namespace: the user or group to whom what its templates grant is given. Absent = its creator. */
export const ownerKey = 'borough.dev/owner'
/** In characters. Issuers of ID tokens put their address before a subject of up to 255. */
export const ownerNameMaxLength = 1024
/**
 * Characters that a terminal does not show, or that turn the direction of text: what reads `alice` there may be another
 * user. Half a pair of UTF-16 is no character at all, and would be another one in protobuf. Of
 * what Unicode calls ignorable, what is no `Cf` is listed.
 */
export const unseenCharacters: RegExp = new RegExp(
  String.raw`[\p{Cf}\p{Cs}\u{34f}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180b}-\u{180f}` +
    String.raw`\u{2800}\u{3164}\u{fe00}-\u{fe0f}\u{ffa0}\u{e0100}-\u{e01ef}]`,
  'u',
)
/** On a namespace, set by admission: which template set which of its labels and annotations. */
export const metadataHoldersAnnotation = 'policy.borough.dev/set-by-templates'
/**
 * In a write of the population controller, and never stored: of which generations of templates it is made. A write that
 * is made of others than there are is a conflict: what it set would be recorded as no template's.
 */
export const metadataVersionsAnnotation = 'policy.borough.dev/settles'
/** On a namespace, put on by a policy of `borough populate`: writes of it are a matter of the webhooks too. */
export const askedAnnotation = 'policy.borough.dev/asks-webhooks'
/** On a namespace of a cluster without initializers: it waits for its templates, and others may not write in it yet. */
export const pendingLabel = 'policy/namespace-template-pending'
/** Condition of a namespace whose templates could not give it something, and can by now. */
export const populatedCondition = 'Populated'

/** Of applies, and of nothing else: on Borough what is written under it by the controller is recorded as applied. */
export const templateFieldManager = 'namespace-template'
/** Of patches that put the label back, or take it off. */
export const labelFieldManager = 'namespace-template-label'
export const templateControllerName = 'namespace-template-controller'
/** Holds a deleted template until what it populated is pruned. */
export const templateFinalizer = 'policy.borough.dev/prune'

/** Never populated. */
export const optedOutNamespace = 'kube-system'

const string: Schema = { type: 'string' }
const strings: Schema = { type: 'array', listType: 'atomic', items: string }
const stringMap: Schema = { type: 'object', additionalProperties: string }
const object = (properties: Record<string, Schema>, description?: string): Schema => ({
  type: 'object',
  properties: new Map(Object.entries(properties)),
  ...(description === undefined ? {} : { description }),
})
const describe = (schema: Schema, description: string): Schema => ({ ...schema, description })

const labelSelector = object({
  matchLabels: { type: 'object', additionalProperties: string },
  matchExpressions: {
    type: 'array',
    listType: 'atomic',
    items: { ...object({ key: string, operator: string, values: strings }), required: ['key', 'operator'] },
  },
})

/** Everything but metadata, which every kind shares. */
export const templateProperties: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  [
    'spec',
    object({
      namespaces: object(
        {
          labelSelector: describe(labelSelector, 'Namespaces by label; empty selects all but kube-system.'),
          nameSelector: object({ include: strings, exclude: strings }, 'Namespaces by name, as globs.'),
          creatorSelector: object({ users: strings, serviceAccounts: strings }, 'Namespaces by creator, as globs.'),
        },
        'Which namespaces are populated. All parts that are given must match.',
      ),
      parameters: {
        type: 'array',
        listType: 'map',
        listMapKeys: ['name'],
        description: 'Texts that each namespace gives in a label or an annotation; $(name) stands for them.',
        items: {
          ...object({
            name: string,
            fromLabel: describe(string, 'The label of the namespace that gives it.'),
            fromAnnotation: describe(string, 'The annotation of the namespace that gives it.'),
            enum: describe(strings, 'What it may be; absent = anything.'),
            pattern: describe(string, 'What the whole value must match, in RE2.'),
            default: describe(string, 'Of a namespace that gives none; absent = the empty text.'),
            required: { type: 'boolean', description: 'A namespace that gives none is refused.' },
          }),
          required: ['name'],
        },
      },
      namespaceMetadata: object(
        { labels: stringMap, annotations: stringMap },
        'Labels and annotations of the namespace itself: set when it is created, and refused to be changed.',
      ),
      templates: {
        type: 'array',
        listType: 'atomic',
        description:
          'Objects that every matching namespace gets. $(CREATOR), $(OWNER) and $(NAMESPACE) are replaced in ' +
          'values.',
        items: { type: 'object', embeddedResource: true, preserveUnknownFields: true },
      },
      objects: {
        type: 'array',
        listType: 'atomic',
        description: 'Objects as in templates, with a say in whether and how they are kept.',
        items: object({
          when: describe(
            string,
            'CEL over params and namespaceObject: the object is for namespaces where it is true; absent is all.',
          ),
          drift: {
            ...string,
            enum: ['Correct', 'Strict', 'Report'],
            description:
              'What becomes of changes by others: Correct puts the fields of the template back, Strict the whole ' +
              'object but metadata and status, Report leaves it; absent is what driftPolicy says.',
          },
          yieldTo: describe(strings, 'Field managers whose fields are left to them.'),
          protect: {
            type: 'boolean',
            description: 'Others may not write it, but holders of the verb bypass on the template.',
          },
          template: {
            type: 'object',
            embeddedResource: true,
            preserveUnknownFields: true,
            description: 'The object, as one of templates.',
          },
          cloneFrom: object(
            { namespace: string, apiVersion: string, kind: string, name: string },
            'In place of template: a Secret or ConfigMap, whose content is copied and kept in step. It consents by ' +
              `annotation ${cloneToAnnotation}.`,
          ),
        }),
      },
      deletionPolicy: {
        ...string,
        enum: ['Delete', 'Orphan'],
        description: 'What becomes of objects the template no longer holds: Delete (default) or Orphan.',
      },
      driftPolicy: {
        ...string,
        enum: ['Correct', 'Report'],
        description: 'What becomes of changes to populated objects: Correct (default) or Report.',
      },
      failurePolicy: {
        ...string,
        enum: ['Hold', 'Ignore'],
        description:
          'What a new namespace does while an object can not be made: Hold (default, it stays Initializing) or Ignore.',
      },
      adopt: { type: 'boolean', description: 'Take over objects that exist already instead of leaving them alone.' },
      rollout: object(
        {
          maxUnavailable: describe(
            { type: 'intOrString' },
            'Existing namespaces that may be under way or failed at one time: a number or a share; ' +
              'default 10%, at least 5.',
          ),
          pauseOnFailure: {
            type: 'boolean',
            description: 'After a failure no further namespace is begun until it is mended or the template is edited.',
          },
          maxPrune: describe(
            { type: 'intOrString' },
            'A change or deletion that would delete objects in more namespaces is not begun until it is confirmed: ' +
              'a number or a share; default 10%, at least 5.',
          ),
        },
        'How a change reaches the namespaces that exist. New ones are given the newest at once.',
      ),
      expiry: templateExpirySchema,
    }),
  ],
  [
    'status',
    object({
      observedGeneration: { type: 'integer', format: 'int64' },
      heldGeneration: describe(
        { type: 'integer', format: 'int64' },
        'While the newest generation is stopped or rests: the one before it that namespaces are given meanwhile, ' +
          'new ones too where the newest does not select them. 0: none was in force yet, for it was made disabled.',
      ),
      matched: { type: 'integer', format: 'int64' },
      synced: { type: 'integer', format: 'int64' },
      failed: { type: 'integer', format: 'int64' },
      skipped: { type: 'integer', format: 'int64' },
      extended: { type: 'integer', format: 'int64' },
      waiting: { type: 'integer', format: 'int64' },
      failures: {
        type: 'array',
        listType: 'atomic',
        items: object({ namespace: string, object: string, reason: string, message: string }),
      },
      kinds: strings,
      conditions: {
        type: 'array',
        listType: 'map',
        listMapKeys: ['type'],
        items: {
          ...object({ type: string, status: string, reason: string, message: string, lastTransitionTime: string }),
          required: ['type'],
        },
      },
    }),
  ],
])
