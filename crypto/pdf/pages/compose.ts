/**
 * Composes one PDF of several: pages of files, with optional overlays, and drawn pages.
 *
 * Kept: sizes and rotation of pages, links, outlines, form fields, layers, attachments, page labels. Not kept,
 * since they are only valid in the original file: signatures, encryption, logical structure, metadata, scripts.
 */
import { createTarget, openSource } from '../../core/files.ts';
import { CryptoError } from '../../core/types.ts';
import { type PdfDocument, withPdf } from '../document/document.ts';
import { TextFont } from '../fonts/shaped-text.ts';
import type { ByteSource } from '../syntax/objects.ts';
import { sourceText, textString } from '../syntax/strings.ts';
import type { Reference } from '../syntax/values.ts';
import { numberText, packedStream, referenceText } from '../update/incremental-update.ts';
import {
  catalogText,
  copyAssociated,
  copyAttachments,
  copyLabels,
  copyLayers,
  copyOutline,
  type OutlineEntry,
  type PartCopy,
} from './catalog.ts';
import { type DrawnItem, drawItems, linkAnnotation } from './drawing.ts';
import { copyForm, planForm } from './form-copy.ts';
import { Importer } from './import.ts';
import { NewPdf } from './new-pdf.ts';
import { copyPages, pageList, type ShownPage } from './page-copy.ts';
import { ByteBudget } from './unbalanced-content.ts';

/** The pages of a PDF. */
interface FilePart {
  /** Path of the PDF; an encrypted one must open without a password. */
  readonly path: string;
  /** Title of an outline entry above the outline of the file; without it, the outline stays at the top. */
  readonly outline?: string | undefined;
  /** Returns the overlay of a page. */
  readonly draw?: ((page: ShownPage) => readonly DrawnItem[]) | undefined;
  /** Omits the content of the pages, and all other objects of the file. */
  readonly blank?: boolean | undefined;
}

/** A page with drawn content only; points. */
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
  /** Creation time, milliseconds since the epoch. */
  readonly at: number;
  /** Most bytes of the new file. @default the limit of a cross-reference table */
  readonly maxBytes?: number;
}

export interface ComposedPdf {
  readonly pages: number;
  /** Pages of each part. */
  readonly pagesOfParts: readonly number[];
  /** Bytes. */
  readonly length: number;
}

const EMPTY_PART = {
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

/** Adds the number of the part to an error. */
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
        this.#out.rollbackTo(mark);
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
    this.#parts.push({ ...EMPTY_PART, pages: references, outline: titled(outline, references, []) });
  }

  /** @returns the number of pages */
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
      byteBudget: new ByteBudget(),
    };
    if (part.blank === true) {
      copyPages(importer, list, pages, copying);
      importer.copyAll();
      return { ...EMPTY_PART, pages, outline: titled(part.outline, pages, []) };
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
    const { operators, resources, links } = drawItems(items, height, {
      font: this.#font,
      fontReference: referenceText(this.#fontReference),
      sink: out,
    });
    const contents = out.add(packedStream('', Buffer.from(operators, 'latin1')));
    const notes = links.map(({ box, uri }) => referenceText(out.add(linkAnnotation(box, uri))));
    return out.add(
      `<</Type/Page/Parent ${referenceText(this.#tree)}/MediaBox[0 0 ${numberText(width)} ${numberText(height)}]` +
        `/Resources<<${resources}>>/Contents ${referenceText(contents)}` +
        `${notes.length === 0 ? '' : `/Annots[${notes.join(' ')}]`}>>`,
    );
  }
}

/** Nests the outline entries of a file below an entry for the file. */
function titled(
  title: string | undefined,
  pages: readonly Reference[],
  kids: readonly OutlineEntry[],
): readonly OutlineEntry[] {
  const [first] = pages;
  if (title === undefined || first === undefined) return kids;
  return [{ keys: `/Title${textString(title)}/Dest[${referenceText(first)}/Fit]`, kids, isOpen: false }];
}

/** Formats a date (7.9.4). */
function dateText(at: number): string {
  return `(D:${new Date(at).toISOString().replace(/\D/g, '').slice(0, 14)}Z)`;
}
