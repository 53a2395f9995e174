/**
 * Messages of an embedded page to its parent window: JSON text, as existing widgets read it.
 *
 * Source: docs/portal-values.md §9.
 */
import type { FrameEvent, ParentMessage } from '../../pages/portal/page-data.ts';

/**
 * Posts a message to the parent window, if there is one.
 *
 * @param origins permitted target origins; empty = any, for organizations that list none
 */
export function notifyParent(message: ParentMessage, origins: readonly string[]): void {
  if (window.parent === window) return;
  const text = JSON.stringify(message);
  if (origins.length === 0) {
    window.parent.postMessage(text, '*');
    return;
  }
  const around = originAround();
  for (const origin of origins) {
    // Browsers log an error for a target origin other than that of the parent.
    if (around === undefined || around === origin.toLowerCase()) window.parent.postMessage(text, origin);
  }
}

/** Posts an event to the parent window where the organization lists its origin. */
export function sendEvent(event: FrameEvent, origins: readonly string[]): void {
  if (origins.length > 0) notifyParent(event, origins);
}

/** Posts the height of the page now and after each change. */
export function reportHeight(origins: readonly string[]): void {
  if (origins.length === 0) return;
  let sentHeight = 0;
  new ResizeObserver(() => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height !== sentHeight) sendEvent({ type: 'resize', height }, origins);
    sentHeight = height;
  }).observe(document.body);
}

/** Undefined where the browser does not expose it. */
function originAround(): string | undefined {
  const parentOrigin = location.ancestorOrigins?.[0];
  if (parentOrigin !== undefined && parentOrigin !== 'null') return parentOrigin.toLowerCase();
  try {
    const { origin } = new URL(document.referrer);
    return origin === 'null' ? undefined : origin.toLowerCase();
  } catch {
    return undefined;
  }
}
