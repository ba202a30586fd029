/** Runs the controllers that the features bring, each as a service account of its own, through the pipeline. */
import type { Client } from '../client/client.ts'
import { type ControllerRuntime, runController } from '../controller/run-controller.ts'
import type { ControllerContext } from '../feature/feature.ts'
import { serviceAccountUser, type UserInfo } from '../kube/user.ts'
import type { Core } from './wire.ts'

/** `sharesValues`: only for controllers that never change an object they were given. */
export type ClientFor = (user: UserInfo, userAgent: string, sharesValues?: boolean) => Client

/** Resolves when all have stopped. */
export async function runControllers(
  core: Core,
  client: ClientFor,
  observe: NonNullable<ControllerRuntime['observe']>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, controllers: isOn } = core.config
  const run: ControllerContext = {
    client: (account, sharesValues) => client(serviceAccountUser('kube-system', account), account, sharesValues),
    onError: (component) => (error) => log.warn({ error, component }, 'a watch broke and is taken up again'),
  }
  const specs = core.parts.flatMap((parts) => parts.controllers?.(run) ?? [])
  const running = specs.filter(({ name, account = name }) => isOn(account))
  await Promise.all(running.map((spec) => runController(spec, { clock, log, turns: core.turns, observe }, signal)))
}
