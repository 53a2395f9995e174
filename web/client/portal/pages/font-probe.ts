/** Loaded beside pdf.js: tells whether the browser uses fonts that a page makes of bytes. */
import { createElement, delay } from '../../dom.ts';

/** A font whose only letter, `a`, is four times as wide as it is high. */
const WIDE_FONT =
  'AAEAAAAKAIAAAwAgT1MvMiYfMr8AAACsAAAAYGNtYXAADACUAAABDAAAACxnbHlmAswDmAAAATgAAABIaGVhZF93QUkAAAGAAAAA' +
  'NmhoZWEDhg7bAAABuAAAACRobXR4H0AAAAAAAdwAAAAIbG9jYQAkABIAAAHkAAAABm1heHAABAAFAAAB7AAAACBuYW1lAFcUuwAA' +
  'AgwAAABEcG9zdAADAAAAAAJQAAAAIAADD6ABkAAFAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAA' +
  'AAAAAAAgICAgAEAAYQBhAyD/OAAAAyAAyAAAAAEAAAAAAAAAAAAAACAAAQAAAAEAAwABAAAADAAEACAAAAAEAAQAAQAAAGH//wAA' +
  'AGH///+gAAEAAAAAAAEAAAAAAGQAZAADAAABAQEBAAAAZAAA/5wAAAAAAGQAAAAAAAEAAAAAAGQAZAADAAABAQEBAAAAZAAA/5wA' +
  'AAAAAGQAAAAAAAEAAAABAABOK2N5Xw889QAAA+gAAAAAAAAAAAAAAAAAAAAAAAAAAABkAGQAAAAIAAIAAAAAAAAAAQAAAyD/OAAA' +
  'D6AAAAAAAGQAAQAAAAAAAAAAAAAAAAAAAAIPoAAAD6AAAAAAABIAJAAAAAEAAAACAAQAAQAAAAAAAQAAAAAAAAAAAAAAAAAAAAAA' +
  'AAAFAEIAAwABBAkAAQACAAAAAwABBAkAAgACAAAAAwABBAkAAwACAAAAAwABBAkABAACAAAAAwABBAkABgACAAAAcAADAAAAAAAA' +
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
/** Time in which bytes that are there become a font, milliseconds. */
const MAX_FONT_MS = 2_000;

/** False where fonts made of bytes are not used: letters of a document would be shown as others. */
export async function canUseFonts(): Promise<boolean> {
  const bytes = Uint8Array.from(atob(WIDE_FONT), (letter) => letter.charCodeAt(0));
  const font = new FontFace('wide-probe', bytes);
  const late = new Promise<void>((resolve) => delay(MAX_FONT_MS, resolve));
  try {
    await Promise.race([font.load(), late]);
    document.fonts.add(font);
    const context = createElement('canvas').getContext('2d');
    if (context === null) return false;
    context.font = '10px wide-probe, monospace';
    return context.measureText('a').width > 30;
  } catch {
    return false;
  } finally {
    document.fonts.delete(font);
  }
}
