/**
 * `/api/actors`, `/api/changes` and `/api/runtime`: actors, threads and nodes; `/api/portal`: activity and keys of the
 * portal. For operators.
 *
 * Not in docs/batch-values.md §0; additive.
 */
import type { Batch } from '../../actors/index.ts';
import type { OperatorActivity, OperatorKeys } from '../../actors/portal/api.ts';
import {
  listActors,
  readActor,
  readActorKind,
  restartActor,
  waitForChange,
} from '../../contracts/batch/actors.ts';
import { listPortalKeys, readPortalActivity } from '../../contracts/batch/portal.ts';
import { drainNode, readRuntime } from '../../contracts/batch/runtime.ts';
import type { Part } from '../../contracts/operation.ts';
import { Refusal } from '../../machines/refusals.ts';
import type { AnyRoute } from '../core/router.ts';
import { handle } from './handle.ts';
import type { SharedAnswers } from './shared-answers.ts';

export function inspectionRoutes(
  inspection: Batch['inspection'],
  shared: SharedAnswers,
): readonly AnyRoute[] {
  return [
    handle(
      listActors,
      async ({ query }) => {
        const { kind, id, version: _, ...rest } = query;
        if (kind === undefined) {
          checkKindsOnly(query);
          return { kinds: await inspection.kinds() };
        }
        checkState(rest.state, inspection.states(kind));
        const page = await inspection.list({ kind, idPrefix: id, ...rest });
        if (page === undefined) throw new Refusal('actor.not-found', `There are no actors of kind ${kind}.`);
        return page;
      },
      { shared },
    ),
    handle(readActorKind, ({ params }) => {
      const chart = inspection.chart(params.kind);
      if (chart === undefined)
        throw new Refusal('actor.not-found', `There are no actors of kind ${params.kind}.`);
      return chart;
    }),
    handle(
      readActor,
      async ({ params }) => {
        const actor = await inspection.actor(params);
        if (actor === undefined) throw unknown(params);
        return actor;
      },
      { shared },
    ),
    handle(restartActor, async ({ params, body, identity }) => {
      if (body.reason === null) {
        throw new Refusal('validation.body-invalid', 'A restart needs a reason.', {
          errors: { reason: ['must say why'] },
        });
      }
      const by = { operator: identity?.operator ?? '', reason: body.reason };
      const outcome = await inspection.restart(params, by);
      if (outcome === 'unknown') throw unknown(params);
      if (outcome === 'running')
        throw new Refusal('actor.not-stopped', `${params.kind}/${params.id} was not given up: it runs.`);
      return { ...params, restarted: true };
    }),
    handle(waitForChange, async ({ query: { after, wait, every } }) => {
      const { changes } = inspection;
      const version =
        every === undefined
          ? await changes.wait(after, wait * 1000)
          : await changes.waitShared(after, wait * 1000, every * 1000);
      return { version };
    }),
    handle(readRuntime, () => inspection.runtime(), { shared }),
    handle(drainNode, async ({ params: { id }, identity }) => {
      if (!(await inspection.drain(id, identity?.operator ?? '')))
        throw new Refusal('node.not-found', `There is no node ${id}.`);
      return { name: id, draining: true };
    }),
  ];
}

/** Refusals: `validation.filter-invalid`. An unknown kind is refused by the list. */
function checkState(state: string | undefined, known: readonly string[] | undefined): void {
  if (state === undefined || known === undefined || known.includes(state)) return;
  const rule = `must be one of ${known.join(', ')}`;
  throw new Refusal('validation.filter-invalid', `state ${rule}`, { errors: { state: [rule] } });
}

/** Listing all kinds would suggest that nothing else matches the filter. */
function checkKindsOnly({
  limit: _,
  kind: _1,
  version: _2,
  ...filters
}: Part<typeof listActors, 'query'>): void {
  if (Object.values(filters).every((value) => value === undefined || value === false)) return;
  throw new Refusal('validation.filter-invalid', 'Actors are filtered within one kind: kind is missing.', {
    errors: { kind: ['must be given with state, stuck, stopped, oldest, id, after or text'] },
  });
}

function unknown({ kind, id }: { kind: string; id: string }): Refusal {
  return new Refusal('actor.not-found', `There is no actor ${kind}/${id}.`);
}

export function portalKeyRoute(keys: OperatorKeys, shared: SharedAnswers): AnyRoute {
  return handle(listPortalKeys, () => keys.keys(), { shared });
}

export function portalActivityRoute(portal: OperatorActivity, shared: SharedAnswers): AnyRoute {
  return handle(
    readPortalActivity,
    async ({ query: { window, intervals } }) => {
      const { interval, ...counts } = await portal.activity(window, intervals);
      return { intervalSeconds: interval / 1000, ...counts };
    },
    { shared },
  );
}
