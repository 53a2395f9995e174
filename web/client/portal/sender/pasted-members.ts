/** Reads the members of a group from a pasted text. Pure. */
import type { GroupMember } from './editor-model.ts';

/**
 * `Ana <ana@example.org>` → name and address; a line without brackets has addresses only. Addresses may also be
 * separated by commas or semicolons, as programs for e-mail copy them.
 */
export function readMembers(text: string): GroupMember[] {
  return text
    .replace(/>\s*[,;]/g, '>\n')
    .split('\n')
    .flatMap((line) => (line.includes('<') ? [line] : line.split(/[,;]/)))
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const open = line.indexOf('<');
      if (open < 0) return { name: line, email: line };
      const email = line
        .slice(open + 1)
        .replace('>', '')
        .trim();
      return { name: line.slice(0, open).trim() || email, email };
    });
}

/** Most people who act, most observers, and most members of a group. */
export const MAX_PEOPLE = 100;
/** Lengths of the inputs for a name and an address. */
const MAX_NAME = 200;
const MAX_MAIL = 254;
/** Longest text that is read as members, characters. */
const MAX_PASTED = 100_000;

/**
 * The members of a pasted text that a group has room for.
 * @returns isWhole: false if something was left out
 */
export function pastedMembers(
  text: string,
  room: number,
): { readonly members: readonly GroupMember[]; readonly isWhole: boolean } {
  const read = readMembers(text.slice(0, MAX_PASTED));
  const fitting = read.filter(({ name, email }) => name.length <= MAX_NAME && email.length <= MAX_MAIL);
  const members = fitting.slice(0, Math.max(0, room));
  return { members, isWhole: members.length === read.length && text.length <= MAX_PASTED };
}
