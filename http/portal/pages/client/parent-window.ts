/**
 * What an embedded page tells the page around it: JSON text, as existing widgets read it.
 *
 * Source: portal-gaps §9, "Embedding protocol".
 */
import { document, location, window } from './dom.ts';

export type Told =
  | { readonly type: 'documentSigned' | 'documentApproved' | 'documentRefused'; readonly id: string }
  | { readonly type: 'marksPositioned'; readonly data: unknown };

/**
 * Tells the page around this one, if there is one.
 * @param origins the only ones that may know; empty = any, for documents of organizations that list none
 */
export function tellParent(message: Told, origins: readonly string[]): void {
  if (window.parent === window) return;
  const text = JSON.stringify(message);
  if (origins.length === 0) {
    window.parent.postMessage(text, '*');
    return;
  }
  const around = originAround();
  for (const origin of origins) {
    // Browsers complain in the console about an origin that is not that of the page around.
    if (around === undefined || around === origin.toLowerCase()) window.parent.postMessage(text, origin);
  }
}

/** Undefined where the browser does not tell. */
function originAround(): string | undefined {
  const told = location.ancestorOrigins?.[0];
  if (told !== undefined && told !== 'null') return told.toLowerCase();
  try {
    return document.referrer === '' ? undefined : new URL(document.referrer).origin.toLowerCase();
  } catch {
    return undefined;
  }
}
