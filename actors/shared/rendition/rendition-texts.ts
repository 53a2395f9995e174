/** The words of drawn versions, in the languages of the portal. Times are UTC, and the participant's where known. */

import type { Language } from '../../../contracts/portal/words.ts';
import { filled, TEXTS, type Texts } from '../../../contracts/texts/texts.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { CompletedAction } from '../../../machines/portal/portal-types.ts';

export type RenditionTexts = Texts['rendition'];

/** `2026-11-21 10:40:12 UTC`. */
export function utcText(at: Millis): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** With the time on the participant's own clock behind it. @param offset minutes from UTC */
export function timeText(at: Millis, offset: number | null): string {
  if (offset === null || offset === 0 || Math.abs(offset) > 24 * 60) return utcText(at);
  const local = new Date(at + offset * 60_000).toISOString().slice(0, 19).replace('T', ' ');
  const minutes = Math.abs(offset);
  const zone = `${offset < 0 ? '-' : '+'}${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  return `${utcText(at)} (${local} UTC${zone})`;
}

/** A validation key as people read it: in groups of five. */
export function keyText(key: string): string {
  return key.replace(/.{5}(?=.)/g, '$&-');
}

/** Everything that is written in a mark, line by line: what the signature itself shows. */
export function markTexts(
  language: Language,
  {
    name,
    deputyOf,
    title,
    kind,
    at,
    key,
  }: {
    readonly name: string;
    /** Whose deputy has signed; absent = nobody's. */
    readonly deputyOf?: string | undefined;
    readonly title: string | null;
    readonly kind: CompletedAction['kind'];
    readonly at: Millis;
    readonly key: string;
  },
): readonly string[] {
  const words = TEXTS[language].rendition;
  const acting = deputyOf === undefined ? [] : [filled(words.asDeputy, { person: deputyOf })];
  return [name, ...acting, ...(title === null ? [] : [title]), words.kinds[kind], utcText(at), keyText(key)];
}
