/** What a running process sees to beside population itself: its certificate, and what the cluster was told. */
import type { KubeObject } from '../kube/types.ts'
import { Keeper } from './keep-registered.ts'
import type { PopulateMetrics } from './metrics.ts'
import type { PopulateOptions } from './populate-options.ts'
import { endOf, followMaterial, type Material, type ServingCertificateOptions } from './serving-certificate.ts'

export interface LookedAfter {
  readonly options: PopulateOptions
  readonly metrics: PopulateMetrics
  readonly certificate: ServingCertificateOptions
  /** It serves with. */
  readonly material: Material
  serveWith(material: Material): void
  /** What the cluster is told, by the authorities that it is to trust. */
  objectsFor(caBundle: string): readonly KubeObject[]
}

/** Until `signal` aborts. Never rejects. */
export async function lookAfter(
  { options: { client, clock, log }, metrics, certificate, material, serveWith, objectsFor }: LookedAfter,
  signal: AbortSignal,
): Promise<void> {
  const onLook = (isHeld: boolean): void => {
    metrics.registered = isHeld
  }
  const keeper = new Keeper({ client, clock, log, onLook }, objectsFor(material['ca.crt']))
  const onChange = async (next: Material): Promise<void> => {
    // Trusted first, then shown.
    await keeper.replace(objectsFor(next['ca.crt']))
    serveWith(next)
    metrics.certificateEndMs = endOf(next)
  }
  await Promise.all([followMaterial(certificate, material, onChange, signal), keeper.run(signal)])
}
