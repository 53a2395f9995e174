/**
 * Decoder of Windows-1252. `TextDecoder` of Node 20.18 and of several later versions decodes Latin-1 under that label and
 * its aliases: https://github.com/nodejs/node/issues/56542
 */

/** Characters of the bytes 0x80 to 0x9F; the five unassigned bytes are control characters (WHATWG Encoding, index windows-1252). */
const HIGH = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

export function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (character) => HIGH.charAt(character.charCodeAt(0) - 0x80));
}
