/**
 * Puts one accepted signature into its file. Whatever goes wrong is told to the document, which keeps it, shows it and
 * asks again; nothing is given up in silence.
 */
import type { DocumentEffect } from '../../../machines/document-context.ts';
import type { Language } from '../../../machines/organization.ts';
import type { BlobRef, Mark, Participant } from '../../../machines/portal-words.ts';
import {
  type Clock,
  describeFailure,
  type EffectHandler,
  type EffectTry,
  type Faults,
  type Log,
} from '../../../runtime/index.ts';
import type { CertificateChecks } from '../../certificate-checks.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { SignatureWords } from '../../pool/portal-tasks.ts';
import type { Blobs } from '../blobs.ts';
import '../document-faults.ts';
import type { DocumentWord } from '../document-changes.ts';
import type { LanguageOf } from '../languages.ts';
import { filled, markWords, RENDITION_WORDS } from '../rendition-words.ts';

export type ApplySignatureEffect = Extract<DocumentEffect, { readonly do: 'applySignature' }>;

export interface SealingParts {
  readonly pool: SigningPool;
  readonly blobs: Blobs;
  readonly clock: Pick<Clock, 'now'>;
  readonly faults: Faults;
  readonly log: Log;
  /** The profile that seals electronic signatures. */
  readonly sealProfile: string;
  /** Asked before each seal. */
  readonly certificates: Pick<CertificateChecks, 'check'>;
  readonly languageOf: LanguageOf;
}

/**
 * What trying again would not help, for a value that somebody else's key made: it does not fit, or the file is another.
 */
const FINAL =
  /^(?:signature\.mismatch|request\.invalid|input\.changed|key\.|certificate\.|cms\.|pdf\.|xml\.)/;

export function applySignatureHandler(parts: SealingParts): EffectHandler<ApplySignatureEffect> {
  return {
    // A redo signs the same file at the same claimed time; what the first try left is swept.
    after: 'visible',
    async run(effect, attempt): Promise<DocumentWord> {
      const { id, kind } = effect.signature;
      try {
        const word = await put(effect, attempt, parts);
        if (word.type === 'SIGNATURE_FAILED') complain(parts, attempt, word);
        return word;
      } catch (error) {
        if (attempt.signal.aborted) throw error;
        const { code, message } = shownFailure(describeFailure(error));
        complain(parts, attempt, { code, message });
        const isFinal = kind === 'certificate' && FINAL.test(code);
        return { type: 'SIGNATURE_FAILED', id, code, message, isFinal };
      }
    },
    failed: ({ signature: { id } }, { code, message }): DocumentWord => ({
      type: 'SIGNATURE_FAILED',
      ...{ id, code, message },
      isFinal: false,
    }),
  };
}

/** A failure as clients may read it: where our files are is nobody's business. */
export function shownFailure({ code, message }: { readonly code: string; readonly message: string }): {
  readonly code: string;
  readonly message: string;
} {
  return { code, message: message.replace(/\/\S*\/(?:blobs|incoming)\/[\w/.-]*[\w-]/g, 'the file') };
}

/** Said once per try: whoever reads the log need not look at each document. */
function complain(
  { log }: Pick<SealingParts, 'log'>,
  { actor }: EffectTry,
  { code, message }: { readonly code: string; readonly message: string },
): void {
  log.warn('An accepted signature could not be put into its document.', {
    DocumentId: actor.id,
    Code: code,
    Message: message,
  });
}

async function put(
  effect: ApplySignatureEffect,
  { actor, signal }: EffectTry,
  { pool, blobs, faults, sealProfile: profile, certificates, languageOf }: SealingParts,
): Promise<DocumentWord> {
  const { signature, document } = effect;
  const { id } = signature;
  const output = blobs.temporaryPath();
  const place = {
    documentId: actor.id,
    format: document.format,
    input: blobs.pathOf(document.current),
    signatures: document.signatures && blobs.pathOf(document.signatures),
    profile,
    output,
  };
  if (signature.kind === 'certificate') {
    const { state, value, certificate } = signature;
    const answer = await pool.run({
      ...place,
      task: 'portal.finish',
      state: state === null ? '' : blobs.pathOf(state),
      value: value ?? '',
    });
    if (!answer.ok) return failure(id, answer, signal, true);
    await kept(blobs, output, answer.result.output, faults);
    return { type: 'SIGNATURE_ADDED', id, output: answer.result.output, certificate: certificate ?? '' };
  }
  await certificates.check(profile);
  const answer = await pool.run({
    ...place,
    task: 'portal.seal',
    at: signature.signingTime,
    words: wordsOf(effect, blobs, await languageOf(document.organizationId)),
  });
  if (!answer.ok) return failure(id, answer, signal, false);
  await kept(blobs, output, answer.result.output, faults);
  const { certificate } = answer.result;
  return { type: 'SIGNATURE_ADDED', id, output: answer.result.output, certificate };
}

function failure(
  id: string,
  failed: { readonly code: string; readonly message: string },
  signal: AbortSignal,
  isForeign: boolean,
): DocumentWord {
  const { code, message } = shownFailure(failed);
  // Threads that a stop has ended fail their tasks; the work is done again after the next start.
  if (signal.aborted) throw signal.reason;
  return { type: 'SIGNATURE_FAILED', id, code, message, isFinal: isForeign && FINAL.test(code) };
}

async function kept(blobs: Blobs, path: string, blob: BlobRef, faults: Faults): Promise<void> {
  await blobs.adopt(path, blob);
  await faults.at('portal.signature.kept');
}

function wordsOf(
  { signature, signer, title, xades, document }: ApplySignatureEffect,
  blobs: Blobs,
  language: Language,
): SignatureWords {
  const { evidenceSha256, marks, image, signingTime, kind } = signature;
  const words = RENDITION_WORDS[language];
  const reason = [
    filled(words.signedElectronicallyBy, describePerson(signer)),
    ...(evidenceSha256 === null ? [] : [`${words.evidence} (Base64): ${evidenceSha256}`]),
  ].join(' ');
  const name = signature.evidence?.typedName ?? nameOf(signer);
  const lines = markWords(language, { name, title, kind, at: signingTime, key: document.key });
  return signatureWords({
    fieldName: signature.fieldName,
    signer,
    reason,
    marks,
    lines,
    image: image && blobs.pathOf(image),
    xades,
  });
}

/** How a signature is written into a file, whoever's key makes it. */
export function signatureWords(given: {
  readonly fieldName: string | null;
  readonly signer: Participant;
  readonly reason: string;
  readonly marks: readonly Mark[];
  readonly lines: readonly string[];
  readonly image: string | null;
  readonly xades: SignatureWords['xades'];
}): SignatureWords {
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

export function nameOf({ name, email, identifier }: Participant): string {
  return name ?? email ?? identifier ?? 'A participant';
}

function describePerson(person: Participant): string {
  const more = [person.email, person.identifier].filter((text) => text !== null && text !== nameOf(person));
  return more.length === 0 ? nameOf(person) : `${nameOf(person)} (${more.join(', ')})`;
}
