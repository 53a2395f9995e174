/** Probes what protected browsers change without an error: the pixels of a canvas. */
import { createElement } from '../dom.ts';

/** Red, green, blue and white: noise has other pixels. */
const PIXELS = [
  ['#ff0000', [255, 0, 0]],
  ['#00ff00', [0, 255, 0]],
  ['#0000ff', [0, 0, 255]],
  ['#ffffff', [255, 255, 255]],
] as const;
const SIDE = 8;

/** False where a canvas gives back other pixels than were painted: a picture made by it would be noise. */
export async function canReadCanvas(): Promise<boolean> {
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
