/**
 * Signatures made with a participant's own key, which is elsewhere: one call says what is to be signed, the next brings the
 * value. In between the document keeps its file as it is for a while; others wait their turn.
 *
 * Source: portal-gaps §10, "Certificate signature, two steps".
 */
import type { VouchingApplication } from '../../machines/document-context.ts';
import { isSigning } from '../../machines/document-flow.ts';
import type { DocumentId, Millis } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { FlowAction } from '../../machines/portal-words.ts';
import type { ActorSystem, Clock, Faults, Ids } from '../../runtime/index.ts';
import type { SigningPool } from '../pool/pool.ts';
import type { CertificateDemands, CertificateVerdict, PortalResults } from '../pool/portal-tasks.ts';
import type {
  MarkInput,
  PortalSigning,
  SigningScene,
  ValidationItemView,
  ValidationResultsView,
} from './api.ts';
import type { Blobs } from './blobs.ts';
import { actorOf, change, refusalOf, wrongStatus } from './document-changes.ts';
import type { DocumentDirectory } from './document-directory.ts';
import './document-faults.ts';
import { inAscii } from './document-files.ts';
import { type DocumentActor, documentAddress, foldedKey } from './document-index.ts';
import { bareIdentifier } from './document-plans.ts';
import type { ReadDocument } from './document-reader.ts';
import { type DocumentWatch, settling } from './document-watch.ts';
import { nameOf, signatureWords } from './effects/apply-signature.ts';
import type { LanguageOf } from './languages.ts';
import { filled, markWords, RENDITION_WORDS } from './rendition-words.ts';
import { assertTurn, assertVersion, evidenceOf, NATIONAL, type SigningCall } from './signing-access.ts';
import { marksOf } from './signing-marks.ts';
import { namedTurn } from './signing-turns.ts';
import type { Tickets } from './tickets.ts';

/** How long a call waits for others to be done with the file, and for its own signature, milliseconds. */
const PATIENCE = 20_000;
/** Looks at least this often whether it is its turn: a reservation may run out without a step. */
const LOOK_EVERY = 1_000;
/** What is to be signed is sent as a whole up to here, bytes. */
const LARGEST_TO_SIGN = 64 * 1024;
const LARGEST_CERTIFICATE = 16 * 1024;
const LARGEST_VALUE = 4 * 1024;

const DIGEST_NAMES = { sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' } as const;

export interface CertificateSigningParts {
  readonly system: ActorSystem;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly faults: Faults;
  readonly pool: SigningPool;
  readonly blobs: Blobs;
  readonly directory: DocumentDirectory;
  readonly watch: DocumentWatch;
  readonly tickets: Tickets;
  /** Whose level and authorities are used. */
  readonly sealProfile: string;
  /** `Portal:AllowUnprovenCertificates`. */
  readonly allowUnproven: boolean;
  readonly languageOf: LanguageOf;
}

type Started = Awaited<ReturnType<PortalSigning['startCertificate']>>;
type Completed = Awaited<ReturnType<PortalSigning['completeCertificate']>>;

export class CertificateSigning {
  readonly #parts: CertificateSigningParts;

  constructor(parts: CertificateSigningParts) {
    this.#parts = parts;
  }

  /**
   * Refusals: `InvalidFlowAction`, `InvalidDocumentStatus`, `CpfMismatch`, `CpfNotExpected`, `DocumentUnreadable`,
   * `ServiceBusy` when others keep the file for too long.
   */
  async start(
    call: SigningCall,
    { certificate, positions }: { readonly certificate: Buffer; readonly positions: readonly MarkInput[] },
  ): Promise<Started> {
    if (!isSigning(call.action))
      throw new PortalRefusal('InvalidFlowAction', 'This participant approves and does not sign.');
    assertTurn(call);
    if (certificate.length === 0 || certificate.length > LARGEST_CERTIFICATE)
      return rejected(verdictOf('certificate.malformed', 'The certificate cannot be read.'));
    const id = this.#parts.ids.uuid();
    const document = await this.#reserve(call, id, positions);
    try {
      const result = await this.#begin(document, call, id, certificate);
      const { verdict, begun, identifiers } = result;
      if (!verdict.isValid || begun === undefined) {
        await this.#giveUp(call.context.id, id);
        return rejected(verdict);
      }
      assertHolder(call, identifiers);
      const { system, tickets, clock } = this.#parts;
      const word = { type: 'BEGUN', id, state: begun.state, certificate: result.certificate } as const;
      await change(system, call.context.id, word, wrongStatus);
      const toSign = Buffer.from(begun.toBeSigned, 'base64');
      return {
        success: true,
        token: tickets.issue('certificate', [call.context.id, id], clock.now()),
        toSignHash: Buffer.from(begun.hash, 'base64'),
        toSign: toSign.length <= LARGEST_TO_SIGN ? toSign : null,
        digestAlgorithm: DIGEST_NAMES[begun.digest],
        validationResults: resultsView(verdict),
      };
    } catch (error) {
      await this.#giveUp(call.context.id, id);
      throw error;
    }
  }

  /** What a token was given for. Refusals: `InvalidTicket`, `DocumentIsDeleted`. */
  async begunBy(key: string, token: string): Promise<SigningCall> {
    const { tickets, clock, directory } = this.#parts;
    const [documentId] = tickets.read('certificate', token, clock.now())?.claims ?? [];
    const document = documentId && (await directory.byId(documentId as DocumentId));
    if (!document || document.context.key !== foldedKey(key)) throw new PortalRefusal('InvalidTicket');
    if (document.state === 'Deleted') throw new PortalRefusal('DocumentIsDeleted');
    return this.begunIn(document, token);
  }

  /** @param application that completes it; undefined = whoever began it vouches for it. Refusals: `InvalidTicket`. */
  begunIn(document: ReadDocument, token: string, application?: VouchingApplication): SigningCall {
    const { tickets, clock } = this.#parts;
    const { context } = document;
    const ticket = tickets.read('certificate', token, clock.now());
    const [documentId, id] = ticket?.claims ?? [];
    const reservation = context.reservations.find((one) => one.id === id);
    const named = reservation && namedTurn(context, reservation);
    if (ticket?.expired !== false || documentId !== context.id || named === undefined)
      throw new PortalRefusal('InvalidTicket');
    return {
      ...{ ...document, ...named, needsEmailCode: false },
      turn: { flowActionId: named.action.id, userId: named.user.id },
      application: application ?? reservation?.application ?? null,
    };
  }

  /** Refusals: `InvalidTicket` for an unknown, used or expired token; `InvalidDocumentStatus` when the file moved on. */
  async complete(
    call: SigningCall,
    {
      token,
      signature,
      disableNotifications = false,
      of,
    }: {
      readonly token: string;
      readonly signature: Buffer;
      readonly disableNotifications?: boolean | undefined;
      /** Whose turn the token has to be of. @default anybody's */
      readonly of?: SigningCall['turn'];
    },
    scene: SigningScene,
  ): Promise<Completed> {
    const { system, clock, tickets, watch, faults } = this.#parts;
    const ticket = tickets.read('certificate', token, clock.now());
    const [documentId, id] = ticket?.claims ?? [];
    if (!ticket || ticket.expired || documentId !== call.context.id || id === undefined)
      throw new PortalRefusal('InvalidTicket');
    const reservation = call.context.reservations.find((one) => one.id === id);
    if (reservation === undefined || reservation.state === null) throw new PortalRefusal('InvalidTicket');
    if (signature.length === 0 || signature.length > LARGEST_VALUE)
      return { success: false, validationResults: resultsView(MISMATCH) };
    const { flowActionId, userId } = reservation;
    if (of !== undefined && (of.flowActionId !== flowActionId || of.userId !== userId))
      throw new PortalRefusal('InvalidTicket');
    const named = namedTurn(call.context, reservation);
    const owner: SigningCall =
      named === undefined ? call : { ...call, ...named, turn: { flowActionId, userId } };
    const waiting = watch.next(call.context.id, settling(id), PATIENCE);
    try {
      await change(
        system,
        call.context.id,
        {
          type: 'COMPLETE',
          id,
          value: signature.toString('base64'),
          ...evidenceOf(owner, scene, {}, false, clock.now()),
          isQuiet: disableNotifications,
        },
        (document) => whyNot(document, id, clock.now()),
      );
      await faults.at('portal.sign.accepted');
      const failure = (await waiting.document)?.context.rejected;
      if (failure?.id === id)
        return { success: false, validationResults: resultsView(verdictOf(failure.code, failure.message)) };
      return { success: true, validationResults: resultsView(GOOD) };
    } finally {
      waiting.cancel();
    }
  }

  /** Waits until nobody else is at the file. */
  async #reserve(call: SigningCall, id: string, positions: readonly MarkInput[]): Promise<DocumentActor> {
    const { system, clock, watch, directory } = this.#parts;
    const documentId = call.context.id;
    const marks = marksOf(call, positions);
    const until = clock.elapsed() + PATIENCE;
    for (;;) {
      const change = watch.next(documentId, () => true, LOOK_EVERY);
      try {
        const outcome = await system.tell(documentAddress(documentId), {
          type: 'RESERVE',
          ...{ id, ...call.turn, marks, version: call.context.version },
          ...(call.application !== null && {
            application: { id: call.application.id, name: call.application.name },
          }),
        });
        if (outcome.accepted) return actorOf(outcome);
        const now = await directory.byId(documentId);
        if (now === undefined) throw refusalOf(outcome, wrongStatus);
        const named = namedTurn(now.context, call.turn);
        if (named === undefined) throw new PortalRefusal('InvalidDocumentStatus');
        assertTurn({ ...call, ...now, ...named });
        assertVersion(now.context, call.context.version);
        if (clock.elapsed() >= until)
          throw new PortalRefusal('ServiceBusy', 'Others are signing this document.', {
            retryAfterSeconds: 5,
          });
        await change.document;
      } finally {
        change.cancel();
      }
    }
  }

  async #begin(
    { context }: DocumentActor,
    call: SigningCall,
    id: string,
    certificate: Buffer,
  ): Promise<PortalResults['portal.begin']> {
    const { pool, blobs, sealProfile, allowUnproven, languageOf } = this.#parts;
    const reservation = context.reservations.find((one) => one.id === id);
    if (reservation === undefined) throw new PortalRefusal('ServiceBusy');
    const { fieldName, marks, signingTime } = reservation;
    const { title } = call.action;
    const language = await languageOf(context.organization.id);
    const output = blobs.temporaryPath();
    const answer = await pool.run({
      task: 'portal.begin',
      documentId: context.id,
      format: context.format,
      input: blobs.pathOf(context.current),
      signatures: context.signatures && blobs.pathOf(context.signatures),
      profile: sealProfile,
      certificate: certificate.toString('base64'),
      demands: demandsOf(call.action),
      allowUnproven,
      at: signingTime,
      words: signatureWords({
        ...{ fieldName, marks, signer: call.user },
        reason: filled(
          RENDITION_WORDS[language].signedBy,
          [nameOf(call.user), title].filter(Boolean).join(', '),
        ),
        lines: markWords(language, {
          ...{ name: nameOf(call.user), title, kind: 'certificate', at: signingTime, key: context.key },
        }),
        image: null,
        xades: call.action.xadesOptions,
      }),
      output,
    });
    if (!answer.ok) {
      if (/^(?:pdf|xml|input|request|cms|key|authority)\./.test(answer.code))
        throw new PortalRefusal('SigningFailed', inAscii(answer.message));
      throw new PortalRefusal('ServiceBusy');
    }
    if (answer.result.begun !== undefined) await blobs.adopt(output, answer.result.begun.state);
    return answer.result;
  }

  async #giveUp(documentId: DocumentId, id: string): Promise<void> {
    await this.#parts.system.tell(documentAddress(documentId), { type: 'GIVE_UP', id });
  }
}

function demandsOf(action: FlowAction): CertificateDemands {
  const { requiredCertificateType, requiredCertificateHolder, requireCompanyCertificate } = action;
  return {
    type: requiredCertificateType,
    holder: requiredCertificateHolder ?? (requireCompanyCertificate === true ? 'Company' : null),
    companyIdentifier: action.requiredCompanyIdentifier && bareIdentifier(action.requiredCompanyIdentifier),
  };
}

/** The file moved on, or the token is used up. */
function whyNot({ state, context }: DocumentActor, id: string, at: Millis): PortalRefusal {
  const reservation = context.reservations.find((one) => one.id === id);
  if (state === 'Pending' && (reservation === undefined || reservation.expiresAt <= at))
    return new PortalRefusal('InvalidTicket');
  if (state !== 'Pending') return new PortalRefusal('InvalidDocumentStatus');
  return new PortalRefusal(
    'InvalidDocumentStatus',
    'Somebody else signed the document meanwhile. Start the signature again.',
  );
}

/** Refusals: `CpfMismatch`; `CpfNotExpected` for a rule that names no such person. */
function assertHolder({ action, user }: SigningCall, identifiers: readonly string[]): void {
  const held = identifiers.filter((one) => NATIONAL.test(one));
  const expected = user.identifier ?? '';
  if (held.length === 0 || !NATIONAL.test(expected) || held.includes(expected)) return;
  throw new PortalRefusal(action.user === null ? 'CpfNotExpected' : 'CpfMismatch');
}

function rejected(verdict: CertificateVerdict): Started {
  return {
    success: false,
    token: null,
    toSignHash: null,
    toSign: null,
    digestAlgorithm: null,
    validationResults: resultsView(verdict),
  };
}

function verdictOf(type: string, message: string): CertificateVerdict {
  return { isValid: false, passed: [], errors: [{ type, message }], warnings: [] };
}

const MISMATCH = verdictOf('signature.mismatch', 'The signature value was not made by this key.');
const GOOD: CertificateVerdict = {
  isValid: true,
  passed: [{ type: 'signature', message: 'The signature value fits certificate and document.' }],
  errors: [],
  warnings: [],
};

function resultsView({ isValid, passed, errors, warnings }: CertificateVerdict): ValidationResultsView {
  const items = (list: CertificateVerdict['errors']): readonly ValidationItemView[] =>
    list.map(({ type, message }) => ({ type, message, detail: null, innerValidationResults: null }));
  return { isValid, passedChecks: items(passed), errors: items(errors), warnings: items(warnings) };
}
