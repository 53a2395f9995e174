/**
 * Makes quick signatures before they are accepted, so that one step accepts them and puts them into their documents.
 *
 * Source: docs/decisions/0005-hot-path.md
 */

import type { Millis } from '../../../machines/ids.ts';
import type { DocumentContext, EarlySignature } from '../../../machines/portal/documents/document-context.ts';
import type { DocumentMessageOf } from '../../../machines/portal/documents/document-decision.ts';
import type { SignatureToApply } from '../../../machines/portal/documents/document-effects.ts';
import { complete } from '../../../machines/portal/documents/document-reservations.ts';
import { sign } from '../../../machines/portal/documents/participant-actions.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { StepWaits } from '../../shared/coordination/step-waits.ts';
import { DOCUMENT } from '../document-records/document-index.ts';
import { sendToDocument, whenSettled, wrongStatus } from '../document-records/document-messages.ts';
import { type ApplySignatureDependencies, signatureBeforehand } from './apply-signature.ts';

/** Maximum wait of a call for its signature to be in the file; then it is promised. */
const SIGNING_TIMEOUT_MS: Millis = 10_000;

/** Most signatures in a document whose next one counts as quick: a file that is built again takes them all again. */
const MAX_EARLIER = 8;

type SignMessage = Omit<DocumentMessageOf<'SIGN'>, 'at'>;
type SigningMessage = SignMessage | Omit<DocumentMessageOf<'COMPLETE'>, 'at'>;

export class EarlySignatures {
  /** Ends of signatures that are being made, by document: of two that are made at once, one could be taken. */
  readonly #making = new Map<string, Promise<unknown>>();

  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'clock' | 'faults'>,
    private readonly waits: StepWaits,
    private readonly sealing: ApplySignatureDependencies,
  ) {}

  /** Resolves when no signature is being made for the document. Never rejects. */
  async settled(id: DocumentContext['id']): Promise<void> {
    await this.#making.get(id)?.catch(() => {});
  }

  /**
   * Resolves once an electronic signature is durable and, unless that takes long, in place.
   * @param isPromisedFirst true: what the participant gave cannot be given again
   * Refusals: as `sendToDocument`.
   */
  async sign(context: DocumentContext, message: SignMessage, isPromisedFirst: boolean): Promise<void> {
    const { actors, faults } = this.runtime;
    const waiting = whenSettled(this.waits, context.id, message.id, SIGNING_TIMEOUT_MS);
    const promise = async () => {
      await sendToDocument(actors, context.id, message, wrongStatus);
      await faults.at('portal.sign.accepted');
    };
    try {
      if (isPromisedFirst) {
        // It would overtake a certificate signature that is being made, which its signer had to make again.
        if (!this.#isEnding(context, message)) await this.settled(context.id);
        await promise();
      } else if ((await this.add(context, message, promise)) === true) return;
      // It is safe already; waiting only lets the answer come with the signature in its place.
      await waiting.actor;
    } finally {
      waiting.cancel();
    }
  }

  /**
   * True once the signature is durable and in its file. Otherwise the document has to accept it first, by `orElse`, which
   * would refuse another one that is being made, so this waits for its end.
   * @param orElse comes before others that wait for the end, which would overtake a signature with a certificate
   */
  async add<Promised>(
    context: DocumentContext,
    message: SigningMessage,
    orElse: () => Promise<Promised>,
  ): Promise<true | Promised> {
    const { id } = context;
    if (this.#isEnding(context, message)) return orElse();
    if (this.#making.has(id)) {
      await this.settled(id);
      return orElse();
    }
    const added = this.#add(context, message).then<true | Promised>((done) => done || orElse());
    this.#making.set(id, added);
    return added.finally(() => this.#making.delete(id));
  }

  /** True when the document may expire, or the start of the signature end, before it is made; what is promised is kept. */
  #isEnding({ expirationDate, reservations }: DocumentContext, { type, id }: SigningMessage): boolean {
    const started = type === 'COMPLETE' ? reservations.find((one) => one.id === id) : undefined;
    const end = Math.min(expirationDate ?? Infinity, started?.expiresAt ?? Infinity);
    return end - this.runtime.clock.now() < 2 * SIGNING_TIMEOUT_MS;
  }

  async #add(context: DocumentContext, message: SigningMessage): Promise<boolean> {
    const { clock, actors, faults } = this.runtime;
    const started = clock.elapsed();
    const at = clock.now();
    const { updateDate, current, signatures } = context;
    if (context.made.length > MAX_EARLIER) return false;
    const decision =
      message.type === 'SIGN' ? sign(context, { at, ...message }) : complete(context, { at, ...message });
    const request = decision?.effects[0];
    if (request?.type !== 'applySignature' || request.params.signature.id !== message.id) return false;
    const effect = request.params;
    const result = await this.#made(effect, context.id);
    if (result === undefined) return false;
    const took = clock.elapsed() - started;
    const base = { updateDate, current, signatures };
    const made = { base, signingTime: effect.signature.signingTime, result };
    const outcome = await actors.send(DOCUMENT, context.id, { made, ...message });
    // The document has changed meanwhile.
    if (!outcome.accepted) return false;
    this.sealing.onSigned?.(effect.signature.kind, took);
    await faults.at('portal.sign.accepted');
    return true;
  }

  async #made(
    effect: SignatureToApply,
    id: DocumentContext['id'],
  ): Promise<EarlySignature['result'] | undefined> {
    let stop = () => {};
    const late = new Promise<undefined>((resolve) => {
      stop = this.runtime.clock.after(SIGNING_TIMEOUT_MS, () => resolve(undefined));
    });
    const result = await Promise.race([signatureBeforehand(effect, id, this.sealing), late]);
    stop();
    return result;
  }
}
