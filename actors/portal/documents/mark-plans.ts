/** From what a caller sends about marks to places on pages of the document. Source: docs/portal-values.md §6. */

import type { NewFlowAction, NewMark } from '../../../contracts/portal/flow.ts';
import type { InitialsMode } from '../../../contracts/portal/words.ts';
import { invalidAction, PortalRefusal, tooMany } from '../../../machines/portal/portal-refusals.ts';
import type { FlowAction, Mark } from '../../../machines/portal/portal-types.ts';

/** Marks of one action, as many as a request can list; ours. */
const MAX_MARKS = 1000;

/** The marks that are for a file: those that name it, and those that name none. Pages count from the file's first. */
export interface MarkedFile {
  readonly uploadId: string;
  /** Pages of the document before the file's first; 0 for all but the later files of an envelope. */
  readonly pagesBefore: number;
  /** Pages of the file; undefined = it is the whole document, and a mark without a page is on its last. */
  readonly pages: number | undefined;
  /** Number of its last page, or a lower one that no mark exceeds; null = not counted. */
  readonly lastPage: number | null;
}

/** The marks that are for these files, by pages of the document. Refusals: `InvalidFlowAction`. */
export function planMarks(inputs: readonly NewMark[], files: readonly MarkedFile[]): readonly Mark[] {
  if (inputs.length > MAX_MARKS) throw tooMany('marks', MAX_MARKS);
  return inputs.flatMap((input) => {
    const mark = planMark(input);
    const wanted = input.uploadId?.toLowerCase();
    const named = wanted ? files.filter(({ uploadId }) => uploadId === wanted) : files;
    return named.map((file) => ({ ...mark, pageNumber: pageOfDocument(mark.pageNumber, file) }));
  });
}

/** Null = the last page of the document. Refusals: `InvalidFlowAction` for a page that the file does not have. */
function pageOfDocument(page: number | null, { pagesBefore, pages, lastPage }: MarkedFile): number | null {
  if (page === null) return pages === undefined ? null : pagesBefore + pages;
  if (lastPage !== null && page > lastPage)
    throw invalidAction(
      `A mark is on page ${page}, and its file has ${lastPage} ${lastPage === 1 ? 'page' : 'pages'}.`,
    );
  return page + pagesBefore;
}

/**
 * Asserts that initials on every page are no more marks than a signature can have: the signing page puts them there, where
 * none are placed before. Refusals: `LimitExceeded`.
 */
export function assertInitialsFit(
  mode: InitialsMode | null | undefined,
  marks: readonly Pick<Mark, 'type'>[],
  files: readonly MarkedFile[],
): void {
  if (!hasInitials(mode) || marks.some(({ type }) => type === 'SignatureInitials')) return;
  const pages = files.reduce((sum, file) => sum + (file.pages ?? file.lastPage ?? 0), 0);
  const most = MAX_MARKS - Math.max(1, marks.length);
  if (pages > most)
    throw new PortalRefusal(
      'LimitExceeded',
      `Initials on each page need a document of at most ${most} pages. Set signatureInitialsMode to None, or place the initials in prePositionedMarks.`,
    );
}

/** Marks and fields that stay when a document gets another file. */
interface PlacedContent extends Pick<FlowAction, 'marks'> {
  readonly fields?: FlowAction['fields'] | undefined;
}

/** Highest page of the marks and fields that stay; 0 = none. */
export function highestRemainingPage(remaining: readonly PlacedContent[]): number {
  const numbers = remaining.flatMap(({ marks, fields = [] }) => [
    ...marks.map(({ pageNumber }) => pageNumber ?? 0),
    ...fields.map(({ place }) => place?.pageNumber ?? 0),
  ]);
  return numbers.reduce((highest, page) => Math.max(highest, page), 0);
}

/** Refusals: `InvalidFlowAction` for marks and fields that stay, on a page that the new files do not have. */
export function assertRemainingPages(
  remaining: readonly PlacedContent[],
  files: readonly MarkedFile[],
): void {
  const highest = highestRemainingPage(remaining);
  const counts = files.map(({ pages, lastPage }) => pages ?? lastPage);
  if (counts.includes(null)) return;
  const last = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  if (highest > last)
    throw invalidAction(
      `A mark or a field of the document is on page ${highest}, and the new version has ${last} ${last === 1 ? 'page' : 'pages'}. Give a version that has this page, prePositionedMarks or textTags, or edit the flow of a pending document first.`,
    );
}

function hasInitials(mode: InitialsMode | null | undefined): boolean {
  return mode === 'Optional' || mode === 'Required';
}

/** Highest page that a mark or the initials of each page concern, as far as it has to be known; 0 = none. */
export function highestMarkedPage(
  marked: readonly Pick<NewFlowAction, 'prePositionedMarks' | 'fields' | 'signatureInitialsMode'>[],
): number {
  const numbers = marked.flatMap(({ prePositionedMarks, fields, signatureInitialsMode }) => [
    ...[...(prePositionedMarks ?? []), ...(fields ?? [])].map(({ pageNumber }) => pageNumber ?? 0),
    hasInitials(signatureInitialsMode) ? MAX_MARKS : 0,
  ]);
  return numbers.reduce((highest, page) => Math.max(highest, page), 0);
}

function planMark({ type, topLeftX, topLeftY, width, height, pageNumber, fontSize }: NewMark): Mark {
  const all = [topLeftX, topLeftY, width, height, fontSize ?? 1];
  if (!all.every(Number.isFinite) || width <= 0 || height <= 0) throw invalidAction('A mark has no extent.');
  if (
    pageNumber !== null &&
    pageNumber !== undefined &&
    (!Number.isSafeInteger(pageNumber) || pageNumber < 1)
  )
    throw invalidAction('Pages of marks are counted from 1.');
  return {
    topLeftX,
    topLeftY,
    width,
    height,
    type: type ?? 'SignatureVisualRepresentation',
    pageNumber: pageNumber ?? null,
    fontSize: fontSize ?? null,
  };
}
