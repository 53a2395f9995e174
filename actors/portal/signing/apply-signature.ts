/**
 * Embeds one accepted signature in its file. Reports every failure to the document, which stores it, shows it and
 * requests a retry.
 */

import {
  type Calls,
  type Clock,
  describeFailure,
  type EffectAttempt,
  type Faults,
  type Log,
} from '@sealwright/runtime';
import type { Language } from '../../../contracts/portal/words.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import { representedName } from '../../../machines/portal/documents/deputy-acts.ts';
import type {
  AcceptedSignature,
  DocumentContext,
  EarlySignature,
  Reservation,
} from '../../../machines/portal/documents/document-context.ts';
import {
  applySignature,
  type SignatureToApply,
} from '../../../machines/portal/documents/document-effects.ts';
import type {
  BlobRef,
  CompletedAction,
  FlowAction,
  Mark,
  Participant,
} from '../../../machines/portal/portal-types.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { PortalResults, ServiceSignatureTask, SignatureParameters } from '../../pool/portal-tasks.ts';
import type { PoolReply, PoolTask } from '../../pool/tasks.ts';
import type { CertificateChecks } from '../../shared/signing/certificate-checks.ts';
import type { Blobs } from '../uploads/blobs.ts';
import '../../shared/failures/document-fault-points.ts';
import { filled, TEXTS } from '../../../contracts/texts/texts.ts';
import { markTexts } from '../../shared/rendition/rendition-texts.ts';
import type { LanguageOf, QualificationOf } from '../accounts/organization-settings.ts';
import { DOCUMENT, documentAddress } from '../document-records/document-index.ts';
import type { DocumentRequest } from '../document-records/document-messages.ts';
import { participantOf } from '../document-records/document-reader.ts';
import { signatureContent, signaturesToRebuild } from './signature-content.ts';

export interface ApplySignatureDependencies {
  readonly pool: SigningPool;
  readonly blobs: Blobs;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly faults: Faults;
  readonly log: Log;
  /** Profile of the service's seals. */
  readonly sealProfile: string;
  /** Called with the time of each attempt that put a signature into its document, milliseconds. */
  readonly onSigned?: ((kind: AcceptedSignature['kind'], took: number) => void) | undefined;
  /** Checks the certificate before each seal. */
  readonly certificates: Pick<CertificateChecks, 'check'>;
  readonly languageOf: LanguageOf;
  readonly qualificationOf: QualificationOf;
  /** `Portal:NotifyParticipants:Concluded`. */
  readonly tellParticipants: boolean;
  /** Reads the document, for what its earlier signatures show. */
  readonly actors: Pick<Calls, 'read'>;
}

/** Permanent failures of a participant's signature value: it does not match, or the file has changed. */
const PERMANENT_CODES =
  /^(?:signature\.mismatch|request\.invalid|input\.changed|key\.|certificate\.|cms\.|pdf\.|xml\.)/;

export function applySignatureHandler(dependencies: ApplySignatureDependencies) {
  return applySignature.handledBy({
    // A redo signs the same file at the same claimed time; what the first try left is swept.
    after: 'visible',
    async run(effect, attempt): Promise<DocumentRequest> {
      const { id, kind } = effect.signature;
      const started = dependencies.clock.elapsed();
      try {
        const message = await put(effect, attempt, dependencies);
        if (message.type === 'SIGNATURE_FAILED') reportFailure(dependencies, attempt, message);
        else dependencies.onSigned?.(kind, dependencies.clock.elapsed() - started);
        return message;
      } catch (error) {
        if (attempt.signal.aborted) throw error;
        const { code, message } = failureForDocument(describeFailure(error));
        reportFailure(dependencies, attempt, { code, message });
        const isFinal = kind === 'certificate' && PERMANENT_CODES.test(code);
        return { type: 'SIGNATURE_FAILED', id, code, message, isFinal };
      }
    },
    failed: ({ signature: { id } }, { code, message }): DocumentRequest => ({
      type: 'SIGNATURE_FAILED',
      id,
      code,
      message,
      isFinal: false,
    }),
  });
}

/**
 * Makes a signature before it is accepted, which saves a step and its effect.
 * Undefined: it failed, or would take long, and has to be accepted first.
 */
export async function signatureBeforehand(
  effect: SignatureToApply,
  document: DocumentId,
  dependencies: ApplySignatureDependencies,
): Promise<EarlySignature['result'] | undefined> {
  try {
    const attempt = { actor: documentAddress(document), signal: NEVER_STOPPED };
    const message = await put(effect, attempt, dependencies, true);
    if (message.type !== 'SIGNATURE_ADDED') return undefined;
    const { type: _, id: __, ...result } = message;
    return result;
  } catch {
    // The attempt after the acceptance reports what is wrong.
    return undefined;
  }
}

const NEVER_STOPPED = new AbortController().signal;

/** Message of a failure for clients, without local paths. */
export function failureForDocument({ code, message }: { readonly code: string; readonly message: string }): {
  readonly code: string;
  readonly message: string;
} {
  const withoutPath = (word: string) =>
    word.replace(/^([^/]*)\/.*\/(?:blobs|incoming)\/[\w/.-]*[\w-]/, '$1the file');
  return { code, message: message.replace(/\S+/g, withoutPath) };
}

/** Logged once per attempt. */
function reportFailure(
  { log }: Pick<ApplySignatureDependencies, 'log'>,
  { actor }: EffectAttempt,
  { code, message }: { readonly code: string; readonly message: string },
): void {
  log.warn('An accepted signature could not be put into its document.', {
    DocumentId: actor.id,
    Code: code,
    Message: message,
  });
}

/** @param ifQuick true: throws without an attempt where the task is not quick. @default false */
async function put(
  effect: SignatureToApply,
  { actor, signal }: Pick<EffectAttempt, 'actor' | 'signal'>,
  dependencies: ApplySignatureDependencies,
  ifQuick = false,
): Promise<DocumentRequest> {
  const { pool, blobs, clock, sealProfile: profile, certificates, languageOf, actors } = dependencies;
  const { signature, document, conclude } = effect;
  const { id } = signature;
  const output = blobs.temporaryPath();
  const place = {
    documentId: actor.id,
    format: document.format,
    input: await blobs.localPath(document.current),
    signatures: document.signatures && (await blobs.localPath(document.signatures)),
    profile,
    output,
    blobs: blobs.folder,
  };
  const check = conclude && {
    fieldName: signature.fieldName,
    at: clock.now(),
    expected: conclude.expected,
    original: conclude.original === undefined ? null : await blobs.localPath(conclude.original),
  };
  const scope = { organization: document.organizationId, bytes: document.current.length };
  const assertQuick = (task: PoolTask) => {
    if (ifQuick && !pool.isQuick(task, scope)) throw new Error('The task is not quick.');
  };
  if (signature.kind === 'certificate') {
    const { state, value, certificate } = signature;
    const finish = {
      task: 'portal.finish',
      state: state === null ? '' : await blobs.localPath(state),
      value: value ?? '',
      demand: await dependencies.qualificationOf(document.organizationId),
      check: check === undefined ? null : { ...check, certificate: certificate ?? '' },
      ...place,
    } as const;
    assertQuick(finish);
    const answer = await blobs.placing(() => pool.run(finish, scope), placedFile);
    if (!answer.ok) return failure(id, answer, signal, true);
    return added(id, { ...answer.result, certificate: certificate ?? '' }, dependencies);
  }
  await certificates.check(profile);
  const language = await languageOf(document.organizationId);
  const found = (await actors.read(DOCUMENT, actor.id as DocumentId))?.context;
  const seal = {
    task: 'portal.seal',
    at: signature.signingTime,
    parameters: await serviceParameters(effect, blobs, language),
    check: check ?? null,
    ...place,
    ...(found && (await contentFor(found, signature, language, blobs))),
  } as const;
  assertQuick(seal);
  const answer = await blobs.placing(() => pool.run(seal, scope), placedFile);
  if (!answer.ok) return failure(id, answer, signal, false);
  return added(id, answer.result, dependencies);
}

function placedFile(answer: PoolReply<'portal.seal'> | PoolReply<'portal.finish'>): BlobRef | undefined {
  return answer.ok ? answer.result.output : undefined;
}

/** Builds the content of an electronic signature, and the signatures to make again before it. */
async function contentFor(
  document: DocumentContext,
  signature: AcceptedSignature,
  language: Language,
  blobs: Blobs,
): Promise<Pick<ServiceSignatureTask, 'content' | 'rebuild'>> {
  const before = document.made.filter(({ kind }) => kind !== 'approval');
  const content = await signatureContent(document, [...before, signature], language, blobs);
  if (content === undefined) return {};
  const earlier = signaturesToRebuild(document, content);
  if (earlier === undefined) return { content };
  const again = earlier.flatMap((made) => {
    const signer = participantOf(document, made);
    const action = document.actions.find(({ id }) => id === made.flowActionId);
    if (signer === undefined || action === undefined || made.signingTime === null) return [];
    const subject = { signature: { ...made, signingTime: made.signingTime }, signer, title: action.title };
    return [{ ...subject, xades: null, document }];
  });
  const rebuilt = again.map(async (subject) => ({
    at: subject.signature.signingTime,
    parameters: await serviceParameters(subject, blobs, language),
  }));
  const original = await blobs.localPath(document.file.blob);
  return { content, rebuild: { original, earlier: await Promise.all(rebuilt) } };
}

function failure(
  id: string,
  failed: { readonly code: string; readonly message: string },
  signal: AbortSignal,
  isForeign: boolean,
): DocumentRequest {
  const { code, message } = failureForDocument(failed);
  // Threads that a stop has ended fail their tasks; the work is done again after the next start.
  if (signal.aborted) throw signal.reason;
  return { type: 'SIGNATURE_FAILED', id, code, message, isFinal: isForeign && PERMANENT_CODES.test(code) };
}

/** The message about a signed file that is in its place. */
async function added(
  id: string,
  { output, certificate, isChecked, isRebuilt = false, warnings }: PortalResults['portal.seal'],
  { faults, tellParticipants }: ApplySignatureDependencies,
): Promise<DocumentRequest> {
  await faults.at('portal.signature.kept');
  if (isChecked) await faults.at('portal.conclusion.checked');
  return {
    type: 'SIGNATURE_ADDED',
    id,
    output,
    certificate,
    ...(isRebuilt && { isRebuilt }),
    ...(warnings && { warnings }),
    ...(isChecked && { concluded: { tellParticipants } }),
  };
}

/** A signature with its signer. */
interface SignedSubject extends Pick<SignatureToApply, 'signer' | 'title' | 'xades'> {
  readonly signature: Pick<
    AcceptedSignature,
    'evidence' | 'evidenceSha256' | 'marks' | 'image' | 'signingTime' | 'fieldName'
  > & { readonly kind: CompletedAction['kind'] };
  readonly document: Pick<DocumentContext, 'key'>;
}

async function serviceParameters(
  { signature, signer, title, xades, document }: SignedSubject,
  blobs: Blobs,
  language: Language,
): Promise<SignatureParameters> {
  const { evidenceSha256, marks, image, signingTime, kind } = signature;
  const words = TEXTS[language].rendition;
  const deputyOf = signature.evidence?.deputy && representedName(signature.evidence.deputy);
  const reason = [
    filled(words.signedElectronicallyBy, { name: describePerson(signer) }),
    ...(deputyOf === undefined ? [] : [`${filled(words.asDeputy, { person: deputyOf })}.`]),
    ...(evidenceSha256 === null ? [] : [`${words.evidence} (Base64): ${evidenceSha256}`]),
  ].join(' ');
  const name = signature.evidence?.typedName ?? nameOf(signer);
  const shown = { name, deputyOf, title, kind, at: signingTime, key: document.key };
  const lines = markTexts(language, shown);
  return signatureParameters({
    fieldName: signature.fieldName,
    signer,
    reason,
    marks,
    lines,
    image: image && (await blobs.localPath(image)),
    xades,
  });
}

/** Parameters of a signature with the certificate of the participant. */
export function certificateParameters(
  { fieldName, marks, signingTime }: Pick<Reservation, 'fieldName' | 'marks' | 'signingTime'>,
  { user, action: { title, xadesOptions } }: { readonly user: Participant; readonly action: FlowAction },
  { key }: Pick<DocumentContext, 'key'>,
  language: Language,
): SignatureParameters {
  const name = nameOf(user);
  return signatureParameters({
    fieldName,
    marks,
    signer: user,
    image: null,
    xades: xadesOptions,
    reason: filled(TEXTS[language].rendition.signedBy, { names: [name, title].filter(Boolean).join(', ') }),
    lines: markTexts(language, { name, title, kind: 'certificate', at: signingTime, key }),
  });
}

/** Parameters of a signature in a file, for any key. */
function signatureParameters(given: {
  readonly fieldName: string | null;
  readonly signer: Participant;
  readonly reason: string;
  readonly marks: readonly Mark[];
  readonly lines: readonly string[];
  readonly image: string | null;
  readonly xades: SignatureParameters['xades'];
}): SignatureParameters {
  const { fieldName, signer, reason, marks, lines, image, xades } = given;
  // One signature is seen in one place; where it is drawn besides is for the printed versions.
  const mark = marks.find(({ type }) => type === 'SignatureVisualRepresentation');
  return {
    fieldName: fieldName ?? '',
    name: nameOf(signer),
    reason,
    contactInfo: signer.email,
    visible: mark === undefined ? null : { mark, lines, image },
    xades,
  };
}

function nameOf({ name, email, identifier }: Participant): string {
  return name ?? email ?? identifier ?? 'A participant';
}

function describePerson(person: Participant): string {
  const more = [person.email, person.identifier].filter((text) => text !== null && text !== nameOf(person));
  return more.length === 0 ? nameOf(person) : `${nameOf(person)} (${more.join(', ')})`;
}
