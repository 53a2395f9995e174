/** Names that clients give to folders, saved flows and drafts. */
import { isBlank, visibleText } from '../../../contracts/plain-text.ts';
import { MAX_NAME_LENGTH } from '../../../contracts/portal/entities.ts';
import { badMember } from '../../../machines/portal/portal-refusals.ts';

/**
 * Returns the name without invisible characters and without white space around it.
 * @throws {PortalRefusal} `BadRequest` unless it has 1 to 255 characters and no control character
 */
export function cleanName(given: string): string {
  const name = visibleText(given).trim();
  if (!isBlank(name) && name.length <= MAX_NAME_LENGTH && !/[\p{Cc}\p{Surrogate}]/u.test(name)) return name;
  throw badMember('Name', `The Name must have 1 to ${MAX_NAME_LENGTH} characters and no control character.`);
}
