/** Fields on the pages of a PDF: added by a button or by dragging, moved and resized, listed with their settings. */

import { type EditorScriptTexts, filled, type PlacedKind } from '../../../pages/portal/texts.ts';
import { createElement, requireElement } from '../../dom.ts';
import type { PageSize } from '../initials.ts';
import { type MarkBox, showMarkBox } from '../mark-boxes.ts';
import { type ShownPdf, showPdf } from '../pdf-view.ts';
import {
  acts,
  canHave,
  type EditorModel,
  type EditorPerson,
  type PlacedItem,
  SIZES,
} from './editor-model.ts';

/** Distance between new fields, points. */
const GAP = 8;
/** Type of the data that a dragged button carries. */
const DRAGGED = 'text/x-sealwright-field';

export function startPlaces(
  model: EditorModel,
  words: EditorScriptTexts,
  locations: ReadonlyMap<string, string>,
): { refresh(): void } {
  const fileChoice = requireElement('#place-file', HTMLSelectElement);
  const personChoice = requireElement('#place-person', HTMLSelectElement);
  const places = requireElement('#places');
  const pages = requireElement('#pages');
  const state = requireElement('#place-state');
  const list = requireElement('#placed-list');
  const hint = requireElement('#no-fields');
  const palette = document.querySelectorAll<HTMLButtonElement>('#palette button[data-kind]');
  let shown:
    | { readonly id: string; readonly view: ShownPdf; readonly sizes: readonly PageSize[] }
    | undefined;
  let loading = '';
  const boxes = new Map<PlacedItem, MarkBox>();

  const nameOf = (person: EditorPerson) =>
    person.name.trim() ||
    person.title.trim() ||
    filled(words.person, { number: model.people.indexOf(person) + 1 });
  const fieldOf = ({ kind, label }: PlacedItem) => label.trim() || words.kinds[kind];

  const refresh = () => {
    const pdfs = model.files.filter(
      ({ contentType, id }) => contentType === 'application/pdf' && locations.has(id),
    );
    replaceOptions(
      fileChoice,
      pdfs.map(({ id, displayName, name }) => [id, displayName || name]),
    );
    const people = model.people.filter(acts);
    replaceOptions(
      personChoice,
      people.map((person) => [String(model.people.indexOf(person)), nameOf(person)]),
    );
    offerKinds();
    places.toggleAttribute('data-empty', pdfs.length === 0);
    if (pdfs.length === 0) {
      pages.replaceChildren();
      shown = undefined;
      loading = '';
      state.textContent = words.noPdf;
    } else if (fileChoice.value !== loading) {
      void load(fileChoice.value);
    } else {
      showBoxes();
    }
    showList();
  };

  const chosenPerson = () =>
    personChoice.value === '' ? undefined : model.people[Number(personChoice.value)];

  /** Enables the buttons of what the chosen person can have. */
  const offerKinds = () => {
    const person = chosenPerson();
    for (const button of palette) {
      const kind = button.dataset['kind'] as PlacedKind;
      button.disabled = fileChoice.value === '' || person === undefined || !canHave(person, kind);
    }
    hint.hidden = person === undefined || canHave(person, 'Text');
  };

  const load = async (id: string) => {
    loading = id;
    shown = undefined;
    state.textContent = '';
    try {
      const view = await showPdf(pages, locations.get(id) ?? '', words);
      const sizes = await view.pageSizes();
      if (loading !== id) return;
      for (const item of model.people.flatMap(({ items }) => items))
        if (item.uploadId === id && item.pageNumber === 0) item.pageNumber = sizes.length;
      shown = { id, view, sizes };
      showBoxes();
      showList();
      pages.setAttribute('data-shown', id);
    } catch {
      if (loading === id) state.textContent = words.cannotShow;
    }
  };

  const showBoxes = () => {
    for (const box of pages.querySelectorAll('.placed')) box.remove();
    boxes.clear();
    for (const person of model.people) {
      for (const item of person.items) if (item.uploadId === shown?.id) showBox(person, item);
    }
  };

  const showBox = (person: EditorPerson, item: PlacedItem) => {
    if (shown === undefined) return;
    const field = fieldOf(item);
    const box = showMarkBox(
      shown.view,
      shown.sizes,
      item,
      filled('{field}: {name}', { field, name: nameOf(person) }),
      {
        moved({ pageNumber, topLeftX, topLeftY }) {
          const at = { field, page: pageNumber, x: Math.round(topLeftX), y: Math.round(topLeftY) };
          state.textContent = filled(words.moved, at);
          showList();
        },
        removed: () => remove(person, item),
      },
    );
    boxes.set(item, box);
  };

  const remove = (person: EditorPerson, item: PlacedItem) => {
    person.items = person.items.filter((other) => other !== item);
    state.textContent = filled(words.removed, { field: fieldOf(item) });
    showBoxes();
    showList();
    personChoice.focus();
  };

  /** @param at middle of the new field; undefined: the middle of the page */
  const add = (kind: PlacedKind, pageNumber: number, at?: { readonly x: number; readonly y: number }) => {
    const person = chosenPerson();
    const page = shown?.sizes[pageNumber - 1];
    if (shown === undefined || person === undefined || page === undefined || !canHave(person, kind)) return;
    const size = SIZES[kind];
    const middle = at ?? freePlace(shown.id, pageNumber, page, size);
    const item: PlacedItem = {
      ...{ kind, uploadId: shown.id, label: '', required: true, options: '', pageNumber },
      ...{ topLeftX: middle.x - size.width / 2, topLeftY: middle.y - size.height / 2 },
      ...size,
    };
    person.items.push(item);
    showBox(person, item);
    showList();
    const values = { field: fieldOf(item), name: nameOf(person), page: pageNumber };
    state.textContent = filled(words.placed, values);
    boxes.get(item)?.focus();
  };

  /** Middle of the first place from the middle of the page downwards, then from its top, that no field covers. */
  const freePlace = (
    uploadId: string,
    pageNumber: number,
    page: PageSize,
    size: { readonly width: number; readonly height: number },
  ) => {
    const taken = model.people
      .flatMap(({ items }) => items)
      .filter((item) => item.uploadId === uploadId && item.pageNumber === pageNumber);
    const x = page.width / 2;
    const step = size.height + GAP;
    const isFree = (y: number) =>
      !taken.some(
        ({ topLeftX, topLeftY, width, height }) =>
          Math.abs(topLeftX + width / 2 - x) < (width + size.width) / 2 &&
          Math.abs(topLeftY + height / 2 - y) < (height + size.height) / 2,
      );
    const middle = page.height / 2;
    for (let y = middle; y + step / 2 < page.height; y += step) if (isFree(y)) return { x, y };
    for (let y = step; y < middle; y += step) if (isFree(y)) return { x, y };
    return { x, y: middle };
  };

  const showList = () => {
    list.replaceChildren(
      ...model.people.flatMap((person) =>
        person.items.filter(({ uploadId }) => uploadId === shown?.id).map((item) => rowOf(person, item)),
      ),
    );
  };

  const rowOf = (person: EditorPerson, item: PlacedItem) => {
    const head = createElement('span');
    const away = createElement('button', { type: 'button' });
    const name = () => {
      const field = fieldOf(item);
      head.textContent = filled(words.onPage, { field, name: nameOf(person), page: item.pageNumber });
      away.textContent = filled(words.remove, { field });
    };
    name();
    const row = createElement('li', {}, head);
    if (item.kind !== 'Signature' && item.kind !== 'SignatureInitials') {
      const label = createElement('input', { value: item.label, maxlength: '200', dir: 'auto' });
      label.addEventListener('change', () => {
        item.label = label.value;
        showBoxes();
        // The row stays: the focus, or a click, is on its way to one of its controls.
        name();
      });
      const required = createElement('input', { type: 'checkbox' });
      required.checked = item.required;
      required.addEventListener('change', () => {
        item.required = required.checked;
      });
      row.append(
        createElement('label', {}, `${words.label} `, label),
        createElement('label', { class: 'tick' }, required, ` ${words.required}`),
      );
      if (item.kind === 'Choice') row.append(optionsOf(item));
    }
    const show = createElement('button', { type: 'button' }, words.show);
    show.addEventListener('click', () => boxes.get(item)?.focus());
    away.addEventListener('click', () => remove(person, item));
    row.append(createElement('span', { class: 'ways' }, show, away));
    return row;
  };

  const optionsOf = (item: PlacedItem) => {
    const options = createElement('textarea', { rows: '3', maxlength: '20000' });
    options.value = item.options;
    options.addEventListener('change', () => {
      item.options = options.value;
    });
    return createElement('label', {}, `${words.options} `, options);
  };

  for (const button of palette) {
    const kind = button.dataset['kind'] as PlacedKind;
    button.addEventListener('click', () => add(kind, shown?.view.current() ?? 1));
    button.draggable = true;
    button.addEventListener('dragstart', (event) => event.dataTransfer?.setData(DRAGGED, kind));
  }
  pages.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes(DRAGGED)) event.preventDefault();
  });
  pages.addEventListener('drop', (event) => {
    const kind = event.dataTransfer?.getData(DRAGGED) ?? '';
    const frame = event.target instanceof Element ? event.target.closest<HTMLElement>('.page') : null;
    if (kind === '' || frame === null || shown === undefined) return;
    event.preventDefault();
    const { left, top } = frame.getBoundingClientRect();
    const scale = shown.view.scale();
    const at = { x: (event.clientX - left) / scale, y: (event.clientY - top) / scale };
    add(kind as PlacedKind, Number(frame.dataset['page']), at);
  });
  fileChoice.addEventListener('change', refresh);
  personChoice.addEventListener('change', offerKinds);
  refresh();
  return { refresh };
}

/** Replaces the options and keeps the choice where it is still there. */
function replaceOptions(
  choice: HTMLSelectElement,
  options: readonly (readonly [value: string, text: string])[],
): void {
  const before = choice.value;
  choice.replaceChildren(...options.map(([value, text]) => createElement('option', { value }, text)));
  if (options.some(([value]) => value === before)) choice.value = before;
}
