/**
 * The signatures of a document made here: what stands in its file, with what the flow knows of those who signed.
 */
import type { DocumentContext } from '../../machines/document-context.ts';
import type { MadeAction } from '../../machines/portal-words.ts';
import type { SignatureView } from './api.ts';
import type { DescribedFiles } from './described-files.ts';
import { participantOf } from './document-reader.ts';
import { evidenceView } from './evidence-view.ts';
import type { DescribedSignature } from './signature-records.ts';

/** In the order of the file, document time-stamps and signatures it came with included. */
export async function documentSignatures(
  described: Pick<DescribedFiles, 'describe'>,
  document: DocumentContext,
): Promise<readonly SignatureView[]> {
  return (await describedSignatures(described, document)).map(({ view }) => view);
}

/** A signature of the file, and the action of the flow that made it. */
export interface DocumentSignature {
  readonly view: SignatureView;
  /** Undefined for what the file came with, and for time-stamps. */
  readonly made: MadeAction | undefined;
  /** Whom the certificate is of: for electronic signatures not who signed, but who sealed. */
  readonly certificateSubject: string;
}

export async function describedSignatures(
  described: Pick<DescribedFiles, 'describe'>,
  document: DocumentContext,
): Promise<readonly DocumentSignature[]> {
  const { id, format, current, signatures, file } = document;
  const { signatures: found } = await described.describe({
    file: signatures ?? current,
    content: signatures === null ? null : current,
    format,
    contentType: file.contentType,
    documentId: id,
  });
  const madeBy = matched(found, document.made);
  return found.map((signature) => {
    const made = madeBy.get(signature);
    const view = made === undefined ? signature.view : ownView(signature.view, made, document);
    return { view, made, certificateSubject: signature.view.subjectName };
  });
}

/**
 * By the field of a PDF; elsewhere by certificate and claimed time, which is another one for each signature of a
 * document: CMS has its signers in an order of its own.
 */
function matched(
  found: readonly DescribedSignature[],
  made: readonly MadeAction[],
): ReadonlyMap<DescribedSignature, MadeAction> {
  const pairs = new Map<DescribedSignature, MadeAction>();
  for (const one of made) {
    if (one.certificate === null) continue;
    const thumbprint = Buffer.from(one.certificate, 'hex').toString('base64');
    const fitting = found.filter(
      (candidate) =>
        !pairs.has(candidate) &&
        !candidate.view.isTimestamp &&
        candidate.view.certificateThumbprint === thumbprint &&
        (one.fieldName === null || candidate.name === one.fieldName),
    );
    const signature = fitting.find(({ view }) => view.signingTime === one.signingTime) ?? fitting[0];
    if (signature !== undefined) pairs.set(signature, one);
  }
  return pairs;
}

/** Who signed electronically is the participant, whoever's certificate sealed it. */
function ownView(view: SignatureView, made: MadeAction, document: DocumentContext): SignatureView {
  if (made.kind !== 'electronic') return view;
  const participant = participantOf(document, made);
  if (participant === undefined) return { ...view, isElectronic: true };
  const { id, key, file } = document;
  return {
    ...view,
    subjectName: participant.name ?? made.evidence?.typedName ?? participant.email ?? '',
    emailAddress: participant.email,
    identifier: participant.identifier,
    companyName: null,
    companyIdentifier: null,
    isElectronic: true,
    signingTime: made.evidence?.at ?? made.at,
    evidences: evidenceView(made, participant, { id, key, sha256: file.blob.sha256 }),
  };
}
