/**
 * Picture of an electronic signature: the typed name in a handwriting, a drawing, or a file. The participant sees it in
 * the dialog and at its places in the document before signing.
 */
import type { SigningData } from '../../pages/portal/page-data.ts';
import { createElement, delay, findElement, requireElement } from '../dom.ts';
import { INK, MARGIN, PICTURE, startDrawing } from './drawing.ts';
import { showMissing } from './outcome.ts';

/** Red, green, blue and white: noise has other pixels. */
const PIXELS = [
  ['#ff0000', [255, 0, 0]],
  ['#00ff00', [0, 255, 0]],
  ['#0000ff', [0, 0, 255]],
  ['#ffffff', [255, 255, 255]],
] as const;
const SIDE = 8;

/**
 * False where a canvas gives back other pixels than were painted, as protected browsers do without an error: a picture made
 * by it would be noise.
 */
async function canReadCanvas(): Promise<boolean> {
  const painted = createElement('canvas');
  painted.width = SIDE * PIXELS.length;
  painted.height = SIDE;
  const context = painted.getContext('2d');
  if (context === null) return false;
  for (const [index, [colour]] of PIXELS.entries()) {
    context.fillStyle = colour;
    context.fillRect(index * SIDE, 0, SIDE, SIDE);
  }
  try {
    const picture = createElement('img', { src: painted.toDataURL('image/png') });
    await picture.decode();
    const again = createElement('canvas').getContext('2d');
    again?.drawImage(picture, 0, 0);
    return [context, again].every((shown) =>
      PIXELS.every(([, wanted], index) => {
        const pixel = shown?.getImageData(index * SIDE + SIDE / 2, SIDE / 2, 1, 1).data;
        return wanted.every((value, channel) => pixel?.[channel] === value);
      }),
    );
  } catch {
    return false;
  }
}

export interface SignatureLook {
  /** Called when the dialog is shown; loads what the look needs at the first time. */
  open(): Promise<void>;
  /** PNG, Base64; undefined where the typed name alone is shown. */
  picture(): Promise<string | undefined>;
  /** False while the chosen way has no picture yet. */
  isMade(): boolean;
  /** Removes the draft that a reload would restore. */
  clear(): void;
}

/** Characters of each file of a handwriting. Source: the packages of the fonts. */
const SUBSETS: { readonly [subset: string]: string } = {
  latin: 'U+0000-00FF,U+0131,U+0152-0153,U+2000-206F',
  'latin-ext': 'U+0100-0130,U+0132-0151,U+0154-02AF,U+1E00-1EFF',
};
/** Font size at which the width of a name is measured, pixels. */
const FONT_SIZE = 150;
/** Nobody waits longer for a handwriting, milliseconds. */
const MAX_FONT_MS = 8_000;
/** Longest file that is read, bytes. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** @param name field of the typed name */
export function startSignatureLook(data: SigningData, name: HTMLInputElement): SignatureLook {
  const { words } = data;
  const preview = requireElement('#look-preview', HTMLImageElement);
  const pictured = requireElement('#picture-preview', HTMLImageElement);
  const plain = requireElement('#look-plain');
  const tabs = [...document.querySelectorAll<HTMLButtonElement>('#electronic [role="tab"]')];
  const choices = [...document.querySelectorAll<HTMLInputElement>('#electronic input[name="look"]')];
  const samples = [...document.querySelectorAll<HTMLElement>('.looks [data-hand] span')];
  let way = 'typed';
  /** Resolves once it is known what can be made; undefined before the dialog is shown. */
  let opened: Promise<void> | undefined;
  let isReadable = false;
  let uploaded: string | undefined;

  const look = () => choices.find(({ checked }) => checked)?.value ?? 'plain';
  /** Prints the name where what was chosen cannot be made. */
  const print = (text: string, isForAll: boolean) => {
    for (const choice of choices) {
      choice.checked = choice.value === 'plain';
      if (isForAll) choice.disabled = !choice.checked;
    }
    if (isForAll) for (const tab of tabs) tab.disabled = tab.dataset['way'] !== 'typed';
    if (isForAll) show('typed');
    findElement('#way-typed .trouble')?.remove();
    requireElement('#way-typed').append(createElement('p', { class: 'trouble', role: 'status' }, text));
  };
  const url = async (): Promise<string | undefined> => {
    if (way === 'drawn') return drawing.picture();
    if (way === 'picture') return uploaded;
    const hand = look();
    if (hand === 'plain') return undefined;
    try {
      await loadHand(hand, name.value);
    } catch {
      print(words.handMissing, false);
      return undefined;
    }
    return handwritten(name.value.trim(), hand);
  };
  let shown = 0;
  const refresh = async () => {
    // Until then the places on the pages say that they are to be signed.
    if (opened === undefined) return;
    const turn = ++shown;
    for (const sample of samples) sample.textContent = name.value.trim();
    const picture = await url();
    // A later change was faster.
    if (turn !== shown) return;
    showLook(picture, way === 'picture' ? pictured : preview);
    plain.textContent = picture === undefined ? name.value.trim() : '';
  };
  const show = (to: string | undefined = way) => {
    way = to;
    for (const tab of tabs) {
      const isShown = tab.dataset['way'] === way;
      tab.setAttribute('aria-selected', String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      requireElement(`#way-${tab.dataset['way']}`).hidden = !isShown;
    }
    void refresh();
  };

  const drawing = startDrawing(data, () => void refresh());
  startTabs(tabs, show);
  name.addEventListener('input', () => void refresh());
  for (const choice of choices) choice.addEventListener('change', () => void refresh());
  startFile(words.pictureUnreadable, (picture) => {
    uploaded = picture;
    void refresh();
  });
  document.addEventListener('marks-shown', () => void refresh());
  const start = async () => {
    isReadable = await canReadCanvas();
    if (!isReadable) print(words.canvasProtected, true);
    show(isReadable && drawing.picture() !== undefined ? 'drawn' : way);
    // The samples are in their handwritings once these are loaded.
    for (const { value } of choices)
      if (isReadable && value !== 'plain') void loadHand(value, name.value).catch(() => undefined);
  };
  return {
    async open() {
      opened ??= start();
      await opened;
    },
    async picture() {
      await opened;
      return isReadable ? (await url())?.replace(/^data:[^,]*,/, '') : undefined;
    },
    isMade: () => way === 'typed' || (way === 'drawn' ? drawing.picture() : uploaded) !== undefined,
    clear: () => drawing.clear(),
  };
}

/** Shows a picture in its preview and at its places on the pages. */
function showLook(picture: string | undefined, image: HTMLImageElement): void {
  image.hidden = picture === undefined;
  if (picture !== undefined) image.src = picture;
  for (const mark of document.querySelectorAll<HTMLElement>('[data-mark="SignatureVisualRepresentation"]')) {
    mark.style.backgroundImage = picture === undefined ? '' : `url(${picture})`;
    mark.toggleAttribute('data-filled', picture !== undefined);
  }
}

function startTabs(tabs: readonly HTMLElement[], show: (way: string | undefined) => void): void {
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener('click', () => show(tab.dataset['way']));
    tab.addEventListener('keydown', ({ key }) => {
      const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
      if (step === 0) return;
      const next = tabs[(index + step + tabs.length) % tabs.length];
      next?.focus();
      next?.click();
    });
  }
}

/** @param chosen called with undefined for a file that is no picture: the earlier one is not what was chosen last */
function startFile(unreadable: string, chosen: (picture: string | undefined) => void): void {
  const file = requireElement('#picture-file', HTMLInputElement);
  file.addEventListener('change', () => {
    file.removeAttribute('aria-invalid');
    void readPicture(file.files?.[0]).then(chosen, () => {
      chosen(undefined);
      showMissing(file, unreadable);
    });
  });
}

const known = new Set<string>();

/** Loads the files of a handwriting that a text needs; characters without one are shown in another font. */
async function loadHand(hand: string, text: string): Promise<void> {
  if (!known.has(hand)) {
    known.add(hand);
    for (const [subset, unicodeRange] of Object.entries(SUBSETS)) {
      const source = new URL(`fonts/${hand}-${subset}.woff2`, import.meta.url).href;
      document.fonts.add(new FontFace(`hand-${hand}`, `url(${source})`, { unicodeRange }));
    }
  }
  await new Promise<void>((resolve, reject) => {
    document.fonts.load(`${FONT_SIZE}px hand-${hand}`, text).then(() => resolve(), reject);
    delay(MAX_FONT_MS, () => reject(new Error('The handwriting has not come.')));
  });
}

/** The name, as large as the picture allows. */
function handwritten(name: string, hand: string): string | undefined {
  const canvas = createElement('canvas');
  Object.assign(canvas, PICTURE);
  const context = canvas.getContext('2d');
  if (context === null || name === '') return undefined;
  const family = `"hand-${hand}", cursive`;
  context.font = `${FONT_SIZE}px ${family}`;
  const { width } = context.measureText(name);
  const size = Math.min(FONT_SIZE, (FONT_SIZE * (PICTURE.width - 2 * MARGIN)) / width);
  context.font = `${size}px ${family}`;
  context.fillStyle = INK;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(name, PICTURE.width / 2, PICTURE.height / 2);
  return canvas.toDataURL('image/png');
}

/** A picture of any size, in the middle of one of ours. Rejects when it is none. */
async function readPicture(file: File | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  if (file.size > MAX_FILE_BYTES) throw new Error('The file is too long.');
  const image = await createImageBitmap(file);
  const canvas = createElement('canvas');
  Object.assign(canvas, PICTURE);
  const scale = Math.min(PICTURE.width / image.width, PICTURE.height / image.height);
  const width = image.width * scale;
  const height = image.height * scale;
  const left = (PICTURE.width - width) / 2;
  const top = (PICTURE.height - height) / 2;
  canvas.getContext('2d')?.drawImage(image, left, top, width, height);
  image.close();
  return canvas.toDataURL('image/png');
}
