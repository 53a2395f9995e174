/**
 * The hash chain of an actor's journal. Each line carries the SHA-256 of the previous line's hash and its own content,
 * so that no line can be changed, removed or inserted without changing all hashes behind it.
 *
 * Lines written before chains existed have no hash; the chain begins with the first line after them.
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */
import { hash } from 'node:crypto';
import type { ActorAddress, JournalLine, Json } from '../model/ports.ts';

/** Takes the place of the previous hash for the first line of a chain. */
export const CHAIN_START = '';

/**
 * Lower-case hex SHA-256 of the UTF-8 text of a JSON array: hash of the previous line, kind and id of the actor, number,
 * time, state, message and cause of the line, and its data with members in the order of their names, where it has any.
 * @param previous hash of the line before; `CHAIN_START` for the first
 */
export function lineHash(previous: string, { kind, id }: ActorAddress, line: JournalLine): string {
  const content: Json[] = [previous, kind, id, line.id, line.at, line.state, line.message, line.cause];
  if (line.data !== undefined) content.push(Object.entries(line.data).sort(byName));
  return hash('sha256', JSON.stringify(content));
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}
