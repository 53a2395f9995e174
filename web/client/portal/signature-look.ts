/**
 * Picture of an electronic signature: the typed name in a handwriting, a drawing, or a file. The participant sees it in
 * the form and at its places in the document before signing.
 */
import type { SigningData } from '../../pages/portal/page-data.ts';
import { createElement, requireElement } from '../dom.ts';
import { INK, PICTURE, startDrawing } from './drawing.ts';
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
  /** PNG, Base64; undefined where the typed name alone is shown. */
  picture(): Promise<string | undefined>;
  /** Removes the draft that a reload would restore. */
  clear(): void;
}

/** Characters of each file of a handwriting. Source: the packages of the fonts. */
const LATIN = 'U+0000-00FF,U+0131,U+0152-0153,U+2000-206F';
const LATIN_EXTENDED = 'U+0100-0130,U+0132-0151,U+0154-02AF,U+1E00-1EFF';
const SUBSETS: { readonly [hand: string]: { readonly [subset: string]: string } } = {
  caveat: { latin: LATIN, 'latin-ext': LATIN_EXTENDED },
  'dancing-script': { latin: LATIN, 'latin-ext': LATIN_EXTENDED },
  'homemade-apple': { latin: LATIN },
};
/** Font size at which the width of a name is measured, and the margin of the picture, pixels. */
const FONT_SIZE = 150;
const MARGIN = 24;
/** Longest file that is read, bytes. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** @param name field of the typed name */
export function startSignatureLook(data: SigningData, name: HTMLInputElement): SignatureLook {
  const { words } = data;
  const details = requireElement('#look', HTMLDetailsElement);
  const preview = requireElement('#look-preview', HTMLImageElement);
  const drawingPart = requireElement('#drawing');
  const picturePart = requireElement('#picture');
  const file = requireElement('#picture-file', HTMLInputElement);
  const choices = [...details.querySelectorAll<HTMLInputElement>('input[name="look"]')];
  const samples = [...details.querySelectorAll<HTMLElement>('[data-hand]')];
  const chosen = () => choices.find(({ checked }) => checked)?.value ?? 'plain';
  let uploaded: string | undefined;

  const url = async (): Promise<string | undefined> => {
    const look = chosen();
    if (look === 'plain') return undefined;
    if (look === 'drawn') return drawing.picture();
    if (look === 'picture') return uploaded;
    await loadHand(look, name.value);
    return handwritten(name.value.trim(), look);
  };
  let shown = 0;
  const refresh = async () => {
    const turn = ++shown;
    drawingPart.hidden = chosen() !== 'drawn';
    picturePart.hidden = chosen() !== 'picture';
    for (const sample of samples) sample.textContent = name.value.trim();
    const picture = await url();
    // A later change was faster.
    if (turn !== shown) return;
    preview.hidden = picture === undefined;
    if (picture !== undefined) preview.src = picture;
    for (const mark of document.querySelectorAll<HTMLElement>(
      '[data-mark="SignatureVisualRepresentation"]',
    )) {
      mark.style.backgroundImage = picture === undefined ? '' : `url(${picture})`;
      mark.toggleAttribute('data-filled', picture !== undefined);
    }
  };

  const drawing = startDrawing(data, () => void refresh());
  if (drawing.picture() !== undefined) {
    const choice = choices.find(({ value }) => value === 'drawn');
    if (choice !== undefined) choice.checked = true;
    details.open = true;
  }
  name.addEventListener('input', () => void refresh());
  for (const choice of choices) choice.addEventListener('change', () => void refresh());
  details.addEventListener('toggle', () => {
    for (const sample of samples)
      void loadHand(sample.dataset['hand'] ?? '', name.value).catch(() => undefined);
  });
  file.addEventListener('change', () => {
    file.removeAttribute('aria-invalid');
    void readPicture(file.files?.[0]).then(
      (picture) => {
        uploaded = picture;
        return refresh();
      },
      () => {
        // The earlier picture is not what the participant chose last.
        uploaded = undefined;
        void refresh();
        showMissing(file, words.pictureUnreadable);
      },
    );
  });
  document.addEventListener('marks-shown', () => void refresh());
  void refresh();
  const isReadable = canReadCanvas().then((isIt) => {
    if (isIt) return true;
    for (const choice of choices) {
      choice.disabled = choice.value !== 'plain';
      choice.checked = choice.value === 'plain';
    }
    details.append(createElement('p', { class: 'trouble', role: 'status' }, words.canvasProtected));
    void refresh();
    return false;
  });
  return {
    picture: async () => ((await isReadable) ? (await url())?.replace(/^data:[^,]*,/, '') : undefined),
    clear: () => drawing.clear(),
  };
}

const known = new Set<string>();

/** Loads the files of a handwriting that a text needs; characters without one are shown in another font. */
async function loadHand(hand: string, text: string): Promise<void> {
  if (!known.has(hand)) {
    known.add(hand);
    for (const [subset, unicodeRange] of Object.entries(SUBSETS[hand] ?? {})) {
      const source = new URL(`fonts/${hand}-${subset}.woff2`, import.meta.url).href;
      document.fonts.add(new FontFace(`hand-${hand}`, `url(${source})`, { unicodeRange }));
    }
  }
  await document.fonts.load(`${FONT_SIZE}px hand-${hand}`, text);
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
  const [width, height] = [image.width * scale, image.height * scale];
  const [left, top] = [(PICTURE.width - width) / 2, (PICTURE.height - height) / 2];
  canvas.getContext('2d')?.drawImage(image, left, top, width, height);
  image.close();
  return canvas.toDataURL('image/png');
}
