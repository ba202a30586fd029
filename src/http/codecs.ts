/** What reads bodies and writes answers, and when long ones, made for one server. */
import type { Clock } from '../base/clock.ts'
import type { Turns } from '../base/turns.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { ProtobufCodec } from '../catalog/protobuf/protobuf-codec.ts'
import { maxValues } from '../kube/value-count.ts'
import { BodyDecoder } from './decode-body.ts'
import { LongWork } from './long-work.ts'
import { Renderer } from './respond.ts'

export interface Codecs {
  readonly protobuf: ProtobufCodec
  readonly decoder: BodyDecoder
  readonly renderer: Renderer
  readonly longWork: LongWork
}

export function createCodecs(
  catalog: Pick<Catalog, 'completeDefaults'>,
  { clock, turns }: { readonly clock: Clock; readonly turns: Turns },
): Codecs {
  const protobuf = new ProtobufCodec({ maxValues })
  return {
    protobuf,
    decoder: new BodyDecoder({ protobuf, catalog, turns }),
    renderer: new Renderer({ protobuf, now: () => clock.now() }),
    longWork: new LongWork(turns),
  }
}
