/** Stands in for `src/encryption/kms-client.ts`: calls of the simulated plugin. `unix:///<machine>` is its endpoint. */
import { type KmsCiphertext, KmsError, type KmsStatus } from '../../../src/encryption/kms-client.ts'
import { simulated } from '../runtime/simulated-process.ts'
import { turned } from './kms.ts'

export * from '../../../src/encryption/kms-client.ts'

const codeNotFound = 5
const codeDeadlineExceeded = 4
const codeUnavailable = 14

export class KmsClient {
  readonly #machine: string
  readonly #timeoutMs: number
  #isClosed = false

  constructor(endpoint: string, timeoutMs: number) {
    this.#machine = endpoint.slice('unix:///'.length)
    this.#timeoutMs = timeoutMs
  }

  status(): Promise<KmsStatus> {
    return this.#call('Status', () => ({
      version: 'v2',
      healthz: simulated.kms.health,
      keyId: simulated.kms.keyId,
    }))
  }

  encrypt(plaintext: Uint8Array, _uid: string): Promise<KmsCiphertext> {
    return this.#call('Encrypt', () => {
      const { keyId } = simulated.kms
      return { ciphertext: turned(plaintext, keyId), keyId, annotations: new Map() }
    })
  }

  decrypt({ ciphertext, keyId }: KmsCiphertext, _uid: string): Promise<Uint8Array> {
    return this.#call('Decrypt', () => {
      if (!simulated.kms.forgotten.has(keyId)) return turned(ciphertext, keyId)
      throw new KmsError(codeNotFound, `Decrypt: gRPC code ${codeNotFound}: key ${keyId} is gone`)
    })
  }

  close(): void {
    this.#isClosed = true
  }

  #call<T>(method: string, answer: () => T): Promise<T> {
    const { kms, scheduler, network } = simulated
    const machine = network.machine(this.#machine)
    return new Promise<T>((resolve, reject) => {
      let ended = false
      const end = (settle: () => void): void => {
        if (ended || !machine.isAlive) return
        ended = true
        settle()
      }
      const refuse = (code: number, text: string): void => end(() => reject(new KmsError(code, `${method}: ${text}`)))
      if (this.#isClosed) return refuse(codeUnavailable, 'the provider is not used any more')
      scheduler.after(this.#timeoutMs, () => refuse(codeDeadlineExceeded, `no answer within ${this.#timeoutMs} ms`))
      scheduler.after(kms.slowMs * (0.2 + kms.random.next()), () => {
        const refusal = kms.refusalOf(this.#machine)
        if (refusal !== undefined) {
          if (refusal.code !== undefined) refuse(refusal.code, `gRPC code ${refusal.code}: ${refusal.text}`)
          return
        }
        try {
          const given = answer()
          end(() => resolve(given))
        } catch (error) {
          end(() => reject(error))
        }
      })
    })
  }
}
