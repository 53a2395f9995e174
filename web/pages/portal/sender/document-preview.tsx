/**
 * The file of a document beside its facts, page by page, with the places at which people are still to act. The server renders
 * an empty sheet; the script of the page draws into it.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DocumentView } from '../../../../contracts/portal/documents.ts';
import { Button } from '../../../components/controls.tsx';
import { filled, type SenderTexts } from '../texts.ts';

/** A place on a page, in points from its top left corner. */
interface Place {
  readonly text: string;
  /** Place of the person in the order of the flow; persons have colours. */
  readonly person: number;
  /** From 1; null: the last page. */
  readonly pageNumber: number | null;
  readonly topLeftX: number;
  readonly topLeftY: number;
  readonly width: number;
  readonly height: number;
}

export interface PreviewProps {
  /** Changes with the file. */
  readonly version: string;
  readonly places: readonly Place[];
  readonly texts: {
    readonly label: string;
    readonly pageOf: string;
    readonly previous: string;
    readonly next: string;
    /** In place of a page that cannot be drawn. */
    readonly failed: string;
  };
}

/** A page that was drawn, with its size in points. */
export interface DrawnPage {
  /** From 1. */
  readonly number: number;
  readonly canvas: HTMLElement;
  readonly width: number;
  readonly height: number;
  readonly count: number;
}

/** Colours of persons in web/styles/tokens.css. */
const COLOURS = 8;
/** Most places that are shown; a document may have a mark on each of its pages. */
const MAX_PLACES = 500;

/** Marks and fields of those who have not acted; what the others did is in the file. */
export function placesOf({ flowActions }: DocumentView, texts: SenderTexts): readonly Place[] {
  const { kinds } = texts.editor.script;
  const places = flowActions.flatMap(({ status, user, ruleName, marks, fields }, person): Place[] => {
    if (status === 'Completed' || status === 'Skipped') return [];
    const who = ruleName ?? user?.name ?? user?.email ?? '';
    const all = [
      ...marks.map((mark) => ({
        mark,
        what: mark.type === 'SignatureInitials' ? kinds.SignatureInitials : kinds.Signature,
      })),
      ...(fields ?? []).map((field) => ({ mark: field, what: field.label })),
    ];
    return all.flatMap(({ mark, what }) => {
      const { topLeftX, topLeftY, width, height, pageNumber } = mark;
      // The place of a field of the PDF's own form is in the file.
      if (topLeftX === null || topLeftY === null || width === null || height === null) return [];
      const text = who === '' ? what : `${what}: ${who}`;
      return [{ text, person, pageNumber, topLeftX, topLeftY, width, height }];
    });
  });
  return places.slice(0, MAX_PLACES);
}

/** @param draw draws a page, from 1. Undefined: the server renders */
export function DocumentPreview({
  version,
  places,
  texts,
  draw,
}: PreviewProps & { draw?: (page: number) => Promise<DrawnPage> }) {
  const sheet = useRef<HTMLDivElement>(null);
  const [page, setPage] = useState(1);
  const [drawn, setDrawn] = useState<DrawnPage>();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    let isOver = false;
    draw?.(page).then(
      (next) => {
        if (isOver) return;
        setDrawn(next);
        setFailed(false);
      },
      () => {
        if (!isOver) setFailed(true);
      },
    );
    return () => {
      isOver = true;
    };
  }, [version, page]);
  useEffect(() => {
    if (drawn !== undefined) sheet.current?.replaceChildren(drawn.canvas);
  }, [drawn]);
  const count = drawn?.count ?? 1;
  return (
    <figure class="preview" aria-label={texts.label}>
      {hasFailed && (
        <p class="trouble" role="status">
          {texts.failed}
        </p>
      )}
      <div class={drawn === undefined ? 'shown-page skeleton' : 'shown-page'} hidden={hasFailed}>
        <div ref={sheet} />
        {drawn !== undefined &&
          places
            .filter(({ pageNumber }) => (pageNumber ?? count) === drawn.number)
            .map((place) => <PlaceOnPage place={place} size={drawn} />)}
      </div>
      {count > 1 && (
        <figcaption class="row">
          {/* A button that is disabled would lose the focus. */}
          <Button
            rank="quiet"
            icon="chevron-left"
            label={texts.previous}
            aria-disabled={page === 1}
            onClick={() => setPage(Math.max(1, page - 1))}
          />
          <span role="status">{filled(texts.pageOf, { page, count })}</span>
          <Button
            rank="quiet"
            icon="chevron-right"
            label={texts.next}
            aria-disabled={page === count}
            onClick={() => setPage(Math.min(count, page + 1))}
          />
        </figcaption>
      )}
    </figure>
  );
}

function PlaceOnPage({ place, size }: { place: Place; size: DrawnPage }) {
  const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;
  return (
    <span
      class="place"
      title={place.text}
      style={{
        '--p': `var(--who-${(place.person % COLOURS) + 1})`,
        left: percent(place.topLeftX, size.width),
        top: percent(place.topLeftY, size.height),
        width: percent(place.width, size.width),
        height: percent(place.height, size.height),
      }}
    >
      <bdi>{place.text}</bdi>
    </span>
  );
}
