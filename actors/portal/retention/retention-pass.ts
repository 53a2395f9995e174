/**
 * A pass of retention: deletes what earlier passes planned and rules still demand, plans what comes due, and tells the
 * administrators of it in one mail each. Repeated after a crash it continues: what is deleted or planned is not found again.
 *
 * Source: docs/decisions/0610-retention-and-holds.md.
 */
import { type Calls, Retryable } from '@sealwright/runtime';
import type { RetentionRule } from '../../../contracts/portal/retention/retention.ts';
import { RETENTION_STATUSES } from '../../../contracts/portal/words.ts';
import { DAY_MS } from '../../../contracts/times.ts';
import type { DocumentId, Millis, OrganizationId } from '../../../machines/ids.ts';
import { roleIn } from '../../../machines/portal/accounts/portal-user.ts';
import { endOf } from '../../../machines/portal/documents/legal-hold.ts';
import type { DeletionsMail } from '../../../machines/portal/mail.ts';
import { retain, ruleFor } from '../../../machines/portal/retention.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { firstOrderNumberAt } from '../../shared/ids/order-numbers.ts';
import { rowPieces } from '../../shared/lists/stored-rows.ts';
import { RETENTION } from '../accounts/organizations.ts';
import { MEMBERS_VIEW, PORTAL_USER } from '../accounts/users.ts';
import { DOCUMENT, type DocumentActor, documentRowOf } from '../document-records/document-index.ts';
import { pathOf } from '../folders/folders.ts';
import { createMail } from '../mails/mails.ts';
import { derivedId } from '../shared/effect-ids.ts';
import '../../shared/failures/document-fault-points.ts';
import { RETENTION_ROW, RETENTION_VIEW } from '../shared/retention-rows.ts';
import { deleteDocument } from './legal-holds.ts';

/** Documents that a pass deletes, and that it plans, at most; the next one continues. */
const MAX_OF_PASS = 5_000;
/** Documents at once; other work comes in between. */
const BATCH_SIZE = 32;
/** Names in a mail. */
const MAX_NAMES = 50;
/** Administrators who are told. */
const MAX_ADMINISTRATORS = 20;

type Needs = Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'faults'>;

interface Pass {
  readonly organizationId: OrganizationId;
  readonly pass: number;
  readonly at: Millis;
  readonly signal: AbortSignal;
}

/** `most`: for tests. */
export function retainHandler(needs: Needs, most = MAX_OF_PASS) {
  return retain.handledBy({
    async run(input, { signal }) {
      const pass = { ...input, signal };
      await carryOutPlans(needs, pass, most);
      await plan(needs, pass, most);
      await tell(needs, pass);
      return { type: 'PASSED', pass: input.pass };
    },
  });
}

/** Deletes what is due, and drops plans that no rule demands any more. */
async function carryOutPlans(needs: Needs, pass: Pass, most: number): Promise<void> {
  const range = { view: RETENTION_VIEW, prefix: [pass.organizationId, 'Planned'] };
  let deleted = 0;
  for await (const rows of rowPieces(needs.store, range, { most: BATCH_SIZE })) {
    const { rules, noticeDays } = await settingsOf(needs, pass);
    const done = await Promise.all(
      rows.map(async ({ key }) => {
        const id = String(key[3]) as DocumentId;
        const document = await needs.actors.read(DOCUMENT, id);
        const { rule, isHeld } = await demandOf(needs.actors, rules, document);
        const { deletion } = document?.context ?? {};
        if (document === undefined || deletion == null || deletion.pass === pass.pass) return false;
        const due =
          rule?.days == null ? Infinity : endOf(document.state, document.context) + rule.days * DAY_MS;
        const notice = pass.at + noticeDays * DAY_MS;
        // What is planned again later is told again. A clock that was set back leaves plans of the future.
        if (rule === undefined || isHeld || due > notice || deletion.at > Math.max(due, notice)) {
          await needs.actors.send(DOCUMENT, id, { type: 'PLAN_DELETION', plan: null });
          return false;
        }
        // Days count as passes, too: a clock that jumps ahead shortens no notice.
        if (due > pass.at || deletion.at > pass.at || pass.pass - deletion.pass < noticeDays) return false;
        const message = { type: 'DELETE', action: 'DeletedByOrganization', rule } as const;
        return (await deleteDocument(needs.actors, id, message)) === undefined;
      }),
    );
    await needs.faults.at('portal.retention.some');
    deleted += done.filter(Boolean).length;
    if (deleted >= most) return;
  }
}

/** Plans the deletion of what comes due within the days of notice. */
async function plan(needs: Needs, pass: Pass, most: number): Promise<void> {
  let planned = 0;
  for (const status of RETENTION_STATUSES) {
    const { rules, noticeDays } = await settingsOf(needs, pass);
    const days = rules.flatMap((rule) =>
      rule.days === null || (rule.status ?? status) !== status ? [] : rule.days,
    );
    if (days.length === 0) continue;
    // Who was created after it has not reached the status long enough.
    const below = firstOrderNumberAt(pass.at + (noticeDays - Math.min(...days)) * DAY_MS + 1);
    const range = { view: 'documents-by', prefix: [pass.organizationId, status] };
    for await (const rows of rowPieces(needs.store, range, { most: BATCH_SIZE, below })) {
      const { rules: current } = await settingsOf(needs, pass);
      const paths = new Map<string, ReturnType<typeof pathOf>>();
      const done = await Promise.all(
        rows.map(async ({ value }) => {
          const { id, folder } = documentRowOf(value);
          const path = paths.get(folder ?? '') ?? pathOf(needs.actors, folder);
          paths.set(folder ?? '', path);
          const { ids, isHeld } = await path;
          const rule = ruleFor(current, status, ids);
          if (isHeld || rule?.days == null) return false;
          const document = await needs.actors.read(DOCUMENT, id);
          if (document?.state !== status || document.context.deletion != null) return false;
          const due = endOf(status, document.context) + rule.days * DAY_MS;
          const notice = pass.at + noticeDays * DAY_MS;
          if (due > notice) return false;
          const plan = { rule, at: Math.max(due, notice), pass: pass.pass };
          return (await needs.actors.send(DOCUMENT, id, { type: 'PLAN_DELETION', plan })).accepted;
        }),
      );
      await needs.faults.at('portal.retention.some');
      planned += done.filter(Boolean).length;
      if (planned >= most) return;
    }
  }
}

/** Rules of this moment: a change counts for the next batch. */
async function settingsOf({ actors }: Needs, { organizationId, signal }: Pass) {
  if (signal.aborted) throw new Retryable('stopping', 'The service stops; the rest is done later.');
  const { rules = [], noticeDays = 1 } = (await actors.read(RETENTION, organizationId))?.context ?? {};
  return { rules, noticeDays };
}

async function demandOf(
  actors: Pick<Calls, 'read'>,
  rules: readonly RetentionRule[],
  document: DocumentActor | undefined,
): Promise<{ readonly rule: RetentionRule | undefined; readonly isHeld: boolean }> {
  if (document === undefined) return { rule: undefined, isHeld: false };
  const { ids, isHeld } = await pathOf(actors, document.context.folderId);
  return {
    rule: ruleFor(rules, document.state, ids),
    isHeld: isHeld || document.context.hold != null,
  };
}

/** Tells the administrators what this pass has planned. A repeated pass makes the same mails again, which exist. */
async function tell(needs: Needs, { organizationId, pass }: Pass): Promise<void> {
  const { actors, store, clock } = needs;
  const names: string[] = [];
  let count = 0;
  let from = Infinity;
  for await (const rows of rowPieces(store, { view: RETENTION_VIEW, prefix: [organizationId, 'Planned'] }))
    for (const { key, value } of rows) {
      if (RETENTION_ROW.read(value).pass !== pass) continue;
      count += 1;
      from = Math.min(from, Number(key[2]));
      const document = count > MAX_NAMES ? undefined : await actors.read(DOCUMENT, String(key[3]));
      if (document !== undefined) names.push(document.context.name);
    }
  if (count === 0) return;
  for (const to of await administratorsOf(needs, organizationId)) {
    const content: DeletionsMail = { about: 'deletions', organizationId, to, names, count, from };
    const id = derivedId('deletions', organizationId, pass, to.email);
    await createMail(actors, id, { organizationId, content, at: clock.now() });
  }
}

async function administratorsOf(
  { actors, store }: Needs,
  organizationId: OrganizationId,
): Promise<readonly DeletionsMail['to'][]> {
  const found: DeletionsMail['to'][] = [];
  for await (const rows of rowPieces(store, { view: MEMBERS_VIEW, prefix: [organizationId] }))
    for (const { key } of rows) {
      const user = await actors.read(PORTAL_USER, String(key[2]));
      const member = user?.context.memberships.find((one) => one.organizationId === organizationId);
      if (user === undefined || roleIn(user.context, organizationId) !== 'administrator') continue;
      const { name, email } = member?.profile ?? user.context;
      found.push({ name, email });
      if (found.length === MAX_ADMINISTRATORS) return found;
    }
  return found;
}
