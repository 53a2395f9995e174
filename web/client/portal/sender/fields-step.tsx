/** The step in which fields are placed: people and palette, the document, and the properties of the chosen field. */
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../../components/controls.tsx';
import { Icon } from '../../../components/icon.tsx';
import { counted, filled, type PlacedKind } from '../../../pages/portal/texts.ts';
import { acts, canHave } from './editor-model.ts';
import type { EditorPage } from './editor-page.ts';
import { FieldProperties } from './field-properties.tsx';
import { KIND_ICONS, type PageBoxes } from './page-boxes.tsx';

/** Type of the data that a dragged button carries. */
const DRAGGED = 'text/x-sealwright-field';
/** Width of a small page, CSS pixels. */
const THUMBNAIL_WIDTH = 88;
const KINDS = Object.keys(KIND_ICONS) as readonly PlacedKind[];

interface Props {
  readonly page: EditorPage;
  readonly boxes: PageBoxes;
}

export function FieldsStep({ page, boxes }: Props) {
  const { words, texts } = page;
  const container = useRef<HTMLDivElement>(null);
  const { pdfs } = boxes;
  const file = pdfs.some(({ id }) => id === boxes.file) ? boxes.file : (pdfs[0]?.id ?? '');
  useEffect(() => {
    if (container.current !== null && file !== boxes.file) void boxes.load(container.current, file);
  }, [file]);

  const show = (id: string) => {
    if (container.current !== null) void boxes.load(container.current, id);
    page.selected = undefined;
    page.show();
  };
  const dropped = (event: DragEvent) => {
    const kind = event.dataTransfer?.getData(DRAGGED) ?? '';
    const frame = event.target instanceof Element ? event.target.closest<HTMLElement>('.page') : null;
    if (kind === '' || frame === null || boxes.shown === undefined) return;
    event.preventDefault();
    const { left, top } = frame.getBoundingClientRect();
    const number = Number(frame.dataset['page']);
    const scale = boxes.shown.view.scale(number);
    const at = { x: (event.clientX - left) / scale, y: (event.clientY - top) / scale };
    boxes.add(kind as PlacedKind, number, at);
  };
  const state = pdfs.length === 0 ? words.noPdf : boxes.failed ? words.cannotShow : page.said;
  return (
    <div class="placing">
      <div class="pane start">
        {pdfs.length > 1 && (
          <div class="field">
            <label for="place-file">{texts.file}</label>
            <select id="place-file" value={file} onChange={({ currentTarget }) => show(currentTarget.value)}>
              {pdfs.map(({ id, displayName, name }) => (
                <option key={id} value={id}>
                  {displayName || name}
                </option>
              ))}
            </select>
          </div>
        )}
        <People page={page} />
        <Palette page={page} boxes={boxes} />
        {boxes.count > 0 && <Thumbnails key={boxes.shown?.id} page={page} boxes={boxes} />}
      </div>
      <div class="doc">
        {boxes.shown !== undefined && <Tools page={page} boxes={boxes} />}
        <p id="place-state" class="hint" role="status" aria-live="polite">
          {state}
        </p>
        <p id="keys" class="unseen">
          {texts.keys}
        </p>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a drop target beside the buttons that do the same. */}
        <div
          id="pages"
          ref={container}
          class="pages"
          onDragOver={(event) => {
            if (event.dataTransfer?.types.includes(DRAGGED)) event.preventDefault();
          }}
          onDrop={dropped}
        />
      </div>
      <div class={page.selected === undefined ? 'pane end none' : 'pane end'}>
        <FieldProperties page={page} boxes={boxes} />
      </div>
    </div>
  );
}

function People({ page }: Pick<Props, 'page'>) {
  const { texts } = page;
  const lang = document.documentElement.lang;
  return (
    <section aria-labelledby="for-whom">
      <h3 id="for-whom">{texts.forWhom}</h3>
      <ul class="whom scroll">
        {page.people.filter(acts).map((person) => (
          <li key={page.people.indexOf(person)}>
            <button
              type="button"
              class="person"
              style={{ '--p': page.colourOf(person) }}
              aria-pressed={page.chosen === person ? 'true' : 'false'}
              onClick={() => {
                page.person = page.people.indexOf(person);
                page.selected = undefined;
                page.show();
              }}
            >
              <span class="swatch" />
              <span class="grow">
                <b class="cut">
                  <bdi>{page.nameOf(person)}</bdi>
                </b>
                <span class="small muted cut">
                  {texts.order} {person.step} · {counted(lang, texts.fieldCount, person.items.length)}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Palette({ page, boxes }: Props) {
  const { texts, words, chosen } = page;
  const hasAll = chosen !== undefined && KINDS.every((kind) => canHave(chosen, kind));
  return (
    <section aria-labelledby="palette-title">
      <h3 id="palette-title">{texts.palette}</h3>
      <div id="palette" class="palette scroll">
        {KINDS.map((kind) => (
          <button
            key={kind}
            type="button"
            id={`add-${kind}`}
            data-kind={kind}
            disabled={boxes.shown === undefined || chosen === undefined || !canHave(chosen, kind)}
            draggable
            onDragStart={(event) => event.dataTransfer?.setData(DRAGGED, kind)}
            onClick={() => boxes.add(kind, boxes.shown?.view.current() ?? 1)}
          >
            <Icon name={KIND_ICONS[kind]} />
            {words.kinds[kind]}
          </button>
        ))}
      </div>
      {!hasAll && chosen !== undefined && <p class="hint">{words.noFields}</p>}
    </section>
  );
}

function Tools({ page, boxes }: Props) {
  const { texts, words } = page;
  const number = boxes.shown?.view.current() ?? 1;
  return (
    <div class="tools" role="group" aria-label={texts.tools}>
      <Button
        rank="quiet"
        icon="undo-2"
        label={texts.undo}
        disabled={!page.canUndo}
        onClick={() => page.undo()}
      />
      <Button
        rank="quiet"
        icon="redo-2"
        label={texts.redo}
        disabled={!page.canRedo}
        onClick={() => page.redo()}
      />
      <Button rank="quiet" icon="minus" label={texts.zoomOut} onClick={() => boxes.zoom(-1)} />
      <Button
        rank="quiet"
        aria-label={filled(texts.zoomFit, { percent: boxes.percent })}
        onClick={() => boxes.zoom(0)}
      >
        {boxes.percent} %
      </Button>
      <Button rank="quiet" icon="plus" label={texts.zoomIn} onClick={() => boxes.zoom(1)} />
      <span class="small muted count">{filled(words.pageOf, { page: number, count: boxes.count })}</span>
    </div>
  );
}

/** Small pages, each drawn when it comes into view. */
function Thumbnails({ page, boxes }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const { shown } = boxes;
  useEffect(() => {
    if (shown === undefined || list.current === null) return undefined;
    const drawer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        drawer.unobserve(target);
        void shown.view
          .thumbnail(Number(target.getAttribute('data-number')), THUMBNAIL_WIDTH)
          .then((canvas) => target.replaceChildren(canvas));
      }
    });
    for (const place of list.current.querySelectorAll('[data-number]')) drawer.observe(place);
    return () => drawer.disconnect();
  }, [shown]);
  return (
    <section class="small-pages" aria-labelledby="thumbnails-title">
      <h3 id="thumbnails-title">{page.texts.pages}</h3>
      <ol class="thumbnails" ref={list}>
        {Array.from({ length: boxes.count }, (_, index) => (
          <li key={index}>
            <button
              type="button"
              aria-label={filled(page.words.pageOf, { page: index + 1, count: boxes.count })}
              onClick={() => shown?.view.goTo(index + 1)}
            >
              <span data-number={index + 1} />
              {index + 1}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
