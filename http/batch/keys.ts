/** `/api/keys`: named API keys. Source: docs/decisions/0277-scopes-and-roles-of-operators.md. */
import type { Clock } from '@sealwright/runtime';
import type { Batch } from '../../actors/index.ts';
import { createKey, listKeys, revokeKey, rotateKey } from '../../contracts/batch/keys.ts';
import { Refusal } from '../../machines/refusals.ts';
import type { NamedKeys } from '../core/access/named-keys.ts';
import { requireGivable } from '../core/access/permission.ts';
import type { AnyRoute } from '../core/router.ts';
import { handle } from './handle.ts';
import { operatorOf } from './operator.ts';

const HOUR_MS = 3_600_000;

export function keyRoutes(
  keys: NamedKeys,
  { profiles, folders, events }: Pick<Batch, 'profiles' | 'folders' | 'events'>,
  clock: Pick<Clock, 'now'>,
): readonly AnyRoute[] {
  const record = (actor: string, message: string) =>
    events.record({ at: clock.now(), kind: 'KeyChanged', actor, jobId: null, code: null, message });
  const assertKnown = (
    member: string,
    given: readonly string[] | null | undefined,
    known: readonly string[],
  ) => {
    const unknown = given?.find((name) => !known.includes(name));
    if (unknown !== undefined) throw invalid(member, `has the unknown name ${unknown}`);
  };
  return [
    handle(listKeys, () => ({ items: [...keys.list()] })),
    handle(createKey, async ({ body, identity }) => {
      requireGivable(identity ?? {}, body);
      if (body.expiresAt != null && body.expiresAt <= clock.now())
        throw invalid('expiresAt', 'must be in the future');
      if (body.folders != null && body.scopes.includes('submit'))
        throw invalid('folders', 'cannot be used with the scope submit: an upload belongs to no folder');
      assertKnown(
        'profiles',
        body.profiles,
        profiles.list().map(({ name }) => name),
      );
      assertKnown('folders', body.folders, folders.names);
      const by = operatorOf(identity);
      const made = await keys.create(body, by);
      const { name, scopes } = made.key;
      await record(by, `Key ${name} made, with the scopes ${scopes.join(', ')}.`);
      return made;
    }),
    handle(rotateKey, async ({ params: { name }, body: { overlapHours }, identity }) => {
      requireGivable(identity ?? {}, keys.get(name));
      const made = await keys.rotate(name, clock.now() + overlapHours * HOUR_MS);
      await record(
        operatorOf(identity),
        `Key ${name} has a new secret; the earlier one ends in ${overlapHours} hours.`,
      );
      return made;
    }),
    handle(revokeKey, async ({ params: { name }, identity }) => {
      await keys.revoke(name);
      await record(operatorOf(identity), `Key ${name} revoked.`);
      return { name, revoked: true as const };
    }),
  ];
}

function invalid(member: string, rule: string): Refusal {
  return new Refusal('validation.body-invalid', `${member} ${rule}`, { errors: { [member]: [rule] } });
}
