/** Page content that a PDF signature adds. */

/** A rectangle on a page as shown: points from its upper left corner; moved and shrunk when it does not fit. */
export interface PagePlace {
  /** 1-based; null, and a missing page, = the last. */
  readonly page: number | null;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** An image and lines of text, as in a visible signature. */
export interface Stamp {
  readonly place: PagePlace;
  readonly lines?: readonly string[];
  readonly image?: Buffer;
}

/** Content that an update adds beside its signature. */
export interface PageContent {
  /** Drawn only where the document has no signature yet: a later one would change what was signed. */
  readonly stamps: readonly Stamp[];
  readonly fields: readonly FormFieldContent[];
  /** Places that white rectangles cover, below stamps and fields; as stamps. @default none */
  readonly covers?: readonly PagePlace[];
}

/** A form field to create, to fill, or both. */
export interface FormFieldContent {
  /** Full name. A field of this name in the document is filled; otherwise it is created at the top level. */
  readonly name: string;
  readonly kind: 'text' | 'checkbox';
  /** Description for people. */
  readonly label: string;
  /** Null for a field that the document must have. */
  readonly place: PagePlace | null;
  /** Null = empty. Of a checkbox: `true` or `false`. Of a group of radio buttons: the name of a state. */
  readonly value: string | null;
}
