/**
 * kube-apiserver's `AdmissionConfiguration` (apiserver.config.k8s.io/v1): what each admission plugin is configured
 * with, inline or in a file of its own. Read once, at the start, as upstream does.
 *
 * Stricter than upstream: an entry that would have no effect is refused.
 * @see k8s.io/apiserver/pkg/admission/config.go v0.36
 */

import { dirname, resolve } from 'node:path'
import { readBoundedFileSync } from '../base/bounded-file.ts'
import { parseConfiguration } from '../kube/configuration-text.ts'
import { isJsonObject } from '../kube/json-value.ts'
import { ObjectReader } from '../kube/object-reader.ts'
import type { JsonValue } from '../kube/types.ts'
import { admissionOrder } from './admission-order.ts'

/** The message is one line for the operator: which file, which field, what is wrong. */
export class AdmissionConfigurationError extends Error {
  override readonly name = 'AdmissionConfigurationError'
}

/** How a plugin reads its configuration. */
export interface PluginReader<T> {
  readonly plugin: string
  /** By kind: the versions of it that are known. */
  readonly kinds: Readonly<Record<string, readonly string[]>>
  /** `end` of the reader is called after it. @throws AdmissionConfigurationError with the field, without the file */
  read(configuration: ObjectReader): T
}

interface PluginConfiguration {
  readonly value: JsonValue
  /** `the admission configuration /etc/admission.yaml`, for errors. */
  readonly source: string
  /** Of the value in that file. */
  readonly at: string
}

const versions = ['v1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`)

/** Plugins of upstream that have another place here, or that this server lacks. None of them is configurable here. */
const otherPlugins = [
  ...['AlwaysAdmit', 'AlwaysDeny', 'AlwaysPullImages', 'CertificateApproval', 'CertificateSigning'],
  ...['CertificateSubjectRestriction', 'ClusterTrustBundleAttest', 'DenyServiceExternalIPs', 'EventRateLimit'],
  ...['ExtendedResourceToleration', 'ImagePolicyWebhook', 'JobValidation', 'LimitPodHardAntiAffinityTopology'],
  ...['NodeDeclaredFeatureValidator', 'NodeRestriction', 'PersistentVolumeClaimResize', 'PodGroupProtection'],
  ...['PodGroupWorkloadExists', 'PodNodeSelector', 'PodResizeValidator', 'PodTolerationRestriction'],
  ...['PodTopologyLabels', 'StorageObjectInUseProtection', 'TaintNodesByCondition'],
]

export class AdmissionConfiguration {
  readonly #plugins: ReadonlyMap<string, PluginConfiguration>

  private constructor(plugins: ReadonlyMap<string, PluginConfiguration>) {
    this.#plugins = plugins
  }

  /** `configurable`: the plugins whose configuration is asked for later. @throws AdmissionConfigurationError */
  static read(path: string, configurable: readonly string[]): AdmissionConfiguration {
    const source = `the admission configuration ${path}`
    const value = readValue(path, source)
    return refusedAs(source, () => {
      const reader = new ObjectReader(value, '', AdmissionConfigurationError)
      if (!versions.includes(reader.text('apiVersion')) || reader.text('kind') !== 'AdmissionConfiguration') {
        throw new AdmissionConfigurationError(`it is no AdmissionConfiguration of ${versions.join(' or ')}`)
      }
      const entries = reader.objects('plugins')
      reader.end()
      const plugins = new Map<string, PluginConfiguration>()
      for (const entry of entries) readEntry(entry, { path, source }, configurable, plugins)
      return new AdmissionConfiguration(plugins)
    })
  }

  /** Undefined where the file says nothing of the plugin. @throws AdmissionConfigurationError */
  of<T>({ plugin, kinds, read }: PluginReader<T>): T | undefined {
    const found = this.#plugins.get(plugin)
    if (found === undefined) return undefined
    return refusedAs(found.source, () => {
      const reader = new ObjectReader(found.value, found.at, AdmissionConfigurationError)
      const apiVersion = reader.text('apiVersion')
      if (!kinds[reader.text('kind')]?.includes(apiVersion)) {
        const known = Object.entries(kinds).map(([kind, of]) => `${kind} of ${of.join(' or ')}`)
        const place = found.at === '' ? 'it' : `${found.at}: it`
        throw new AdmissionConfigurationError(`${place} is no ${known.join(', no ')}`)
      }
      const configuration = read(reader)
      reader.end()
      return configuration
    })
  }
}

function readEntry(
  entry: ObjectReader,
  file: { readonly path: string; readonly source: string },
  configurable: readonly string[],
  plugins: Map<string, PluginConfiguration>,
): void {
  const name = entry.text('name')
  const path = entry.text('path')
  const inline = entry.value('configuration')
  entry.end()
  const known: readonly string[] = [...configurable, ...admissionOrder, ...otherPlugins]
  const refuse = (field: string, problem: string): never => {
    throw new AdmissionConfigurationError(`${entry.at}.${field}: ${problem}`)
  }
  if (!known.includes(name)) refuse('name', `there is no admission plugin ${JSON.stringify(name)}`)
  if (plugins.has(name)) refuse('name', `${name} is there twice`)
  if (inline === undefined && path === '') return
  if (!configurable.includes(name)) {
    refuse(inline === undefined ? 'path' : 'configuration', `${name} takes no configuration in this server`)
  }
  if (inline !== undefined) {
    if (!isJsonObject(inline)) refuse('configuration', 'it must be an object')
    plugins.set(name, { value: inline, source: file.source, at: `${entry.at}.configuration` })
    return
  }
  const own = resolve(dirname(file.path), path)
  const source = `the configuration ${own} of ${name}`
  plugins.set(name, { value: readValue(own, source), source, at: '' })
}

function readValue(path: string, source: string): JsonValue {
  let text: string
  try {
    text = readBoundedFileSync(path)
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException
    throw new UnusableConfigurationError(`can't read ${source} (${code})`, { cause })
  }
  return refusedAs(source, () => parseConfiguration(text, AdmissionConfigurationError))
}

/** It names its file already. */
class UnusableConfigurationError extends AdmissionConfigurationError {}

/** @throws AdmissionConfigurationError that names the file */
function refusedAs<T>(source: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof AdmissionConfigurationError) || error instanceof UnusableConfigurationError) throw error
    throw new UnusableConfigurationError(`${source} can't be used: ${error.message}`, { cause: error })
  }
}
