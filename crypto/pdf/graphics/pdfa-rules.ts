/**
 * Restrictions of PDF/A on an appearance (ISO 19005-1, 6.2.3 and 6.4; ISO 19005-2, 6.2.4 and 6.2.10;
 * parts 3 and 4 alike).
 */
import type { PdfDocument } from '../document/document.ts';
import { PdfSyntaxError } from '../syntax/reading-errors.ts';
import { isArray, items } from '../syntax/values.ts';

export interface PdfARules {
  /** True when device colour spaces are permitted. */
  readonly deviceColours: boolean;
  readonly transparency: boolean;
  /** True when embedded subsets must list their glyphs. */
  readonly listGlyphs: boolean;
}

export const FREE: PdfARules = { deviceColours: true, transparency: true, listGlyphs: false };

export function pdfARules(pdf: PdfDocument): PdfARules {
  const part = archivePart(pdf);
  if (part === undefined) return FREE;
  const intents = pdf.resolve(pdf.catalog.get('OutputIntents'));
  // Without an output intent each page would need a blending colour space, and pages must not change.
  const hasIntent = isArray(intents) && items(intents).next().done !== true;
  return { deviceColours: false, transparency: part > 1 && hasIntent, listGlyphs: part === 1 };
}

/** Returns the part of ISO 19005 in the metadata; undefined when there is none. */
export function archivePart(pdf: PdfDocument): number | undefined {
  const metadata = metadataText(pdf);
  // As an attribute or as an element (ISO 19005-1, 6.7.11).
  const found = /pdfaid:part\s*(?:=\s*["']\s*|>\s*)(\d)/.exec(metadata);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

/** Reads the ASCII characters: equal in UTF-8, and in UTF-16 without its zeros. */
function metadataText(pdf: PdfDocument): string {
  try {
    const text = pdf.stream(pdf.catalog.get('Metadata'))?.toString('latin1') ?? '';
    return text.includes('\0') ? text.replaceAll('\0', '') : text;
  } catch (error) {
    // Unreadable metadata claims no PDF/A conformance and does not make the structure damaged.
    if (error instanceof PdfSyntaxError) return '';
    throw error;
  }
}
