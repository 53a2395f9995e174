/**
 * What the portal asks of the pool: plain data both ways, files by path, never their bytes. Outputs are synced; a file
 * that an earlier try left at an output's path is written anew.
 */
import type {
  BlobRef,
  CertificateType,
  DocumentFormat,
  HolderType,
  Mark,
  XadesOptions,
} from '../../machines/portal-words.ts';
import type { RenditionModel } from '../portal/rendition-model.ts';
import type { DescribedFile } from '../portal/signature-records.ts';

/** What the log says a lost task was about: a document, an upload. */
interface AboutDocument {
  readonly documentId: string;
}

/** How one signature stands in the file. */
export interface SignatureWords {
  /** Name of the signature field to make in a PDF, Id in XML, content identifier in CMS; '' = one that is made up. */
  readonly fieldName: string;
  /** PDF: who signs. */
  readonly name: string;
  readonly reason: string;
  readonly contactInfo: string | null;
  /** PDF: what is drawn on the page; null = nothing. */
  readonly visible: {
    readonly mark: Pick<Mark, 'topLeftX' | 'topLeftY' | 'width' | 'height' | 'pageNumber'>;
    readonly lines: readonly string[];
    /** Path of a PNG or JPEG; null = text alone. */
    readonly image: string | null;
  } | null;
  /** XML alone; null = the whole document. */
  readonly xades: XadesOptions | null;
}

interface SignaturePlace extends AboutDocument {
  readonly format: DocumentFormat;
  /** PDF and XML: the newest version. Else the file as it was uploaded, which the signatures stand beside. */
  readonly input: string;
  /** The `.p7s` with the signatures so far; null before the first, and for PDF and XML. */
  readonly signatures: string | null;
}

/** Signs with a profile's own key, for somebody who signs electronically. */
export interface SealTask extends SignaturePlace {
  readonly task: 'portal.seal';
  readonly profile: string;
  /** Claimed signing time, milliseconds since the epoch. */
  readonly at: number;
  readonly words: SignatureWords;
  readonly output: string;
}

/** What a flow action demands of its signer's certificate; null = anything will do. */
export interface CertificateDemands {
  readonly type: CertificateType | null;
  readonly holder: HolderType | null;
  /** 14 digits. */
  readonly companyIdentifier: string | null;
}

/** First of two steps for a key that is elsewhere: judges the certificate, says what is to be signed. */
export interface BeginTask extends SignaturePlace {
  readonly task: 'portal.begin';
  /** Whose level and authorities are used. */
  readonly profile: string;
  /** DER, Base64. */
  readonly certificate: string;
  readonly demands: CertificateDemands;
  /** Without trusted roots: true takes every certificate with a warning, false none. */
  readonly allowUnproven: boolean;
  readonly at: number;
  readonly words: SignatureWords;
  /** Where the state for the second step goes. */
  readonly output: string;
}

/** Second of two steps. */
export interface FinishTask extends SignaturePlace {
  readonly task: 'portal.finish';
  readonly profile: string;
  /** Path of what `portal.begin` wrote. */
  readonly state: string;
  /** The signature value, Base64. */
  readonly value: string;
  readonly output: string;
}

/** Says how a file will be signed, and refuses one that cannot be. */
export interface InspectTask extends AboutDocument {
  readonly task: 'portal.inspect';
  readonly path: string;
  readonly contentType: string;
  readonly fileName: string;
  /** True: signed beside it, whatever it is. */
  readonly forceCades: boolean;
  /** How an XML document is to be signed, each by itself; none: as it is without options. */
  readonly xades: readonly XadesOptions[];
  readonly profile: string;
  readonly at: number;
}

/** One signature that has to be in the file. */
export interface ExpectedSignature {
  /** PDF: its field; null for others. */
  readonly fieldName: string | null;
  /** Lower-case hex SHA-256. */
  readonly certificate: string;
}

/** Checks that the signatures that were made are there and good; then time-stamps the document where that is asked. */
export interface CheckTask extends SignaturePlace {
  readonly task: 'portal.check';
  readonly profile: string;
  readonly expected: readonly ExpectedSignature[];
  readonly at: number;
  /** Where the time-stamped file goes; null = no time-stamp. */
  readonly output: string | null;
}

/** Makes one PDF of several: the document of an envelope. */
export interface MergeTask extends AboutDocument {
  readonly task: 'portal.merge';
  /** In their order; `title` is that of the bookmark. */
  readonly files: readonly { readonly path: string; readonly title: string }[];
  readonly title: string;
  readonly at: number;
  /** Bytes the document may have. */
  readonly maxBytes: number;
  readonly output: string;
}

/** Looks at the signatures of a file, whoever made them. */
export interface DescribeTask extends AboutDocument {
  readonly task: 'portal.describe';
  readonly path: string;
  /** Path of what a detached signature is over. */
  readonly content: string | null;
  /** How it is signed; null = found out from what it holds and from its type. */
  readonly format: DocumentFormat | null;
  readonly contentType: string | null;
  /** What seals of the service are made with; its chain is trusted. */
  readonly profile: string;
  readonly at: number;
}

/** Reads the first sheet of a spreadsheet. */
export interface SheetTask extends AboutDocument {
  readonly task: 'portal.sheet';
  readonly path: string;
  /** Rows after these are left out, and columns but one. */
  readonly mostRows: number;
  readonly mostColumns: number;
}

/** Sets a text on pages. */
export interface TypesetTask extends AboutDocument {
  readonly task: 'portal.typeset';
  readonly text: string;
  readonly title: string;
  readonly at: number;
  readonly output: string;
}

/** Draws a version of a document. */
export interface RenderTask extends AboutDocument {
  readonly task: 'portal.render';
  readonly model: RenditionModel;
  /** Path of the PDF whose pages are drawn on; null = there are none. */
  readonly original: string | null;
  /** Pictures the model names. */
  readonly images: readonly { readonly sha256: string; readonly path: string }[];
  readonly output: string;
}

export type PortalTask =
  | SealTask
  | BeginTask
  | FinishTask
  | InspectTask
  | CheckTask
  | MergeTask
  | DescribeTask
  | RenderTask
  | SheetTask
  | TypesetTask;

/** A verdict for people, of the shape of portal-gaps §17. */
export interface CertificateVerdict {
  readonly isValid: boolean;
  readonly passed: readonly { readonly type: string; readonly message: string }[];
  readonly errors: readonly { readonly type: string; readonly message: string }[];
  readonly warnings: readonly { readonly type: string; readonly message: string }[];
}

export interface PortalResults {
  readonly 'portal.typeset': Readonly<Record<string, never>>;
  readonly 'portal.sheet': { readonly rows: readonly (readonly string[])[] };
  readonly 'portal.seal': {
    readonly output: BlobRef;
    /** Of the profile, lower-case hex SHA-256. */
    readonly certificate: string;
  };
  readonly 'portal.begin': {
    readonly verdict: CertificateVerdict;
    /** Identifiers of its holder that the certificate names: digits alone, most telling first. */
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
  readonly 'portal.finish': { readonly output: BlobRef };
  readonly 'portal.inspect': { readonly format: DocumentFormat };
  readonly 'portal.check': {
    /** The time-stamped file; null when none was asked for, or no authority is configured. */
    readonly output: BlobRef | null;
  };
  readonly 'portal.describe': DescribedFile;
  readonly 'portal.render': { readonly output: BlobRef };
  readonly 'portal.merge': {
    readonly output: BlobRef;
    readonly pages: number;
    /** How many of them each file brought. */
    readonly pagesOfFiles: readonly number[];
  };
}
