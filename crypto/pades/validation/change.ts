/**
 * What a later revision did to a PDF, named so that each signature before it can say whether it allows that
 * (ISO 32000-2, 12.8.2.2).
 */
export type Change =
  /** Nothing allows it: content, structure, or something that can't be told from them. */
  | { readonly kind: 'forbidden'; readonly description: string }
  /** Certificates and revocation values in the /DSS (12.8.4.3). */
  | { readonly kind: 'evidence'; readonly description: string }
  /** A document time-stamp that shows nothing (12.8.5). */
  | { readonly kind: 'timestamp'; readonly field: string; readonly description: string }
  | {
      readonly kind: 'signature';
      readonly field: string;
      /** The field is new, and it shows something: it can lie over content. */
      readonly covers: boolean;
      readonly isNew: boolean;
      /** A signature came with it, which has to cover this very revision. */
      readonly signs: boolean;
      readonly description: string;
    }
  | { readonly kind: 'form'; readonly field: string; readonly description: string }
  | { readonly kind: 'annotation'; readonly description: string }
  /** Nothing a page shows: document information, XMP, version, a field made read-only. */
  | { readonly kind: 'metadata'; readonly description: string };

export const forbidden = (description: string): Change => ({ kind: 'forbidden', description });
