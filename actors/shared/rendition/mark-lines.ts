/** The text of a mark, in signed files and in renditions. */

import type { Language, MarkType } from '../../../contracts/portal/words.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { CompletedAction } from '../../../machines/portal/portal-types.ts';
import { keyText, markTexts } from './rendition-texts.ts';

/** The signature that a mark belongs to. */
export interface MarkedSignature {
  readonly name: string;
  /** Whose deputy has signed; absent = nobody's. */
  readonly deputyOf?: string | undefined;
  readonly title: string | null;
  readonly kind: CompletedAction['kind'];
  readonly at: Millis;
  /** Validation key of the document. */
  readonly key: string;
}

export function markLines(type: MarkType, language: Language, signature: MarkedSignature): readonly string[] {
  if (type === 'SignatureInitials') return [initialsOf(signature.name)];
  if (type === 'AuthenticationStamp') return [keyText(signature.key)];
  return markTexts(language, signature);
}

/** First letters of the first and last names, four at most. */
export function initialsOf(name: string): string {
  const letters = name.split(/\s+/).flatMap((word) => [...word].slice(0, 1));
  return (letters.length <= 4 ? letters : [...letters.slice(0, 3), ...letters.slice(-1)])
    .join('')
    .toUpperCase();
}
