/** Fields on the pages of a PDF: placed, chosen, moved and resized by mouse, finger and keyboard. */
import { render } from 'preact';
import { Icon } from '../../../components/icon.tsx';
import type { IconName } from '../../../components/icons.ts';
import { filled, type PlacedKind } from '../../../pages/portal/texts.ts';
import { createElement, delay } from '../../dom.ts';
import type { PageSize } from '../initials.ts';
import { changeByKey, type MarkPlace, withinPage } from '../mark-boxes.ts';
import { type ShownPdf, showPdf } from '../pdf-view.ts';
import { canHave, newItem, type PlacedItem, SIZES } from './editor-model.ts';
import type { EditorPage } from './editor-page.ts';
import { alignTo, freePlace, type Guides } from './field-places.ts';

export const KIND_ICONS: { readonly [Kind in PlacedKind]: IconName } = {
  Signature: 'signature',
  SignatureInitials: 'case-sensitive',
  Text: 'text-cursor-input',
  Number: 'hash',
  Date: 'calendar',
  Checkbox: 'square-check',
  Choice: 'list',
  Initials: 'pen-line',
  Attachment: 'paperclip',
};

interface Shown {
  readonly id: string;
  readonly view: ShownPdf;
  readonly sizes: readonly PageSize[];
}

interface PlacedBox {
  readonly item: PlacedItem;
  readonly colour: string;
}

/** A box under the pointer. */
interface Drag {
  readonly item: PlacedItem;
  readonly isResize: boolean;
  readonly x: number;
  readonly y: number;
  readonly from: MarkPlace;
  /** Changes of one drag are undone together. */
  readonly name: string;
}

/** Percentages of a zoom button. */
const ZOOMS = [50, 75, 100, 125, 150, 200, 300];
const PIXELS_PER_POINT = 96 / 72;

export class PageBoxes {
  shown: Shown | undefined;
  /** Id of the upload whose pages are shown or loaded. */
  file = '';
  failed = false;
  #layers = new Map<number, HTMLElement>();
  /** Keys of the fields of each page as they were drawn last. */
  #orders = new Map<number, readonly number[]>();
  #drag: Drag | undefined;
  #drags = 0;
  #guides: (Guides & { readonly pageNumber: number }) | undefined;

  constructor(private readonly page: EditorPage) {}

  /** Files that have pages, in order. */
  get pdfs() {
    const { model, locations } = this.page;
    return model.files.filter(
      ({ contentType, id }) => contentType === 'application/pdf' && locations.has(id),
    );
  }

  get count(): number {
    return this.shown?.view.count ?? 0;
  }

  /** Shows the pages of a file. @param container in which they are */
  async load(container: HTMLElement, id: string): Promise<void> {
    this.file = id;
    this.shown = undefined;
    this.failed = false;
    this.#layers = new Map();
    this.#orders = new Map();
    container.removeAttribute('data-shown');
    container.replaceChildren();
    const { page } = this;
    if (id === '') return;
    try {
      const view = await showPdf(container, page.locations.get(id) ?? '', page.words);
      const sizes = await view.pageSizes();
      if (this.file !== id) return;
      for (const item of page.people.flatMap(({ items }) => items))
        if (item.uploadId === id && item.pageNumber === 0) item.pageNumber = sizes.length;
      this.shown = { id, view, sizes };
      container.setAttribute('data-shown', id);
    } catch {
      if (this.file !== id) return;
      this.failed = true;
    }
    page.show();
  }

  /** Draws the fields of the shown file, each page in its own layer. */
  draw(): void {
    const { shown, page } = this;
    if (shown === undefined) return;
    const byPage = new Map<number, PlacedBox[]>();
    for (const person of page.people)
      for (const item of person.items)
        if (item.uploadId === shown.id) {
          const list = byPage.get(item.pageNumber) ?? [];
          list.push({ item, colour: page.colourOf(person) });
          byPage.set(item.pageNumber, list);
        }
    for (const number of new Set([...byPage.keys(), ...this.#layers.keys()])) {
      const size = shown.sizes[number - 1];
      const layer = this.#layerOf(shown, number);
      if (size === undefined || layer === undefined) continue;
      const boxes = this.#ordered(number, layer, byPage.get(number) ?? []);
      const guides = this.#guides?.pageNumber === number ? this.#guides : undefined;
      render(
        <>
          {boxes.map(({ item, colour }) => (
            <Box key={item.key} boxes={this} page={page} item={item} colour={colour} size={size} />
          ))}
          {guides?.x.map((x) => (
            <i key={`x${x}`} class="guide x" style={{ left: `${(100 * x) / size.width}%` }} />
          ))}
          {guides?.y.map((y) => (
            <i key={`y${y}`} class="guide y" style={{ top: `${(100 * y) / size.height}%` }} />
          ))}
        </>,
        layer,
      );
    }
  }

  /**
   * Fields of a page in reading order, which the Tab key follows. The order stays while one of them has the focus or is
   * dragged: an element that moves in the document loses both.
   */
  #ordered(number: number, layer: HTMLElement, boxes: readonly PlacedBox[]): readonly PlacedBox[] {
    const before = this.#orders.get(number) ?? [];
    const isHeld = this.#drag !== undefined || layer.contains(document.activeElement);
    const placeOf = ({ key }: PlacedItem) => (before.indexOf(key) + before.length + 1) % (before.length + 1);
    const sorted = boxes.toSorted(({ item: one }, { item: other }) =>
      isHeld ? placeOf(one) - placeOf(other) : one.topLeftY - other.topLeftY || one.topLeftX - other.topLeftX,
    );
    this.#orders.set(
      number,
      sorted.map(({ item }) => item.key),
    );
    return sorted;
  }

  #layerOf({ view }: Shown, number: number): HTMLElement | undefined {
    const known = this.#layers.get(number);
    if (known !== undefined) return known;
    const frame = view.frame(number);
    if (frame === undefined) return undefined;
    const layer = createElement('div', { class: 'placed-fields' });
    frame.append(layer);
    this.#layers.set(number, layer);
    return layer;
  }

  /** Other fields of the page of an item. */
  #others(item: PlacedItem): readonly PlacedItem[] {
    return this.page.people
      .flatMap(({ items }) => items)
      .filter(
        (other) => other !== item && other.uploadId === item.uploadId && other.pageNumber === item.pageNumber,
      );
  }

  /** Puts a field of the chosen person on a page. @param at its middle, points; undefined: a free place */
  add(kind: PlacedKind, pageNumber: number, at?: { readonly x: number; readonly y: number }): void {
    const { page, shown } = this;
    const person = page.chosen;
    const size = shown?.sizes[pageNumber - 1];
    if (shown === undefined || person === undefined || size === undefined || !canHave(person, kind)) return;
    const item: PlacedItem = {
      ...newItem(kind),
      uploadId: shown.id,
      pageNumber,
      topLeftX: 0,
      topLeftY: 0,
      ...SIZES[kind],
    };
    const corner =
      at === undefined
        ? freePlace(size, item, this.#others(item))
        : { topLeftX: at.x - item.width / 2, topLeftY: at.y - item.height / 2 };
    this.#place(item, withinPage({ ...item, ...corner }, size));
    page.change(() => person.items.push(item));
    this.choose(item);
    const field = page.words.kinds[kind];
    const values = { field, name: page.nameOf(person), page: pageNumber };
    page.said = filled(page.words.placed, values);
    page.show();
    this.focus(item);
  }

  #place(item: PlacedItem, { topLeftX, topLeftY, width, height, pageNumber }: MarkPlace): void {
    Object.assign(item, { topLeftX, topLeftY, width, height, pageNumber });
  }

  choose(item: PlacedItem): void {
    const { page } = this;
    if (page.selected === item) return;
    page.selected = item;
    page.endRow();
    const owner = page.ownerOf(item);
    if (owner !== undefined) page.person = page.people.indexOf(owner);
    page.show();
  }

  focus(item: PlacedItem): void {
    delay(0, () => document.getElementById(`field-${item.key}`)?.focus());
  }

  /** Puts a copy beside the field. */
  duplicate(item: PlacedItem): void {
    const { page, shown } = this;
    const owner = page.ownerOf(item);
    const size = shown?.sizes[item.pageNumber - 1];
    if (owner === undefined || size === undefined) return;
    const copy = copyOf(item);
    const moved = { ...copy, topLeftY: copy.topLeftY + copy.height + 8 };
    this.#place(copy, withinPage(moved, size));
    page.change(() => owner.items.push(copy));
    this.choose(copy);
    this.focus(copy);
  }

  /** Puts a copy on each other page, at the same place. */
  copyToAll(item: PlacedItem): void {
    const { page, shown } = this;
    const owner = page.ownerOf(item);
    if (owner === undefined || shown === undefined) return;
    const copies = shown.sizes.flatMap((size, index) => {
      if (index + 1 === item.pageNumber) return [];
      const copy = copyOf(item);
      this.#place(copy, withinPage({ ...copy, pageNumber: index + 1 }, size));
      return [copy];
    });
    page.said = filled(page.words.copied, { field: page.labelOf(item), count: copies.length });
    page.change(() => owner.items.push(...copies));
  }

  pressed(event: PointerEvent, item: PlacedItem): void {
    if (event.button !== 0) return;
    const target = event.currentTarget as HTMLElement;
    target.setPointerCapture(event.pointerId);
    const isResize = event.target instanceof Element && event.target.closest('.corner') !== null;
    this.#drags += 1;
    const { topLeftX, topLeftY, width, height, pageNumber } = item;
    const from = { topLeftX, topLeftY, width, height, pageNumber };
    this.#drag = { item, isResize, x: event.clientX, y: event.clientY, from, name: `drag ${this.#drags}` };
  }

  dragged(event: PointerEvent): void {
    const drag = this.#drag;
    const { shown, page } = this;
    const size = drag && shown?.sizes[drag.item.pageNumber - 1];
    if (drag === undefined || shown === undefined || size === undefined) return;
    const scale = shown.view.scale(drag.item.pageNumber);
    const x = (event.clientX - drag.x) / scale;
    const y = (event.clientY - drag.y) / scale;
    const { from, item } = drag;
    if (x === 0 && y === 0) return;
    if (drag.isResize) {
      const wanted = { ...from, width: from.width + x, height: from.height + y };
      page.change(() => this.#place(item, resized(wanted, size)), drag.name);
      return;
    }
    const wanted = withinPage({ ...from, topLeftX: from.topLeftX + x, topLeftY: from.topLeftY + y }, size);
    // With Alt the field does not jump to lines of others.
    const aligned = alignTo(wanted, this.#others(item), size, event.altKey ? 0 : undefined);
    this.#guides = { ...aligned.guides, pageNumber: item.pageNumber };
    page.change(() => this.#place(item, { ...wanted, topLeftX: aligned.x, topLeftY: aligned.y }), drag.name);
  }

  released(): void {
    const drag = this.#drag;
    if (drag === undefined) return;
    this.#drag = undefined;
    this.#guides = undefined;
    this.page.endRow();
    this.#tellPlace(drag.item);
  }

  keyed(event: KeyboardEvent, item: PlacedItem): void {
    const { page, shown } = this;
    if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault();
      const next = this.#others(item)[0];
      page.removeItem(item);
      if (next === undefined) document.getElementById(`add-${item.kind}`)?.focus();
      else this.focus(next);
      return;
    }
    const by = shown && changeByKey(event, item.pageNumber, shown.view.count);
    const size = by && shown?.sizes[by.pageNumber - 1];
    if (by === undefined || size === undefined) return;
    event.preventDefault();
    const wanted = {
      topLeftX: item.topLeftX + by.topLeftX,
      topLeftY: item.topLeftY + by.topLeftY,
      width: item.width + by.width,
      height: item.height + by.height,
      pageNumber: by.pageNumber,
    };
    const hasNewPage = by.pageNumber !== item.pageNumber;
    const place = event.shiftKey ? resized(wanted, size) : withinPage(wanted, size);
    page.change(() => this.#place(item, place), `keys ${item.key}`);
    this.#guides = { ...alignTo(item, this.#others(item), size, 0).guides, pageNumber: item.pageNumber };
    this.#tellPlace(item);
    if (hasNewPage) this.focus(item);
  }

  /** Hides the lines that the keyboard shows. */
  left(): void {
    if (this.#guides === undefined || this.#drag !== undefined) return;
    this.#guides = undefined;
    this.page.show();
  }

  #tellPlace(item: PlacedItem): void {
    const at = { x: Math.round(item.topLeftX), y: Math.round(item.topLeftY), page: item.pageNumber };
    this.page.said = filled(this.page.words.moved, { field: this.page.labelOf(item), ...at });
    this.page.show();
  }

  /** Per cent of the size on paper. */
  get percent(): number {
    const view = this.shown?.view;
    return Math.round((100 * (view?.scale(view.current()) ?? PIXELS_PER_POINT)) / PIXELS_PER_POINT);
  }

  zoom(by: -1 | 0 | 1): void {
    const { percent } = this;
    const next = by > 0 ? ZOOMS.find((one) => one > percent + 1) : ZOOMS.findLast((one) => one < percent - 1);
    const view = this.shown?.view;
    const current = view?.current() ?? 1;
    view?.setZoom(by === 0 ? 'PageWidth' : String(next ?? percent));
    view?.goTo(current);
    this.page.show();
  }
}

function copyOf(item: PlacedItem): PlacedItem {
  const { given: _given, ...content } = item;
  return { ...content, key: newItem(item.kind).key };
}

/** A box that grows beyond the page stops at its edge instead of moving. */
function resized(place: MarkPlace, page: PageSize): MarkPlace {
  const width = Math.min(place.width, page.width - place.topLeftX);
  const height = Math.min(place.height, page.height - place.topLeftY);
  return withinPage({ ...place, width, height }, page);
}

function Box({
  boxes,
  page,
  item,
  colour,
  size,
}: {
  boxes: PageBoxes;
  page: EditorPage;
  item: PlacedItem;
  colour: string;
  size: PageSize;
}) {
  const owner = page.ownerOf(item);
  const label = page.labelOf(item);
  const name = owner === undefined ? '' : page.nameOf(owner);
  const isSelected = page.selected === item;
  return (
    <button
      type="button"
      id={`field-${item.key}`}
      class="placed"
      aria-pressed={isSelected ? 'true' : 'false'}
      aria-label={filled('{field}: {name}', { field: label, name })}
      aria-describedby="keys"
      data-kind={item.kind}
      style={{
        '--p': colour,
        left: `${(100 * item.topLeftX) / size.width}%`,
        top: `${(100 * item.topLeftY) / size.height}%`,
        width: `${(100 * item.width) / size.width}%`,
        height: `${(100 * item.height) / size.height}%`,
      }}
      onPointerDown={(event) => {
        boxes.choose(item);
        boxes.pressed(event, item);
      }}
      onPointerMove={(event) => boxes.dragged(event)}
      onPointerUp={() => boxes.released()}
      onPointerCancel={() => boxes.released()}
      onKeyDown={(event) => boxes.keyed(event, item)}
      onFocus={() => boxes.choose(item)}
      onBlur={() => boxes.left()}
      onContextMenu={(event) => event.preventDefault()}
    >
      {(item.kind === 'Signature' || item.kind === 'SignatureInitials') && (
        <Icon name={KIND_ICONS[item.kind]} size="s" />
      )}
      <span class="cut">{item.kind === 'Signature' ? name : item.value || label}</span>
      {item.required && item.kind !== 'Signature' && item.kind !== 'SignatureInitials' && (
        <span class="star" aria-hidden="true">
          *
        </span>
      )}
      {isSelected && <span class="corner" aria-hidden="true" />}
    </button>
  );
}
