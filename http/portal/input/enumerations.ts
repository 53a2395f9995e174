/**
 * Enumerations in requests and replies.
 *
 * Source: docs/portal-values.md §§5, 6, 10, 12, 13, 16 and 19.
 */

import type { ApplicationRole } from '../../../actors/portal/api.ts';

/** Lists every value of a union type; the compiler reports unknown and missing values. */
function all<Word extends string>() {
  return <const Words extends readonly [Word, ...Word[]]>(
    words: Words & ([Word] extends [Words[number]] ? unknown : never),
  ): Words => words;
}

export const APPLICATION_ROLES = all<ApplicationRole>()(['Normal', 'Monitor', 'Administrator']);
