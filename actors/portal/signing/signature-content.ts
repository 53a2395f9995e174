/**
 * Builds what a signature of a PDF adds to its file: the fields of all participants with the values known so far, and the
 * marks besides the first. In a flow of electronic signatures the file is built again from the original at each signature,
 * with the marks and values of all who have signed, and signed again with the evidence that is kept.
 */
import type { Language } from '../../../contracts/portal/words.ts';
import { representedName } from '../../../machines/portal/documents/deputy-acts.ts';
import type {
  AcceptedSignature,
  DocumentContext,
} from '../../../machines/portal/documents/document-context.ts';
import type { CompletedAction, Mark } from '../../../machines/portal/portal-types.ts';
import type { SignatureContent } from '../../pool/portal-tasks.ts';
import { markLines } from '../../shared/rendition/mark-lines.ts';
import { participantOf } from '../document-records/document-reader.ts';
import { formContent } from '../documents/form-content.ts';
import type { Blobs } from '../uploads/blobs.ts';

/** A signature that was made, or is being made. */
export type MarkedSignature = Pick<
  CompletedAction | AcceptedSignature,
  'flowActionId' | 'userId' | 'kind' | 'evidence' | 'signingTime' | 'marks' | 'image' | 'values'
>;

/** Returns undefined for a document without fields and tags whose signatures have one mark each at most. */
export async function signatureContent(
  document: DocumentContext,
  signatures: readonly MarkedSignature[],
  language: Language,
  blobs: Pick<Blobs, 'localPath'>,
): Promise<SignatureContent | undefined> {
  if (document.format !== 'Pades') return undefined;
  const fields = formContent(document, signatures);
  const further = signatures.flatMap((signature) =>
    furtherMarks(signature.marks).map((mark) => ({ mark, signature })),
  );
  const marks = await Promise.all(
    further.map(async ({ mark, signature }) => ({
      mark,
      lines: markLines(mark.type, language, ofPerson(document, signature)),
      image:
        mark.type === 'SignatureVisualRepresentation' && signature.image
          ? await blobs.localPath(signature.image)
          : null,
    })),
  );
  const { covers = [] } = document;
  if (fields.length === 0 && marks.length === 0 && covers.length === 0) return undefined;
  return { fields, marks, ...(covers.length > 0 && { covers }) };
}

/** The marks that the field of the signature does not show: it is seen in the first of its kind. */
function furtherMarks(marks: readonly Mark[]): readonly Mark[] {
  const first = marks.find(({ type }) => type === 'SignatureVisualRepresentation');
  return marks.filter((mark) => mark !== first);
}

function ofPerson(document: DocumentContext, signature: MarkedSignature) {
  const person = participantOf(document, signature);
  const { evidence, kind, signingTime, flowActionId } = signature;
  const action = document.actions.find(({ id }) => id === flowActionId);
  return {
    deputyOf: evidence?.deputy && representedName(evidence.deputy),
    name: evidence?.typedName ?? person?.name ?? person?.email ?? person?.identifier ?? '',
    title: action?.title ?? null,
    kind,
    at: signingTime ?? document.updateDate,
    key: document.key,
  };
}

/**
 * Returns the signatures to make again below a new electronic one; undefined when the file is not built again: a
 * participant's own key has signed it, or nothing is to be shown that a further update could not add.
 */
export function signaturesToRebuild(
  { made, format }: DocumentContext,
  content: SignatureContent | undefined,
): readonly CompletedAction[] | undefined {
  if (format !== 'Pades' || content === undefined) return undefined;
  const signatures = made.filter(({ kind }) => kind !== 'approval');
  return signatures.every(({ kind }) => kind === 'electronic') ? signatures : undefined;
}
