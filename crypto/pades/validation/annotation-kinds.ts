/**
 * Closed table of the kinds of annotations (ISO 32000-2, table 171), by what adding, changing or removing one may be:
 *
 * - `comment`: marks content without replacing it, where its look holds (`comment-marks.ts`)
 * - `window`: the same, and can be open over what was signed
 * - `file`: the same, and brings a file
 * - `refused`: can cover certified content or imitate it, does something, or is no comment; so is a kind without a row
 */
type AnnotationKind = 'comment' | 'window' | 'file' | 'refused';

export const ANNOTATION_KINDS: Readonly<Record<string, AnnotationKind>> = {
  Text: 'window',
  Link: 'refused',
  FreeText: 'refused',
  Line: 'refused',
  Square: 'refused',
  Circle: 'refused',
  Polygon: 'refused',
  PolyLine: 'refused',
  Highlight: 'comment',
  Underline: 'comment',
  Squiggly: 'comment',
  StrikeOut: 'comment',
  Caret: 'comment',
  Stamp: 'refused',
  Ink: 'refused',
  Popup: 'window',
  FileAttachment: 'file',
  Sound: 'refused',
  Movie: 'refused',
  Screen: 'refused',
  // Fields have rules of their own.
  Widget: 'refused',
  PrinterMark: 'refused',
  TrapNet: 'refused',
  Watermark: 'refused',
  '3D': 'refused',
  Redact: 'refused',
  Projection: 'refused',
  RichMedia: 'refused',
};

export function annotationKind(type: string): AnnotationKind {
  return Object.hasOwn(ANNOTATION_KINDS, type) ? (ANNOTATION_KINDS[type] ?? 'refused') : 'refused';
}

export const isComment = (type: string): boolean => annotationKind(type) !== 'refused';
