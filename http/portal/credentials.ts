/** Finds the credentials in a body without validating the rest. */
import type { BodyCredentials } from '../core/router.ts';

/** Of a member in several casings the last value other than null counts; blank values count as absent. */
export function credentialsOf(given: object): BodyCredentials {
  let ticket: string | undefined;
  let token: string | undefined;
  for (const [name, value] of Object.entries(given)) {
    // Longer names cannot match; converting them to lower case would be wasted work.
    if (name.length > 'ticket'.length || typeof value !== 'string') continue;
    const known = name.toLowerCase();
    const text = value.trim() === '' ? undefined : value;
    if (known === 'ticket') ticket = text;
    else if (known === 'token') token = text;
  }
  return { ticket, token };
}
