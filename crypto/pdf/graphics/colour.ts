/**
 * Colour spaces of an appearance (ISO 32000-2, 8.6.4 and 8.6.5).
 */
import type { PdfARules } from './pdfa-rules.ts';

/** Daylight, D65. */
const WHITE = '/WhitePoint[0.9505 1 1.089]';

/** Calibrated spaces with the primaries of sRGB (IEC 61966-2-1) and a gamma close to its curve. */
const DEFINED = {
  grey: `[/CalGray<<${WHITE}/Gamma 2.2>>]`,
  rgb:
    `[/CalRGB<<${WHITE}/Gamma[2.2 2.2 2.2]` +
    '/Matrix[0.4124 0.2126 0.0193 0.3576 0.7152 0.1192 0.1805 0.0722 0.9505]>>]',
};

const OF_DEVICE = { grey: '/DeviceGray', rgb: '/DeviceRGB', cmyk: '/DeviceCMYK' };

/** Returns the colour space as PDF text; CMYK has no calibrated space without an ICC profile. */
export function colourSpace(colours: 'grey' | 'rgb' | 'cmyk', { deviceColours }: PdfARules): string {
  return deviceColours || colours === 'cmyk' ? OF_DEVICE[colours] : DEFINED[colours];
}
