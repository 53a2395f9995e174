/**
 * Six-digit codes by e-mail. A code is derived from a key of the portal, the action, the person and a number, and is
 * stored nowhere; which number is good, and how many guesses are left, is for the `flow-action` actor to say.
 *
 * Source: Document Signing Portal API, Constraints 1 and 2; portal-gaps §10.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  CODES_AN_HOUR,
  codesLately,
  type FlowActionContext,
  flowActionMachine,
  isCodeGood,
} from '../../machines/flow-action.ts';
import type { DocumentId, FlowActionId, UserId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { Notice } from '../../machines/portal-words.ts';
import type { ActorAddress, ActorDefinition, ActorSystem, Clock } from '../../runtime/index.ts';
import type { CodeFor } from './mail-letters.ts';

export const FLOW_ACTION = 'flow-action';

export const flowActionDefinition: ActorDefinition = {
  kind: FLOW_ACTION,
  machine: flowActionMachine,
  version: 1,
  ends: ({ state }) => state === 'Over',
};

/** @param key 32 bytes */
export function codesFrom(key: Buffer): CodeFor {
  return (flowActionId, userId, generation) => {
    const digest = createHmac('sha256', key).update(`${flowActionId}/${userId}/${generation}`).digest();
    // 48 bits over a million: no digit is likelier than another by more than one in 10^8.
    return String(digest.readUIntBE(0, 6) % 1_000_000).padStart(6, '0');
  };
}

/** Whose code it is. */
export interface CodeHolder {
  readonly documentId: DocumentId;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
}

export interface SigningCodesParts {
  readonly system: ActorSystem;
  readonly clock: Pick<Clock, 'now'>;
  readonly codeFor: CodeFor;
}

export class SigningCodes {
  readonly #parts: SigningCodesParts;

  constructor(parts: SigningCodesParts) {
    this.#parts = parts;
  }

  /**
   * Mails a code; where the last one is still good, only when another is asked for.
   * Refusals: `TooManyRequests`.
   */
  async send(holder: CodeHolder, notice: Omit<Notice, 'codeGeneration'>, resend: boolean): Promise<void> {
    const { system, clock } = this.#parts;
    const address = codesAddress(holder);
    const made = await system.create(address, { ...holder });
    if (!made.accepted && made.because !== 'exists') throw new PortalRefusal('ServiceBusy');
    const outcome = await system.tell(address, { type: 'SEND', resend, notice });
    if (outcome.accepted) return outcome.durable;
    if (!('actor' in outcome)) throw new PortalRefusal('ServiceBusy');
    const context = outcome.actor.context as FlowActionContext;
    const now = clock.now();
    if (!resend && isCodeGood(context, now)) return;
    const lately = codesLately(context, now);
    if (lately.length < CODES_AN_HOUR) throw new PortalRefusal('ServiceBusy');
    const wait = Math.max(1, Math.ceil(((lately[0] ?? now) + 3_600_000 - now) / 1000));
    throw new PortalRefusal('TooManyRequests', 'Too many codes were sent.', { retryAfterSeconds: wait });
  }

  /** Refusals: `InvalidAuthenticationCode`, for a wrong guess, one too many, and one too late. */
  async check(holder: CodeHolder, code: string): Promise<void> {
    const { system, codeFor } = this.#parts;
    const address = codesAddress(holder);
    const actor = await system.read(address);
    if (actor === undefined) throw new PortalRefusal('InvalidAuthenticationCode');
    const { generation } = actor.context as FlowActionContext;
    const right = codeFor(holder.flowActionId, holder.userId, generation);
    const isRight = isSame(code.trim(), right);
    // The step decides: guesses at the same moment are counted one by one.
    const outcome = await system.tell(address, { type: 'GUESS', generation, isRight });
    if (!outcome.accepted || !isRight) throw new PortalRefusal('InvalidAuthenticationCode');
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
}: Pick<CodeHolder, 'flowActionId' | 'userId'>): ActorAddress {
  return { kind: FLOW_ACTION, id: `${flowActionId}.${userId}` };
}
