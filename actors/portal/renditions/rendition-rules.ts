/** Decides which renditions of a document exist, and when. Source: docs/portal-values.md §13. */
import { type DownloadType, documentStatusesIn } from '../../../contracts/portal/words.ts';
import type { DocumentState } from '../../../machines/portal/documents/document-context.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { DocumentFormat } from '../../../machines/portal/portal-types.ts';
import type { RenderedType } from '../../shared/rendition/rendition-model.ts';

/** Asked for in these states, a document gives only what shows that it was signed in part. */
const ENDED: readonly DocumentState[] = documentStatusesIn('ended');
const OF_ENDED: readonly DownloadType[] = ['Original', 'PrinterFriendlyVersion'];
/** Given of a document that ended with approvals alone: what it shows is who acted. */
const OF_APPROVED: readonly DownloadType[] = ['PrinterFriendlyVersion', 'SignaturesManifest'];
/** Drawn on pages, which only a PDF has. */
const OF_PAGES: readonly DownloadType[] = ['SigningTags', 'SignatureMarks', 'OriginalWithMarks'];

/** Refusals: `DocumentHasNoSignatures`, `DownloadTypeNotAvailable`. */
export function assertAvailable(
  type: DownloadType,
  document: {
    readonly state: DocumentState;
    readonly hasSignature: boolean;
    readonly hasApproval: boolean;
    readonly hasPages: boolean;
  },
): void {
  if (type === 'Original') return;
  const { state, hasSignature, hasApproval } = document;
  const hasEvidence = hasApproval && state !== 'Pending' && OF_APPROVED.includes(type);
  if (!hasSignature && !hasEvidence) throw new PortalRefusal('DocumentHasNoSignatures');
  if (ENDED.includes(state) && !OF_ENDED.includes(type)) {
    throw new PortalRefusal('DownloadTypeNotAvailable');
  }
  if (OF_PAGES.includes(type) && !document.hasPages) {
    throw new PortalRefusal('DownloadTypeNotAvailable', 'Only a PDF has pages to draw on.');
  }
}

const DRAWN: { readonly [type in RenderedType]: string } = {
  PrinterFriendlyVersion: 'printable',
  SigningTags: 'tagged',
  SignatureMarks: 'marks',
  OriginalWithMarks: 'with-marks',
  SignaturesManifest: 'manifest',
};

/** File name of a rendition. */
export function renditionName(filename: string, type: RenderedType): string {
  return `${withoutEnding(filename)}-${DRAWN[type]}.pdf`;
}

const SIGNED_TYPE: { readonly [format in DocumentFormat]: string } = {
  Pades: 'application/pdf',
  Cades: 'application/pkcs7-signature',
  Xades: 'application/xml',
};

/** Name and type of the signed file, or of the signatures beside it. */
export function signedName(
  filename: string,
  format: DocumentFormat,
): { readonly fileName: string; readonly contentType: string } {
  const base = withoutEnding(filename);
  const fileName =
    format === 'Cades' ? `${filename}.p7s` : `${base}-signed.${format === 'Pades' ? 'pdf' : 'xml'}`;
  return { fileName, contentType: SIGNED_TYPE[format] };
}

function withoutEnding(filename: string): string {
  return filename.replace(/(.)\.[^.\s]{1,10}$/u, '$1');
}
