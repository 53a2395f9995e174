/**
 * Six-digit codes by e-mail. A code is derived from a key of the portal, the action, the person and a number, and is
 * stored nowhere; which number is good, and how many guesses are left, is for the `flow-action` actor to say.
 *
 * Source: docs/portal-values.md §0, §10.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { type ActorAddress, actorKind, defineActor, durable } from '@sealwright/runtime';
import type { DocumentId, FlowActionId, UserId } from '../../../machines/ids.ts';
import {
  codesInLastHour,
  flowActionMachine,
  isCodeGood,
  MAX_CODES_PER_HOUR,
  MAX_WRONG_CODES,
  wrongCodes,
} from '../../../machines/portal/flow-action.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { MailRequest } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { CodeLookup } from '../mail/mail-rendering.ts';

export const FLOW_ACTION = actorKind<typeof flowActionMachine>('flow-action');

export const flowActionDefinition = defineActor(FLOW_ACTION, {
  machine: flowActionMachine,
  version: 1,
  ends: ({ state }) => state === 'Over',
});

/** @param key 32 bytes */
export function codesFrom(key: Buffer): CodeLookup {
  return (flowActionId, userId, generation) => {
    const digest = createHmac('sha256', key).update(`${flowActionId}/${userId}/${generation}`).digest();
    // 48 bits over a million: no digit is likelier than another by more than one in 10^8.
    return String(digest.readUIntBE(0, 6) % 1_000_000).padStart(6, '0');
  };
}

/** Owner of the code. */
export interface CodeRecipient {
  readonly documentId: DocumentId;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
}

export class SigningCodes {
  constructor(
    private readonly runtime: ServiceRuntime,
    private readonly codeFor: CodeLookup,
  ) {}

  /** Mails a code. While the last one is valid, only on explicit request. Refusals: `TooManyRequests`, `TooManyWrongCodes`. */
  async send(
    holder: CodeRecipient,
    mail: Omit<MailRequest, 'codeGeneration'>,
    resend: boolean,
  ): Promise<void> {
    const { system, clock } = this.runtime;
    const address = codesAddress(holder);
    const made = await system.create(address, { ...holder });
    if (!made.accepted && made.reason !== 'exists') throw new PortalRefusal('ServiceBusy');
    await durable(system.send(address, { type: 'SEND', resend, notice: mail }), (refused) => {
      if (!('actor' in refused)) return new PortalRefusal('ServiceBusy');
      const context = refused.actor.context;
      if (wrongCodes(context) >= MAX_WRONG_CODES) return new PortalRefusal('TooManyWrongCodes');
      const now = clock.now();
      if (!resend && isCodeGood(context, now)) return undefined;
      const lately = codesInLastHour(context, now);
      if (lately.length < MAX_CODES_PER_HOUR) return new PortalRefusal('ServiceBusy');
      const wait = Math.max(1, Math.ceil(((lately[0] ?? now) + 3_600_000 - now) / 1000));
      return new PortalRefusal('TooManyRequests', 'Too many codes were sent.', { retryAfterSeconds: wait });
    });
  }

  /** Refusals: `InvalidAuthenticationCode` for a wrong guess, one too many, and one too late; `TooManyWrongCodes`. */
  async check(holder: CodeRecipient, code: string): Promise<void> {
    const { system } = this.runtime;
    const { codeFor } = this;
    const address = codesAddress(holder);
    const actor = await system.read(address);
    if (actor === undefined) throw new PortalRefusal('InvalidAuthenticationCode');
    const { generation } = actor.context;
    const right = codeFor(holder.flowActionId, holder.userId, generation);
    const isRight = isSame(code.trim(), right);
    // The step decides: guesses at the same moment are counted one by one.
    const outcome = await system.send(address, { type: 'GUESS', generation, isRight });
    if (outcome.accepted && isRight) return;
    // Right and wrong codes are answered alike then.
    const isOver = 'actor' in outcome && wrongCodes(outcome.actor.context) >= MAX_WRONG_CODES;
    throw new PortalRefusal(isOver ? 'TooManyWrongCodes' : 'InvalidAuthenticationCode');
  }
}

function isSame(guess: string, right: string): boolean {
  const given = Buffer.from(guess);
  const wanted = Buffer.from(right);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** The actor that guards one person's codes for one action. */
export function codesAddress({
  flowActionId,
  userId,
}: Pick<CodeRecipient, 'flowActionId' | 'userId'>): ActorAddress {
  return { kind: FLOW_ACTION, id: `${flowActionId}.${userId}` };
}
