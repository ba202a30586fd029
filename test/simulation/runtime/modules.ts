/**
 * What a server loads only when it needs it is loaded before the first seed: virtual time does not wait for the process
 * to read its modules, so how far it went meanwhile would depend on the machine.
 */
export async function loadModules(): Promise<void> {
  await Promise.all([
    import('jose'),
    import('prom-client'),
    import('../../../src/authn/configured-issuers.ts'),
    import('../../../src/encryption/encrypted-storage.ts'),
    import('../../../src/encryption/encryption.ts'),
    import('../../../src/storage/etcd/etcd-storage.ts'),
    import('../../../src/storage/relay/relay-storage.ts'),
    import('../../../src/storage/sqlite/sqlite-storage.ts'),
  ])
}
