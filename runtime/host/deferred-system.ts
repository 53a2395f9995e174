/** The interface to actors of a runtime that is created later. */

import type {
  ActorSystem,
  CommittedActor,
  ContextOf,
  InputOf,
  MessageOf,
  SendOptions,
  StepOutcome,
} from '../model/definition.ts';
import { Fatal } from '../model/failures.ts';
import { malformedAddress, malformedInput, malformedMessage } from '../model/message-checks.ts';
import type { ActorAddress, ActorEvent, Json } from '../model/ports.ts';
import type { ActorHost } from './actor-host.ts';

/**
 * Refuses malformed addresses and messages before they reach an actor, which they would otherwise count against.
 *
 * Lets services be built on the system before the runtime is, which needs their effect handlers. Calls before the
 * runtime exists throw `runtime.not-created`.
 */
export class DeferredSystem implements ActorSystem {
  #host: ActorHost | undefined;

  /** Called once, by the runtime. */
  connect(host: ActorHost): void {
    this.#host = host;
  }

  create<Kind extends string>(
    address: ActorAddress<Kind>,
    input: InputOf<Kind>,
  ): Promise<StepOutcome<ContextOf<Kind>>> {
    const host = this.#connected();
    const malformed = malformedAddress(address) ?? malformedInput(input);
    return malformed === undefined ? host.create(address, input as Json) : Promise.reject(malformed);
  }

  send<Kind extends string>(
    address: ActorAddress<Kind>,
    event: MessageOf<Kind>,
    options?: SendOptions,
  ): Promise<StepOutcome<ContextOf<Kind>>> {
    const host = this.#connected();
    const malformed = malformedAddress(address) ?? malformedMessage(event, options?.id);
    if (malformed !== undefined) return Promise.reject(malformed);
    return host.send(address, event as ActorEvent, options);
  }

  read<Kind extends string>(
    address: ActorAddress<Kind>,
  ): Promise<CommittedActor<ContextOf<Kind>> | undefined> {
    const host = this.#connected();
    const malformed = malformedAddress(address);
    return malformed === undefined ? host.read(address) : Promise.reject(malformed);
  }

  #connected(): ActorHost {
    if (this.#host === undefined)
      throw new Fatal('runtime.not-created', 'An actor was used before the runtime was created.');
    return this.#host;
  }
}
