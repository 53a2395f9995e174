/**
 * Starts the page for placing marks, and returns the request with the positions.
 *
 * Source: docs/portal-values.md §6 (pre-positioned mark), §9 (`marksPositioned`).
 */

import type { Texts } from '../../../../contracts/texts/texts.ts';
import { filled } from '../../../pages/portal/texts.ts';
import './early-pdf.ts';
import { requireElement } from '../../dom.ts';
import type { PageSize } from '../initials.ts';
import { type BoxWatcher, type MarkPlace, showMarkBox } from '../mark-boxes.ts';
import { pageData } from '../page-data.ts';
import { notifyParent } from '../parent-window.ts';
import { type ShownPdf, showPdf } from '../pdf-view.ts';

type MarkType = 'SignatureVisualRepresentation' | 'SignatureInitials';

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

const { files, asked, people, embedOrigins, words } = pageData<MarksData>();
const file = requireElement('#file', HTMLSelectElement);
const person = requireElement('#person', HTMLSelectElement);
const state = requireElement('#state');
const pages = requireElement('#pages');

/** Marks of each participant, in the order of the request. */
const placed: Mark[][] = people.map((_, index) =>
  (asked.flowActions?.[index]?.prePositionedMarks ?? []).map((mark) => ({
    ...mark,
    uploadId: mark.uploadId ?? null,
    pageNumber: mark.pageNumber ?? LAST_PAGE,
  })),
);
let shown: ShownPdf | undefined;
let sizes: readonly PageSize[] = [];

async function showFile(): Promise<void> {
  const wanted = files[Number(file.value)];
  pages.replaceChildren();
  shown = undefined;
  if (wanted === undefined) return;
  try {
    const view = await showPdf(pages, wanted.location, words);
    sizes = await view.pageSizes();
    shown = view;
    for (const [index, marks] of placed.entries()) {
      for (const mark of marks) {
        if (mark.uploadId !== null && mark.uploadId !== wanted.id) continue;
        if (mark.pageNumber === LAST_PAGE) mark.pageNumber = view.count;
        show(mark, index);
      }
    }
    requireElement('#main').setAttribute('data-shown', wanted.id);
  } catch {
    state.textContent = words.cannotShow;
  }
}

function show(mark: Mark, index: number) {
  if (shown === undefined) return undefined;
  const name = filled(mark.type === 'SignatureInitials' ? words.initials : words.signature, {
    name: people[index] ?? '',
  });
  const watcher: BoxWatcher = {
    moved({ pageNumber, topLeftX, topLeftY }) {
      const values = { mark: name, page: pageNumber, x: Math.round(topLeftX), y: Math.round(topLeftY) };
      state.textContent = filled(words.moved, values);
    },
    removed() {
      placed[index] = (placed[index] ?? []).filter((other) => other !== mark);
      state.textContent = filled(words.removed, { mark: name });
      person.focus();
    },
  };
  return { name, box: showMarkBox(shown, sizes, { place: mark, label: name, watcher }) };
}

function add(type: MarkType): void {
  const index = Number(person.value);
  const upload = files[Number(file.value)];
  if (shown === undefined || upload === undefined || people[index] === undefined) return;
  const pageNumber = shown.current();
  const page = sizes[pageNumber - 1];
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
  placed[index]?.push(mark);
  const made = show(mark, index);
  made?.box.focus();
  state.textContent = filled(words.placed, { mark: made?.name ?? '', page: pageNumber });
}

requireElement('#add-signature').addEventListener('click', () => add('SignatureVisualRepresentation'));
requireElement('#add-initials').addEventListener('click', () => add('SignatureInitials'));
file.addEventListener('change', () => void showFile());
requireElement('#finish').addEventListener('click', () => {
  if (placed.every((marks) => marks.length === 0)) {
    state.textContent = words.none;
    return;
  }
  const flowActions = (asked.flowActions ?? []).map((action, index) => ({
    ...action,
    prePositionedMarks: (placed[index] ?? []).map((mark) => ({
      ...mark,
      pageNumber: mark.pageNumber === LAST_PAGE ? null : mark.pageNumber,
    })),
  }));
  notifyParent({ type: 'marksPositioned', data: { ...asked, flowActions } }, embedOrigins);
  state.textContent = words.finished;
});
await showFile();
