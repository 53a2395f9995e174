/**
 * Change of a later revision of a PDF, classified so that each earlier signature can permit or forbid it
 * (ISO 32000-2, 12.8.2.2).
 */
export type Change =
  /** Forbidden by every signature: content, structure, or an object that can't be distinguished from them. */
  | { readonly kind: 'forbidden'; readonly description: string }
  /** Certificates and revocation values in the /DSS (12.8.4.3). */
  | { readonly kind: 'evidence'; readonly description: string }
  /** A document time-stamp without an appearance (12.8.5). */
  | { readonly kind: 'timestamp'; readonly field: string; readonly description: string }
  | {
      readonly kind: 'signature';
      readonly field: string;
      /** True for a new visible field, and for an appearance in an existing one where the page showed something. */
      readonly covers: boolean;
      readonly isNew: boolean;
      /** True when the field was signed in this revision; the signature must cover exactly this revision. */
      readonly signs: boolean;
      readonly description: string;
    }
  | {
      readonly kind: 'form';
      readonly field: string;
      readonly description: string;
      /** Reason why the shown value can't be verified; for people. */
      readonly undecided?: string;
    }
  | {
      readonly kind: 'annotation';
      readonly description: string;
      /** True for a comment that draws, or drew, something on the page. */
      readonly drawn: boolean;
    }
  /** A signed field, which its page still shows, was taken out of the form. */
  | { readonly kind: 'unlisted'; readonly description: string }
  /** Changes that no page shows: document information, XMP, version, a field made read-only. */
  | { readonly kind: 'metadata'; readonly description: string };

export const forbidden = (description: string): Change => ({ kind: 'forbidden', description });
