/**
 * Signatures with a key that only the participant has, in two calls: the first returns the hash to sign, the second brings
 * the signature value. Others may sign in between; if the file has changed, the participant signs the new file.
 *
 * Source: docs/portal-values.md §10.
 */

import type {
  CompletedSignature,
  ElectronicSigning,
  StartedSignature,
} from '../../../contracts/portal/signing/signing.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import type {
  AuthenticatingApplication,
  Reservation,
} from '../../../machines/portal/documents/document-context.ts';
import { isSigning } from '../../../machines/portal/documents/document-flow.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { BeginSigningTask, ParticipantCertificate, PortalResults } from '../../pool/portal-tasks.ts';
import type { StepWaits } from '../../shared/coordination/step-waits.ts';
import type { LanguageOf, QualificationOf } from '../accounts/organization-settings.ts';
import type { RequestOrigin } from '../api/callers.ts';
import { DOCUMENT, type DocumentActor, foldedKey } from '../document-records/document-index.ts';
import {
  refusalOf,
  sendToDocument,
  whenSettled,
  wrongStatus,
} from '../document-records/document-messages.ts';
import type { DocumentDirectory, ReadDocument } from '../document-records/document-reader.ts';
import { namedTurn } from '../document-records/signing-turns.ts';
import { inAscii, poolRefusal } from '../shared/pool-refusal.ts';
import type { Tickets } from '../shared/tickets.ts';
import type { Blobs } from '../uploads/blobs.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { certificateParameters } from './apply-signature.ts';
import type { EarlySignatures } from './early-signatures.ts';
import { type MarkedSignature, signatureContent } from './signature-content.ts';
import {
  assertRead,
  assertTurn,
  assertVersion,
  evidenceOf,
  NATIONAL,
  type SigningCall,
} from './signing-access.ts';
import { marksOf, type PageCounts, valuesOf } from './signing-fields.ts';
import {
  type BegunReservation,
  GOOD,
  isFileUnchanging,
  OVERTAKEN,
  overtaken,
  rejected,
  rejectionReason,
  requirementsOf,
  resultsView,
  verdictOf,
} from './signing-verdicts.ts';

/** Time for which a call waits for a signature that is being added to the file, milliseconds. */
const SIGNING_TIMEOUT_MS = 20_000;
/** Maximum size of content sent as a whole for signing, bytes. */
const MAX_TO_SIGN_BYTES = 64 * 1024;

const DIGEST_NAMES = { sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' } as const;

export class CertificateSigning {
  constructor(
    private readonly needs: {
      readonly runtime: ServiceRuntime;
      readonly pool: SigningPool;
      readonly blobs: Blobs;
      readonly directory: DocumentDirectory;
      readonly waits: StepWaits;
      readonly tickets: Tickets;
      readonly uploads: Pick<Uploads, 'findUpload'>;
      /** Whose level and authorities are used. */
      readonly sealProfile: string;
      /** `Portal:AllowUnprovenCertificates`. */
      readonly allowUnproven: boolean;
      readonly languageOf: LanguageOf;
      readonly qualificationOf: QualificationOf;
      readonly early: EarlySignatures;
      readonly files: PageCounts;
    },
  ) {}

  /**
   * Refusals: `InvalidFlowAction`, `InvalidDocumentStatus`, `CpfMismatch`, `CpfNotExpected`, `DocumentUnreadable`.
   */
  async start(
    call: SigningCall,
    {
      certificate,
      positions,
      fieldValues,
    }: {
      /** DER. */
      readonly certificate: Buffer;
      readonly positions: ElectronicSigning['positions'];
      readonly fieldValues?: ElectronicSigning['fieldValues'];
    },
  ): Promise<StartedSignature> {
    const { document, id } = await this.#prepared(call, { positions, fieldValues });
    return this.#started(document, call, id, { der: certificate.toString('base64') });
  }

  /**
   * Records what the participant places and fills in, for a certificate that is not known yet.
   * @returns the token for `startPrepared`
   *
   * Refusals: those of `start`.
   */
  async prepare(
    call: SigningCall,
    given: Pick<ElectronicSigning, 'positions' | 'fieldValues'>,
  ): Promise<string> {
    const { id } = await this.#prepared(call, given);
    return this.needs.tickets.issue('certificate', [call.context.id, id], this.needs.runtime.clock.now());
  }

  /**
   * Starts a signature with what was prepared, or with what an earlier start had.
   * @param token of `prepare`, or of an earlier start
   * @returns with the token for another start, also for a certificate that is rejected
   *
   * Refusals: those of `start`, after which the token is still good; `InvalidTicket` for an unknown, used or expired token.
   */
  async startPrepared(
    call: SigningCall,
    token: string,
    certificate: ParticipantCertificate,
  ): Promise<{ readonly started: StartedSignature; readonly next: string }> {
    assertNotHere(call);
    assertTurn(call);
    const { clock, ids } = this.needs.runtime;
    const ticket = this.needs.tickets.read('certificate', token, clock.now());
    const { flowActionId, userId } = call.turn;
    const earlier = call.context.reservations.find(
      (one) => one.id === ticket?.claims[1] && one.flowActionId === flowActionId && one.userId === userId,
    );
    if (ticket?.expired !== false || ticket.claims[0] !== call.context.id || earlier === undefined)
      throw new PortalRefusal('InvalidTicket');
    const { marks, values } = earlier;
    const content = { marks, ...(values !== undefined && { values }) };
    const id = ids.uuid();
    // The person may choose another certificate. A start that was never begun gave way to the new one.
    const keep = async () => {
      if (earlier.state === null) await this.#reserve(call, earlier.id, content);
    };
    try {
      const started = await this.#started(await this.#reserve(call, id, content), call, id, certificate);
      if (started.token !== null) return { started, next: started.token };
      await keep();
      const next = this.needs.tickets.issue('certificate', [call.context.id, earlier.id], clock.now());
      return { started, next };
    } catch (error) {
      // The fault is said; a document that takes no start any more says so at the next one.
      await keep().catch(() => {});
      throw error;
    }
  }

  /**
   * Refuses a signature without a certificate where the organization demands a qualification: the seal of the service is
   * no signature of the person. Refusals: `InvalidFlowAction`.
   */
  async assertNotDemanded({ context }: SigningCall): Promise<void> {
    const demand = await this.needs.qualificationOf(context.organization.id);
    if (demand === null) return;
    throw new PortalRefusal(
      'InvalidFlowAction',
      `The organization demands signatures of the qualification ${demand}: sign with a certificate that reaches it.`,
    );
  }

  async #prepared(call: SigningCall, given: Pick<ElectronicSigning, 'positions' | 'fieldValues'>) {
    if (!isSigning(call.action))
      throw new PortalRefusal('InvalidFlowAction', 'This participant approves and does not sign.');
    assertNotHere(call);
    assertTurn(call);
    const id = this.needs.runtime.ids.uuid();
    const filledIn = await valuesOf(call, given.fieldValues, {
      runtime: this.needs.runtime,
      uploads: this.needs.uploads,
      blobs: this.needs.blobs,
    });
    const marks = await marksOf(call, { positions: given.positions }, this.needs.files);
    return { id, document: await this.#reserve(call, id, { marks, ...filledIn }) };
  }

  async #started(
    document: DocumentActor,
    call: SigningCall,
    id: string,
    certificate: BeginSigningTask['certificate'],
  ): Promise<StartedSignature> {
    try {
      const result = await this.#begin(document, call, id, certificate);
      const { verdict, begun, identifiers } = result;
      if (!verdict.isValid || begun === undefined) {
        await this.#cancelReservation(call.context.id, id);
        return rejected(verdict);
      }
      assertHolder(call, identifiers);
      const { actors, clock } = this.needs.runtime;
      const { tickets } = this.needs;
      const message = { type: 'BEGUN', id, state: begun.state, certificate: result.certificate } as const;
      await sendToDocument(actors, call.context.id, message, wrongStatus);
      const isSmall = Buffer.byteLength(begun.toBeSigned, 'base64') <= MAX_TO_SIGN_BYTES;
      return {
        success: true,
        token: tickets.issue('certificate', [call.context.id, id], clock.now()),
        toSignHash: begun.hash,
        toSign: isSmall ? begun.toBeSigned : null,
        digestAlgorithm: DIGEST_NAMES[begun.digest],
        validationResults: resultsView(verdict),
      };
    } catch (error) {
      await this.#cancelReservation(call.context.id, id);
      throw error;
    }
  }

  /** Claims of a token. Refusals: `InvalidTicket`, `DocumentIsDeleted`. */
  async startedBy(key: string, token: string): Promise<SigningCall> {
    const { clock } = this.needs.runtime;
    const { tickets, directory } = this.needs;
    const [documentId] = tickets.read('certificate', token, clock.now())?.claims ?? [];
    const document = documentId && (await directory.byId(documentId as DocumentId));
    if (!document || document.context.key !== foldedKey(key)) throw new PortalRefusal('InvalidTicket');
    if (document.state === 'Deleted') throw new PortalRefusal('DocumentIsDeleted');
    return this.startedFor(document, token);
  }

  /** @param application that completes it; undefined = the one that started it. Refusals: `InvalidTicket`. */
  startedFor(document: ReadDocument, token: string, application?: AuthenticatingApplication): SigningCall {
    const { clock } = this.needs.runtime;
    const { tickets } = this.needs;
    const { context } = document;
    const ticket = tickets.read('certificate', token, clock.now());
    const [documentId, id] = ticket?.claims ?? [];
    const reservation = context.reservations.find((one) => one.id === id);
    const named = reservation && namedTurn(context, reservation);
    if (ticket?.expired !== false || documentId !== context.id || named === undefined)
      throw new PortalRefusal('InvalidTicket');
    return {
      ...document,
      ...named,
      isByTicket: false,
      needsEmailCode: false,
      isHere: false,
      turn: { flowActionId: named.action.id, userId: named.user.id },
      application: application ?? reservation?.application ?? null,
    };
  }

  /**
   * Not successful, with a new token and hash, when the file has changed since the start.
   *
   * @param of participant that the token must belong to. @default any
   * @param request `isFinal`: a changed file starts no new signature; the old token still serves `startPrepared`
   *
   * Refusals: `InvalidTicket` for an unknown, used or expired token.
   */
  async complete(
    call: SigningCall,
    {
      token,
      signature,
      disableNotifications,
      reading,
      isFinal = false,
      provider,
    }: {
      readonly token: string;
      readonly signature: Buffer;
      readonly isFinal?: boolean;
      readonly disableNotifications?: boolean | null | undefined;
      readonly reading?: ElectronicSigning['reading'];
      /** That keeps the certificate. */
      readonly provider?: Parameters<typeof evidenceOf>[2]['signing']['provider'];
    },
    origin: RequestOrigin,
    of?: SigningCall['turn'],
  ): Promise<CompletedSignature> {
    assertNotHere(call);
    const { actors, clock, faults } = this.needs.runtime;
    const { tickets } = this.needs;
    const ticket = tickets.read('certificate', token, clock.now());
    const [documentId, id] = ticket?.claims ?? [];
    if (!ticket || ticket.expired || documentId !== call.context.id || id === undefined)
      throw new PortalRefusal('InvalidTicket');
    const reservation = call.context.reservations.find((one) => one.id === id);
    if (reservation === undefined || reservation.state === null) throw new PortalRefusal('InvalidTicket');
    assertRead(call.context, reading);
    const { flowActionId, userId } = reservation;
    if (of !== undefined && (of.flowActionId !== flowActionId || of.userId !== userId))
      throw new PortalRefusal('InvalidTicket');
    const named = namedTurn(call.context, reservation);
    const owner: SigningCall =
      named === undefined ? call : { ...call, ...named, turn: { flowActionId, userId } };
    const message = {
      type: 'COMPLETE',
      id,
      value: signature.toString('base64'),
      ...evidenceOf(owner, origin, {
        signing: { values: reservation.values, reading, ...(provider && { provider }) },
        confirmed: { kinds: [] },
        at: clock.now(),
      }),
      isQuiet: disableNotifications === true,
    } as const;
    const success = { success: true, validationResults: resultsView(GOOD) };
    const promise = async () => {
      const waiting = whenSettled(this.needs.waits, call.context.id, id, SIGNING_TIMEOUT_MS);
      try {
        return { waiting, outcome: await actors.send(DOCUMENT, call.context.id, message) };
      } catch (error) {
        waiting.cancel();
        throw error;
      }
    };
    // An ended document takes no signature, so none is made.
    const isOpen = call.state === 'Pending';
    const promised = isOpen ? await this.needs.early.add(call.context, message, promise) : await promise();
    if (promised === true) return success;
    const { waiting, outcome } = promised;
    try {
      if (!outcome.accepted) {
        const earlier = 'context' in outcome ? overtaken(outcome, id, clock.now()) : undefined;
        if (earlier !== undefined && isFinal)
          return { success: false, validationResults: resultsView(OVERTAKEN) };
        if (earlier !== undefined) return await this.#startAgain(owner, earlier);
        throw refusalOf(outcome, (document) => rejectionReason(document, id, clock.now()));
      }
      await faults.at('portal.sign.accepted');
      const failure = (await waiting.actor)?.context.rejected;
      if (failure?.id === id)
        return { success: false, validationResults: resultsView(verdictOf(failure.code, failure.message)) };
      return success;
    } finally {
      waiting.cancel();
    }
  }

  /** Starts the signature again with the certificate of the earlier start, for the file as it is now. */
  async #startAgain(
    call: SigningCall,
    { state, marks, values, application }: BegunReservation,
  ): Promise<CompletedSignature> {
    const { ids } = this.needs.runtime;
    const { blobs } = this.needs;
    const id = ids.uuid();
    const same: SigningCall = { ...call, application: application ?? null };
    const document = await this.#reserve(same, id, { marks, ...(values !== undefined && { values }) });
    const started = await this.#started(document, same, id, {
      ofState: await blobs.localPath(state),
    });
    const { success, validationResults, token, toSignHash, toSign, digestAlgorithm } = started;
    if (!success) return { success, validationResults };
    return {
      success: false,
      validationResults: resultsView(OVERTAKEN),
      token,
      toSignHash,
      toSign,
      digestAlgorithm,
    };
  }

  /** Records the file as the one that the participant will sign. */
  async #reserve(
    call: SigningCall,
    id: string,
    given: Pick<Reservation, 'marks' | 'values'>,
  ): Promise<DocumentActor> {
    const { actors } = this.needs.runtime;
    const { directory } = this.needs;
    const documentId = call.context.id;
    if (call.context.format !== 'Cades') await this.#waitForFile(documentId);
    const outcome = await actors.send(DOCUMENT, documentId, {
      type: 'RESERVE',
      id,
      ...call.turn,
      ...given,
      version: call.context.version,
      ...(call.application !== null && {
        application: { id: call.application.id, name: call.application.name },
      }),
    });
    if (outcome.accepted) return outcome;
    const now = await directory.byId(documentId);
    if (now === undefined) throw refusalOf(outcome, wrongStatus);
    const named = namedTurn(now.context, call.turn);
    if (named === undefined) throw new PortalRefusal('InvalidDocumentStatus');
    assertTurn({ ...call, ...now, ...named });
    assertVersion(now.context, call.context.version);
    throw refusalOf(outcome, wrongStatus);
  }

  /** Waits for the signature that is being added, which would make this one necessary twice. */
  async #waitForFile(id: DocumentId): Promise<void> {
    const { directory } = this.needs;
    await this.needs.early.settled(id);
    const change = this.needs.waits.begin(DOCUMENT, id, isFileUnchanging, SIGNING_TIMEOUT_MS);
    try {
      const now = await directory.byId(id);
      if (now !== undefined && !isFileUnchanging(now)) await change.actor;
    } finally {
      change.cancel();
    }
  }

  async #begin(
    { context }: DocumentActor,
    call: SigningCall,
    id: string,
    certificate: BeginSigningTask['certificate'],
  ): Promise<PortalResults['portal.begin']> {
    const { pool, blobs, sealProfile, allowUnproven, languageOf } = this.needs;
    const reservation = context.reservations.find((one) => one.id === id);
    if (reservation === undefined) throw new PortalRefusal('ServiceBusy');
    const { signingTime } = reservation;
    const before = context.made.filter(({ kind }) => kind !== 'approval');
    const own: MarkedSignature = { kind: 'certificate', evidence: null, image: null, ...reservation };
    const language = await languageOf(context.organization.id);
    const content = await signatureContent(context, [...before, own], language, blobs);
    const task = {
      task: 'portal.begin',
      documentId: context.id,
      format: context.format,
      input: await blobs.localPath(context.current),
      signatures: context.signatures && (await blobs.localPath(context.signatures)),
      profile: sealProfile,
      certificate,
      demands: requirementsOf(call.action, await this.needs.qualificationOf(context.organization.id)),
      allowUnproven,
      at: signingTime,
      parameters: certificateParameters(reservation, call, context, language),
      ...(content !== undefined && { content }),
      output: blobs.temporaryPath(),
      blobs: blobs.folder,
    } as const;
    const scope = { organization: context.organization.id, bytes: context.current.length };
    const answer = await blobs.placing(
      () => pool.run(task, scope),
      (reply) => (reply.ok ? reply.result.begun?.state : undefined),
    );
    if (!answer.ok) {
      if (/^(?:pdf|xml|input|request|cms|key|authority)\./.test(answer.code))
        throw new PortalRefusal('SigningFailed', inAscii(answer.message));
      throw poolRefusal(answer);
    }
    return answer.result;
  }

  async #cancelReservation(documentId: DocumentId, id: string): Promise<void> {
    await this.needs.runtime.actors.send(DOCUMENT, documentId, { type: 'GIVE_UP', id });
  }
}

/** Refusals: `CpfMismatch`; `CpfNotExpected` for a rule that names no such person. */
function assertHolder({ action, user }: SigningCall, identifiers: readonly string[]): void {
  const held = identifiers.filter((one) => NATIONAL.test(one));
  const expected = user.identifier ?? '';
  if (held.length === 0 || !NATIONAL.test(expected) || held.includes(expected)) return;
  throw new PortalRefusal(action.user === null ? 'CpfNotExpected' : 'CpfMismatch');
}

/** Refusals: `InvalidFlowAction`: nobody's certificate is on a device of the sender. */
function assertNotHere({ isHere }: SigningCall): void {
  if (isHere)
    throw new PortalRefusal(
      'InvalidFlowAction',
      'Certificates cannot be used on a device of the sender. Sign with the name, or open the link on your own device.',
    );
}
