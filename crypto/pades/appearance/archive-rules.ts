/**
 * What a file that says it is PDF/A allows of an appearance (ISO 19005-1, 6.2.3 and 6.4; ISO 19005-2, 6.2.4 and 6.2.10;
 * parts 3 and 4 alike).
 */
import { isArray, items, PdfDamage, type PdfDocument } from '../../pdf/index.ts';

export interface AppearanceRules {
  /** Colours of whatever device shows the page; otherwise they have to be defined. */
  readonly deviceColours: boolean;
  readonly transparency: boolean;
  /** Embedded subsets list their glyphs. */
  readonly listGlyphs: boolean;
}

const FREE: AppearanceRules = { deviceColours: true, transparency: true, listGlyphs: false };

export function appearanceRules(pdf: PdfDocument): AppearanceRules {
  const part = archivePart(pdf);
  if (part === undefined) return FREE;
  const intents = pdf.resolve(pdf.catalog.get('OutputIntents'));
  // Without an intent each page would have to name the colours it blends in, and pages are not ours to change.
  const hasIntent = isArray(intents) && items(intents).next().done !== true;
  return { deviceColours: false, transparency: part > 1 && hasIntent, listGlyphs: part === 1 };
}

/** The part of ISO 19005 in the metadata; undefined when there is none. */
function archivePart(pdf: PdfDocument): number | undefined {
  const metadata = metadataText(pdf);
  // As an attribute or as an element (ISO 19005-1, 6.7.11).
  const found = /pdfaid:part\s*(?:=\s*["']\s*|>\s*)(\d)/.exec(metadata);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

/** Latin letters are all that is looked for: they are the same in UTF-8, and in UTF-16 without its zeros. */
function metadataText(pdf: PdfDocument): string {
  try {
    const text = pdf.stream(pdf.catalog.get('Metadata'))?.toString('latin1') ?? '';
    return text.includes('\0') ? text.replaceAll('\0', '') : text;
  } catch (error) {
    // Metadata nobody can read makes no file an archive, and is no reason to call its structure damaged.
    if (error instanceof PdfDamage) return '';
    throw error;
  }
}
