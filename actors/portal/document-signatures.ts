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

/**
 * In the order they were made, document time-stamps and signatures the file came with included: that of the file,
 * except in CMS, whose signers stand in the order of their bytes (RFC 5652 §5.1, a SET OF).
 */
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
  const inOrder = format === 'Cades' ? asMade(found, madeBy, document.made) : found;
  return inOrder.map((signature) => {
    const made = madeBy.get(signature);
    const view = made === undefined ? signature.view : ownView(signature.view, made, document);
    return { view, made, certificateSubject: signature.view.subjectName };
  });
}

/**
 * By certificate and name in the file: CMS has its signers in an order of its own. Signatures beside PDFs that were made
 * before they had names each claim another time.
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

/** What the file came with first, then as the flow went. */
function asMade(
  found: readonly DescribedSignature[],
  madeBy: ReadonlyMap<DescribedSignature, MadeAction>,
  made: readonly MadeAction[],
): readonly DescribedSignature[] {
  const turn = (signature: DescribedSignature): number => {
    const action = madeBy.get(signature);
    return action === undefined ? -1 : made.indexOf(action);
  };
  return found.toSorted((one, other) => turn(one) - turn(other));
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
