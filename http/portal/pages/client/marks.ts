/**
 * Starts the page on which signatures are placed, and hands the request back with the places filled in.
 *
 * Source: portal-gaps §6 (pre-positioned mark), §9 (`marksPositioned`).
 */

import type { MarksScriptWords } from '../texts/words.ts';
import { part } from './dom.ts';
import type { PageSize } from './initials.ts';
import { type BoxWatcher, type MarkPlace, showMarkBox } from './mark-boxes.ts';
import { filled, pageData } from './page-data.ts';
import { tellParent } from './parent-window.ts';
import { type ShownPdf, showPdf } from './pdf-view.ts';

type MarkType = 'SignatureVisualRepresentation' | 'SignatureInitials';

interface Mark extends MarkPlace {
  readonly type: MarkType;
  /** Null: on every file. */
  readonly uploadId: string | null;
}

/** As the request has it: for every file where it names none, on the last page where it names none. */
type AskedMark = Omit<Mark, 'uploadId' | 'pageNumber'> & {
  readonly uploadId?: string | null;
  readonly pageNumber?: number | null;
};

interface Asked {
  readonly flowActions?: readonly { readonly prePositionedMarks?: readonly AskedMark[] | null }[];
}

interface MarksData {
  readonly files: readonly { readonly id: string; readonly location: string }[];
  readonly asked: Asked;
  readonly people: readonly string[];
  readonly embedOrigins: readonly string[];
  readonly words: MarksScriptWords;
}

/** Points; the larger one holds two lines of text. */
const SIZES: { readonly [Type in MarkType]: PageSize } = {
  SignatureVisualRepresentation: { width: 170, height: 56 },
  SignatureInitials: { width: 60, height: 28 },
};

/** Until the file is shown, it is not known which one that is. */
const LAST_PAGE = 0;

const { files, asked, people, embedOrigins, words } = pageData<MarksData>();
const file = part('#file');
const person = part('#person');
const state = part('#state');
const pages = part('#pages');

/** Of each person, in the order of the request. */
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
    part('#main').setAttribute('data-shown', wanted.id);
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
  return { name, box: showMarkBox(shown, sizes, mark, name, watcher) };
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

part('#add-signature').addEventListener('click', () => add('SignatureVisualRepresentation'));
part('#add-initials').addEventListener('click', () => add('SignatureInitials'));
file.addEventListener('change', () => void showFile());
part('#finish').addEventListener('click', () => {
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
  tellParent({ type: 'marksPositioned', data: { ...asked, flowActions } }, embedOrigins);
  state.textContent = words.finished;
});
await showFile();
