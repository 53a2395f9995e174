/**
 * Tasks of the portal for the pool: plain data in both directions, files by path. Outputs are synced; a file left by an
 * earlier attempt at an output path is overwritten.
 */
import type { QualificationDemand } from '@sealwright/signatures';
import type { WarnedFile } from '../../contracts/file-warnings.ts';
import type { CertificateType, HolderType } from '../../contracts/portal/words.ts';
import type { BlobRef, DocumentFormat, Mark, XadesOptions } from '../../machines/portal/portal-types.ts';
import type { DataTable, HiddenRows } from '../shared/generation/data-table.ts';
import type { RenditionModel } from '../shared/rendition/rendition-model.ts';
import type { DescribedFile } from '../shared/signing/signature-records.ts';

/** Subject of a task for the log: a document or an upload. */
interface DocumentTask {
  readonly documentId: string;
}

/** Field, texts and appearance of one signature in the file. */
export interface SignatureParameters {
  /** Name of the new signature field in a PDF, Id in XML, content identifier in CMS; '' = generated. */
  readonly fieldName: string;
  /** PDF: name of the signer. */
  readonly name: string;
  /** Text that names the participant and the digest of the evidence: the reason in a PDF, the claimed role elsewhere. */
  readonly reason: string;
  readonly contactInfo: string | null;
  /** PDF: visible appearance; null = none. */
  readonly visible: {
    readonly mark: Pick<Mark, 'topLeftX' | 'topLeftY' | 'width' | 'height' | 'pageNumber'>;
    readonly lines: readonly string[];
    /** Path of a PNG or JPEG; null = text only. */
    readonly image: string | null;
  } | null;
  /** XML only; null = the whole document. */
  readonly xades: XadesOptions | null;
}

/** A rectangle of `Mark`. */
type PlaceOnPage = Pick<Mark, 'topLeftX' | 'topLeftY' | 'width' | 'height' | 'pageNumber'>;

/** Fields and marks that a signature of a PDF adds to its pages. */
export interface SignatureContent {
  /** All fields of the document, with the values known so far; null = empty. */
  readonly fields: readonly {
    readonly name: string;
    readonly kind: 'text' | 'checkbox';
    readonly label: string;
    /** Null for a field of the PDF's own form. */
    readonly place: PlaceOnPage | null;
    readonly value: string | null;
  }[];
  /** Marks besides the one that shows the signature; drawn only where the file has no signature. */
  readonly marks: readonly {
    readonly mark: PlaceOnPage;
    readonly lines: readonly string[];
    /** Path of a PNG or JPEG; null = text only. */
    readonly image: string | null;
  }[];
  /** Places of tags, which white rectangles cover; drawn as marks are. @default none */
  readonly covers?: readonly PlaceOnPage[];
}

interface SignaturePlace extends DocumentTask {
  readonly format: DocumentFormat;
  /** PDF and XML: the newest version. Others: the uploaded file, which the signatures are detached from. */
  readonly input: string;
  /** The `.p7s` with the existing signatures; null before the first, and for PDF and XML. */
  readonly signatures: string | null;
}

/** A file that the thread puts into its place; see `placeBlob`. */
export interface PlacedOutput {
  /** Temporary path, on the file system of `blobs`. */
  readonly output: string;
  /** Folder of all blobs. */
  readonly blobs: string;
}

/** Signs with the key of a profile, on behalf of a participant who signs electronically. */
export interface ServiceSignatureTask extends SignaturePlace, PlacedOutput {
  readonly task: 'portal.seal';
  readonly profile: string;
  /** Claimed signing time, milliseconds since the epoch. */
  readonly at: number;
  readonly parameters: SignatureParameters;
  /** PDF only; absent = nothing. */
  readonly content?: SignatureContent;
  /** PDF only: builds the file again, with the signatures before this one; absent = adds one to the input. */
  readonly rebuild?: {
    /** Path of the file without any of the signatures. */
    readonly original: string;
    readonly earlier: readonly { readonly at: number; readonly parameters: SignatureParameters }[];
  };
  /** See `FinalCheck`. */
  readonly check: FinalCheck | null;
}

/**
 * The final verification of the document in the task that adds its last signature; null = others follow, or it is done
 * in a task of its own. Its failure does not fail the task.
 */
interface FinalCheck {
  /** Signatures that must be in the file besides the new one. */
  readonly expected: readonly ExpectedSignature[];
  /** As in `CheckTask`. */
  readonly original: string | null;
  /** The field of the new one in a PDF; null for others. */
  readonly fieldName: string | null;
  readonly at: number;
}

/** Stores bytes under the name of their content. */
export interface StoreTask extends DocumentTask, PlacedOutput {
  readonly task: 'portal.store';
  readonly bytes: Uint8Array;
  /** Absent: the bytes are not inspected. */
  readonly inspect?: PdfInspection;
}

/** Parameters of the inspection of a PDF while it is stored, as for `portal.inspect`. */
export type PdfInspection = Pick<InspectTask, 'contentType' | 'fileName' | 'isPdf' | 'profile' | 'at'>;

/** Requirements of a flow action on its signer's certificate; null = none. */
export interface CertificateRequirements {
  readonly type: CertificateType | null;
  readonly holder: HolderType | null;
  /** 14 digits. */
  readonly companyIdentifier: string | null;
  /** By the trusted lists, of the organization. */
  readonly qualification: QualificationDemand | null;
}

/** A certificate whose key is elsewhere, and what its key can do. */
export interface ParticipantCertificate {
  /** DER as Base64. */
  readonly der: string;
  /** Certificates that may lead to a trusted one; DER as Base64. @default none */
  readonly chain?: readonly string[];
  /** @default those of the engine */
  readonly digest?: 'sha256' | 'sha384' | 'sha512';
  readonly padding?: 'pkcs1' | 'pss';
}

/**
 * First of two steps for a key held elsewhere: validates the certificate and returns the hash to sign. The output is the
 * state for the second step.
 */
export interface BeginSigningTask extends SignaturePlace, PlacedOutput {
  readonly task: 'portal.begin';
  /** Profile that supplies level and authorities. */
  readonly profile: string;
  /** DER as Base64, or path of the state of an earlier start with the same certificate. */
  readonly certificate: ParticipantCertificate | { readonly ofState: string };
  readonly demands: CertificateRequirements;
  /** Without trusted roots: true accepts every certificate with a warning, false none. */
  readonly allowUnproven: boolean;
  readonly at: number;
  readonly parameters: SignatureParameters;
  /** As for `ServiceSignatureTask`. */
  readonly content?: SignatureContent;
}

/** Second of two steps. */
export interface FinishSigningTask extends SignaturePlace, PlacedOutput {
  readonly task: 'portal.finish';
  readonly profile: string;
  /** Path of what `portal.begin` wrote. */
  readonly state: string;
  /** The signature value, Base64. */
  readonly value: string;
  /** Demand of the organization now, which the certificate must still reach; null = nothing. */
  readonly demand: QualificationDemand | null;
  /** See `FinalCheck`; with the certificate of the new signature. */
  readonly check: (FinalCheck & { readonly certificate: string }) | null;
}

/** Determines the signature format of a file; refuses a file that cannot be signed. */
export interface InspectTask extends DocumentTask {
  readonly task: 'portal.inspect';
  readonly path: string;
  readonly contentType: string;
  readonly fileName: string;
  /** It is known to be one by its content. */
  readonly isPdf: boolean;
  /** True: a detached CAdES signature for any file. */
  readonly forceCades: boolean;
  /** Options of each XAdES signature; empty: the defaults. */
  readonly xades: readonly XadesOptions[];
  /** Content that signatures of a PDF will bring; absent = nothing. */
  readonly content?: SignatureContent;
  /** The pages of a PDF are counted up to this number; 0 = not at all. */
  readonly countPagesTo: number;
  readonly profile: string;
  readonly at: number;
}

/** Finds the tags in the text of a PDF, such as `{{sig:ana}}`. */
export interface TextTagsTask extends DocumentTask {
  readonly task: 'portal.text-tags';
  readonly path: string;
  /** Most tags; one more in the result shows that there are more. */
  readonly most: number;
}

/** Reads the size of the first page of a PDF. */
export interface FirstPageSizeTask extends DocumentTask {
  readonly task: 'portal.first-page-size';
  readonly path: string;
  /** True: a damaged cross-reference is rebuilt, which reads the whole file. */
  readonly isRepaired: boolean;
}

/** Draws the first page of a PDF for those who open it. */
export interface FirstPageTask extends DocumentTask {
  readonly task: 'portal.first-page';
  readonly path: string;
}

/** Checks the picture of a signature whose faults only its samples or the document show. */
export interface PictureTask extends DocumentTask {
  readonly task: 'portal.picture';
  readonly picture: Uint8Array;
  /** Path of the document; null when it is no PDF. */
  readonly pdf: string | null;
}

/** A tag with the rectangle of its text. */
export interface TextTag {
  /** Between the braces. */
  readonly text: string;
  readonly place: PlaceOnPage & { readonly pageNumber: number };
  /** Contains the text of the tag for any font of usual proportions. */
  readonly cover: PlaceOnPage & { readonly pageNumber: number };
}

/** One signature required in the file. */
export interface ExpectedSignature {
  /** PDF: its field; null for others. */
  readonly fieldName: string | null;
  /** Lower-case hex SHA-256. */
  readonly certificate: string;
}

/** Verifies that all expected signatures are present and valid, and nothing else got worse; then adds a document time-stamp where requested. */
export interface CheckTask extends SignaturePlace {
  readonly task: 'portal.check';
  readonly profile: string;
  readonly expected: readonly ExpectedSignature[];
  /** PDF and XML: path of the uploaded file, whose faults do not count; null = unknown, so that every fault counts. */
  readonly original: string | null;
  readonly at: number;
  /** Path of the time-stamped file; null = no time-stamp. */
  readonly output: string | null;
}

/** Merges PDFs into one: the document of an envelope. */
export interface MergeTask extends DocumentTask {
  readonly task: 'portal.merge';
  /** In order; `title` is the bookmark. */
  readonly files: readonly { readonly path: string; readonly title: string }[];
  readonly title: string;
  readonly at: number;
  /** Maximum size of the result, bytes. */
  readonly maxBytes: number;
  readonly output: string;
}

/** Writes files into a ZIP file. */
export interface ZipTask extends DocumentTask {
  readonly task: 'portal.zip';
  /** In order; each name once. */
  readonly members: readonly { readonly path: string; readonly name: string }[];
  readonly at: number;
  readonly output: string;
}

/** Validates the signatures of a file. */
export interface DescribeTask extends DocumentTask {
  readonly task: 'portal.describe';
  readonly path: string;
  /** Path of the content of a detached signature. */
  readonly content: string | null;
  /** Signature format; null = detected from content and type. */
  readonly format: DocumentFormat | null;
  readonly contentType: string | null;
  /** Profile of the service's seals, whose chain is trusted. */
  readonly profile: string;
  readonly at: number;
  /** SHA-256 of participants' certificates that this document accepted, lower-case hex. @default none */
  readonly accepted?: readonly string[];
  /** PEM of certificates that the file may lack. */
  readonly certificates?: string;
  /** True: the result includes the report of ETSI TS 119 102-2. @default false */
  readonly withReport?: boolean;
}

export interface GenerationFilePath {
  readonly path: string;
  readonly name: string;
  readonly contentType: string;
}

/** Reads the table of a generation; with a template, also checks its placeholders against every row. */
export interface GenerationTask extends DocumentTask {
  readonly task: 'portal.generation';
  readonly data: GenerationFilePath;
  readonly hiddenRows: HiddenRows;
  readonly template: GenerationFilePath | null;
  /** Other texts with placeholders: plain data. */
  readonly texts: unknown;
  /** Maximum number of characters of template and texts after filling. */
  readonly maxCharacters: number;
}

/** Fills the template of a generation with one row. */
export interface FillTask extends DocumentTask {
  readonly task: 'portal.fill';
  readonly template: GenerationFilePath;
  /** Column names, case-folded. */
  readonly columns: readonly string[];
  readonly cells: readonly string[];
  readonly title: string;
  readonly at: number;
  readonly output: string;
}

/** Renders a version of a document. */
export interface RenderTask extends DocumentTask {
  readonly task: 'portal.render';
  readonly model: RenditionModel;
  /** Path of the PDF to draw on; null = none. */
  readonly original: string | null;
  /** Images that the model refers to. */
  readonly images: readonly { readonly sha256: string; readonly path: string }[];
  readonly output: string;
}

export type PortalTask =
  | StoreTask
  | ServiceSignatureTask
  | BeginSigningTask
  | FinishSigningTask
  | InspectTask
  | TextTagsTask
  | FirstPageSizeTask
  | FirstPageTask
  | PictureTask
  | CheckTask
  | MergeTask
  | ZipTask
  | DescribeTask
  | RenderTask
  | GenerationTask
  | FillTask;

/** Verdict for display, in the shape of docs/portal-values.md §17. */
export interface CertificateVerdict {
  readonly isValid: boolean;
  readonly passed: readonly { readonly type: string; readonly message: string }[];
  readonly errors: readonly { readonly type: string; readonly message: string }[];
  readonly warnings: readonly { readonly type: string; readonly message: string }[];
}

/** A file that can be signed. */
export interface InspectedFile extends WarnedFile {
  readonly format: DocumentFormat;
}

export interface PortalResults {
  readonly 'portal.store': {
    readonly blob: BlobRef;
    /** Base64. */
    readonly md5: string;
    /** Of an inspected file that can be signed; a failed inspection does not fail the task. */
    readonly inspected?: InspectedFile;
  };
  readonly 'portal.generation': DataTable;
  /** `pages`: the output is a PDF; `as-is`: a text in the format of the template. */
  readonly 'portal.fill': { readonly makes: 'pages' | 'as-is' };
  readonly 'portal.seal': {
    readonly output: BlobRef;
    /** SHA-256 of the profile's certificate, lower-case hex. */
    readonly certificate: string;
    /** True when the requested `FinalCheck` found all signatures present and valid. */
    readonly isChecked: boolean;
    /** True: the file was built again, and all its signatures are made with this certificate. */
    readonly isRebuilt?: boolean;
    /** Letters of the signature that no font has. */
    readonly warnings?: WarnedFile['warnings'];
  };
  readonly 'portal.begin': {
    readonly verdict: CertificateVerdict;
    /** Identifiers of the holder in the certificate: digits only, most specific first. */
    readonly identifiers: readonly string[];
    /** Lower-case hex SHA-256 of the certificate. */
    readonly certificate: string;
    /** Undefined when the certificate is rejected. */
    readonly begun?: {
      readonly state: BlobRef;
      /** Base64. */
      readonly hash: string;
      readonly toBeSigned: string;
      readonly digest: 'sha256' | 'sha384' | 'sha512';
    };
  };
  readonly 'portal.finish': { readonly output: BlobRef; readonly isChecked: boolean };
  readonly 'portal.inspect': InspectedFile & {
    /** Pages of a PDF, at most `countPagesTo`; null = not counted. */
    readonly pages: number | null;
  };
  readonly 'portal.text-tags': {
    readonly tags: readonly TextTag[];
    /** Pieces and letters that the search visited; at most a multiple of the text and its tags. */
    readonly visits: { readonly pieces: number; readonly letters: number };
  };
  /** As shown, points. */
  readonly 'portal.first-page-size': { readonly width: number; readonly height: number };
  readonly 'portal.first-page': {
    /** An SVG in Brotli; absent for a page that is not drawn exactly, or that is large. */
    readonly picture?: Uint8Array;
  };
  /** The reason why it cannot be drawn, as a sentence. */
  readonly 'portal.picture': { readonly fault: string | null };
  readonly 'portal.check': {
    /** The time-stamped file; null when not requested or no authority is configured. */
    readonly output: BlobRef | null;
  };
  readonly 'portal.describe': DescribedFile;
  readonly 'portal.render': { readonly output: BlobRef };
  readonly 'portal.zip': { readonly members: number };
  readonly 'portal.merge': {
    readonly output: BlobRef;
    readonly pages: number;
    /** Number of pages of each file. */
    readonly pagesOfFiles: readonly number[];
    /** Number of signatures of each file, which the result does not contain. */
    readonly signaturesOfFiles: readonly number[];
  };
}
