/**
 * Starts the page for placing marks, and returns the request with the positions.
 *
 * Source: docs/portal-values.md §6 (pre-positioned mark), §9 (`marksPositioned`).
 */

import type { Texts } from '../../../../contracts/texts/texts.ts';
import {
  type MarksActions,
  MarksEditor,
  type MarksProps,
  type MarkType,
} from '../../../pages/portal/marks-editor.tsx';
import { filled } from '../../../pages/portal/texts.ts';
import { hydrateIslands } from '../../islands.tsx';
import type { PageSize } from '../initials.ts';
import { type BoxWatcher, type MarkBox, type MarkPlace, showMarkBox } from '../mark-boxes.ts';
import { pageData } from '../page-data.ts';
import { notifyParent } from '../parent-window.ts';
import { pdfLibrary } from '../pdf-library.ts';
import { type ShownPdf, showPdf } from '../pdf-view.ts';

interface Mark extends MarkPlace {
  readonly type: MarkType;
  /** Null: on every file. */
  readonly uploadId: string | null;
}

/** Position as in the request: on every file where it names none, on the last page where it names none. */
type RequestedMark = Omit<Mark, 'uploadId' | 'pageNumber'> & {
  readonly uploadId?: string | null;
  readonly pageNumber?: number | null;
};

interface RequestedFlow {
  readonly flowActions?: readonly { readonly prePositionedMarks?: readonly RequestedMark[] | null }[];
}

interface MarksData {
  readonly files: readonly { readonly id: string; readonly location: string }[];
  readonly asked: RequestedFlow;
  readonly people: readonly string[];
  readonly embedOrigins: readonly string[];
  readonly words: Texts['pages']['marks']['script'];
}

/** Size of a mark, points; the larger one holds two lines of text. */
const SIZES: { readonly [Type in MarkType]: PageSize } = {
  SignatureVisualRepresentation: { width: 170, height: 56 },
  SignatureInitials: { width: 60, height: 28 },
};

/** The index is unknown until the file is displayed. */
const LAST_PAGE = 0;

void pdfLibrary().catch(() => undefined);
const { files, asked, people, embedOrigins, words } = pageData<MarksData>();

class PlacedMarks implements MarksActions {
  /** Marks of each participant, in the order of the request. */
  readonly #placed: Mark[][] = people.map((_, index) =>
    (asked.flowActions?.[index]?.prePositionedMarks ?? []).map((mark) => ({
      ...mark,
      uploadId: mark.uploadId ?? null,
      pageNumber: mark.pageNumber ?? LAST_PAGE,
    })),
  );
  #shown: ShownPdf | undefined;
  #sizes: readonly PageSize[] = [];
  /** Counts the files that were chosen: an earlier one that is loaded late is not shown. */
  #turn = 0;

  constructor(private readonly told: (text: string, isRemoved?: boolean) => void) {}

  async show(pages: HTMLElement, file: number): Promise<void> {
    const wanted = files[file];
    pages.replaceChildren();
    this.#shown = undefined;
    this.#turn += 1;
    const turn = this.#turn;
    if (wanted === undefined) return;
    try {
      const view = await showPdf(pages, wanted.location, words);
      const sizes = await view.pageSizes();
      if (turn !== this.#turn) return;
      this.#sizes = sizes;
      this.#shown = view;
      for (const [index, marks] of this.#placed.entries()) {
        for (const mark of marks) {
          if (mark.uploadId !== null && mark.uploadId !== wanted.id) continue;
          if (mark.pageNumber === LAST_PAGE) mark.pageNumber = view.count;
          this.#draw(view, mark, index);
        }
      }
      pages.setAttribute('data-shown', wanted.id);
    } catch {
      if (turn === this.#turn) this.told(words.cannotShow);
    }
  }

  add(type: MarkType, file: number, person: number): void {
    const upload = files[file];
    const shown = this.#shown;
    if (shown === undefined || upload === undefined || people[person] === undefined) return;
    const pageNumber = shown.current();
    const page = this.#sizes[pageNumber - 1];
    if (page === undefined) return;
    const size = SIZES[type];
    const mark: Mark = {
      type,
      uploadId: upload.id,
      pageNumber,
      topLeftX: (page.width - size.width) / 2,
      topLeftY: (page.height - size.height) / 2,
      ...size,
    };
    this.#placed[person]?.push(mark);
    this.#draw(shown, mark, person).focus();
    this.told(filled(words.placed, { mark: nameOf(mark, person), page: pageNumber }));
  }

  finish(): void {
    if (this.#placed.every((marks) => marks.length === 0)) {
      this.told(words.none);
      return;
    }
    const flowActions = (asked.flowActions ?? []).map((action, index) => ({
      ...action,
      prePositionedMarks: (this.#placed[index] ?? []).map((mark) => ({
        ...mark,
        pageNumber: mark.pageNumber === LAST_PAGE ? null : mark.pageNumber,
      })),
    }));
    notifyParent({ type: 'marksPositioned', data: { ...asked, flowActions } }, embedOrigins);
    this.told(words.finished);
  }

  #draw(shown: ShownPdf, mark: Mark, person: number): MarkBox {
    const name = nameOf(mark, person);
    const watcher: BoxWatcher = {
      moved: ({ pageNumber, topLeftX, topLeftY }) => {
        const values = { mark: name, page: pageNumber, x: Math.round(topLeftX), y: Math.round(topLeftY) };
        this.told(filled(words.moved, values));
      },
      removed: () => {
        this.#placed[person] = (this.#placed[person] ?? []).filter((other) => other !== mark);
        this.told(filled(words.removed, { mark: name }), true);
      },
    };
    return showMarkBox(shown, this.#sizes, { place: mark, label: name, watcher });
  }
}

function nameOf({ type }: Mark, person: number): string {
  const text = type === 'SignatureInitials' ? words.initials : words.signature;
  return filled(text, { name: people[person] ?? '' });
}

hydrateIslands({
  marks: (props: MarksProps) => <MarksEditor {...props} start={(told) => new PlacedMarks(told)} />,
});
