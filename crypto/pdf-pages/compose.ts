/**
 * Makes one PDF of several: pages of files, with something drawn over them or not, and pages that are drawn.
 *
 * Kept are sizes and rotation of pages, links, outlines, form fields, layers, attachments, numbering. Not kept is what
 * is true of a file as it was only: signatures, encryption, the structure for readers aloud, metadata, scripts.
 */

import { openSource } from '../files/source.ts';
import { createTarget } from '../files/target.ts';
import { TextFont } from '../pades/appearance/shown-text.ts';
import { numberText, packedStream } from '../pades/appearance/stream-object.ts';
import { referenceText } from '../pades/draft.ts';
import { textString } from '../pades/text-string.ts';
import type { ByteSource } from '../pdf/index.ts';
import { type PdfDocument, type Reference, sourceText, withPdf } from '../pdf/index.ts';
import { CryptoError } from '../types.ts';
import { copyAssociated, copyAttachments, copyLabels } from './attachment-copy.ts';
import { catalogText, type PartCopy } from './catalog.ts';
import { type DrawnItem, drawItems, linkAnnotation } from './drawing.ts';
import { copyForm, planForm } from './form-copy.ts';
import { Importer } from './import.ts';
import { copyLayers } from './layer-copy.ts';
import { NewPdf } from './new-pdf.ts';
import { Patience } from './open-states.ts';
import { copyOutline, type OutlineEntry } from './outline-copy.ts';
import { copyPages, pageList, type ShownPage } from './page-copy.ts';

/** The pages of a PDF. */
export interface FilePart {
  /** Of the PDF; one that is encrypted must open without a password. */
  readonly path: string;
  /** Title of an entry in the outline, above the outline of the file; left out, the outline stands by itself. */
  readonly outline?: string | undefined;
  /** What is drawn over each page. */
  readonly draw?: ((page: ShownPage) => readonly DrawnItem[]) | undefined;
  /** Leave out what the pages themselves show, and all else of the file. */
  readonly blank?: boolean | undefined;
}

/** A page that holds what is drawn and nothing else; points. */
export interface DrawnPage {
  readonly width: number;
  readonly height: number;
  readonly items: readonly DrawnItem[];
}

export interface ComposeRequest {
  /** Path of the new file, which must not exist yet. Not synced. */
  readonly output: string;
  readonly parts: readonly (FilePart | { readonly pages: readonly DrawnPage[]; readonly outline?: string })[];
  readonly title: string;
  /** Milliseconds since the epoch; said to be the time it was made at. */
  readonly at: number;
  /** Bytes the new file may have. @default as many as a cross-reference table can address */
  readonly maxBytes?: number;
}

export interface ComposedPdf {
  readonly pages: number;
  /** How many of them each part brought. */
  readonly pagesOfParts: readonly number[];
  /** Bytes. */
  readonly length: number;
}

const NOTHING = {
  outline: [],
  attachments: [],
  associated: [],
  labels: new Map<number, string>(),
  isVersion2: false,
};

/**
 * @throws {CryptoError} `input.unreadable`, `input.changed`; `pdf.malformed`, `pdf.encrypted`, `pdf.no-pages` for a
 *   part; `input.too-large` for too many pages, objects or bytes; `request.invalid` for a picture that can't be read;
 *   `output.exists`, `output.unwritable`
 */
export function composePdf(request: ComposeRequest): ComposedPdf {
  const target = createTarget(request.output);
  try {
    const composer = new Composer(new NewPdf(target, request.maxBytes));
    for (const [index, part] of request.parts.entries()) {
      if ('pages' in part) composer.addDrawn(part.pages, part.outline);
      else placed(index + 1, request.parts.length, () => composer.addFile(part));
    }
    const pages = composer.finish(request);
    const { length } = target;
    target.close();
    return { pages, pagesOfParts: composer.pagesOfParts, length };
  } catch (error) {
    target.discard();
    throw error;
  }
}

/** Says which of several parts an error is about. */
function placed(number: number, count: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (count === 1 || !(error instanceof CryptoError)) throw error;
    throw new CryptoError(error.code, `File ${number} of ${count}: ${error.message}`);
  }
}

class Composer {
  readonly #out: NewPdf;
  readonly #tree: Reference;
  readonly #font = new TextFont();
  readonly #fontReference: Reference;
  readonly #parts: PartCopy[] = [];

  constructor(out: NewPdf) {
    this.#out = out;
    this.#tree = out.reserve();
    this.#fontReference = out.reserve();
  }

  get pagesOfParts(): readonly number[] {
    return this.#parts.map(({ pages }) => pages.length);
  }

  addFile(part: FilePart): void {
    const source = openSource(part.path);
    try {
      const mark = this.#out.mark();
      const copy = withPdf(source, (pdf) => {
        this.#out.backTo(mark);
        return this.#copyOf(pdf, source, part);
      });
      source.assertUnchanged();
      this.#parts.push(copy);
    } finally {
      source.close();
    }
  }

  addDrawn(pages: readonly DrawnPage[], outline: string | undefined): void {
    const references = pages.map((page) => this.#drawn(page));
    this.#parts.push({ ...NOTHING, pages: references, outline: titled(outline, references, []) });
  }

  /** @returns how many pages there are */
  finish({ title, at }: ComposeRequest): number {
    const out = this.#out;
    const pages = this.#parts.flatMap((part) => part.pages);
    this.#font.embed(out, { listGlyphs: false }, (body) => {
      out.put(this.#fontReference, body);
      return this.#fontReference;
    });
    out.put(this.#tree, `<</Type/Pages/Count ${pages.length}/Kids[${pages.map(referenceText).join(' ')}]>>`);
    const root = out.add(catalogText(out, this.#tree, this.#parts));
    const time = dateText(at);
    const info = out.add(
      `<</Title${textString(title)}/Producer(sealwright)/CreationDate${time}/ModDate${time}>>`,
    );
    out.finish(root, info, `${title} ${at}`);
    return pages.length;
  }

  #copyOf(pdf: PdfDocument, source: ByteSource, part: FilePart): PartCopy {
    const importer = new Importer(pdf, source, this.#out);
    const list = pageList(importer);
    const pages = list.map(({ reference }) => importer.announcePage(reference));
    const plan = part.blank === true ? { omitted: new Set<number>() } : planForm(importer);
    const copying = {
      out: this.#out,
      tree: this.#tree,
      font: this.#font,
      fontReference: referenceText(this.#fontReference),
      draw: part.draw,
      blank: part.blank,
      omitted: plan.omitted,
      patience: new Patience(),
    };
    if (part.blank === true) {
      copyPages(importer, list, pages, copying);
      importer.copyAll();
      return { ...NOTHING, pages, outline: titled(part.outline, pages, []) };
    }
    const taken = new Set(this.#parts.flatMap(({ form }) => form?.names ?? []));
    const form = 'signed' in plan ? copyForm(importer, plan, taken) : undefined;
    const outline = copyOutline(importer);
    const language = pdf.catalog.get('Lang');
    const copy = {
      pages,
      form,
      outline: titled(part.outline, pages, outline),
      layers: copyLayers(importer),
      attachments: copyAttachments(importer),
      associated: copyAssociated(importer),
      labels: copyLabels(importer),
      language: language && sourceText(pdf.resolve(language)),
      isVersion2: source.read(0, 1024).toString('latin1').includes('%PDF-2'),
    };
    copyPages(importer, list, pages, copying);
    importer.copyAll();
    return copy;
  }

  #drawn({ width, height, items }: DrawnPage): Reference {
    const out = this.#out;
    const { operators, resources, links } = drawItems(
      items,
      height,
      this.#font,
      referenceText(this.#fontReference),
      out,
    );
    const contents = out.add(packedStream('', Buffer.from(operators, 'latin1')));
    const notes = links.map(({ box, uri }) => referenceText(out.add(linkAnnotation(box, uri))));
    return out.add(
      `<</Type/Page/Parent ${referenceText(this.#tree)}/MediaBox[0 0 ${numberText(width)} ${numberText(height)}]` +
        `/Resources<<${resources}>>/Contents ${referenceText(contents)}` +
        `${notes.length === 0 ? '' : `/Annots[${notes.join(' ')}]`}>>`,
    );
  }
}

/** The entries of a file below one for the file itself. */
function titled(
  title: string | undefined,
  pages: readonly Reference[],
  kids: readonly OutlineEntry[],
): readonly OutlineEntry[] {
  const [first] = pages;
  if (title === undefined || first === undefined) return kids;
  return [{ keys: `/Title${textString(title)}/Dest[${referenceText(first)}/Fit]`, kids, isOpen: false }];
}

/** A date as PDF writes it (7.9.4). */
function dateText(at: number): string {
  return `(D:${new Date(at).toISOString().replace(/\D/g, '').slice(0, 14)}Z)`;
}
