/** `/organization/retention`: rules by which documents are deleted, and legal holds. Source: docs/decisions/0610-retention-and-holds.md. */
import { z } from 'zod';
import type { Erasures, Folders, LegalHolds, Retention, SignedInUser } from '../../../actors/portal/api.ts';
import { parsedInput } from '../../../actors/portal/api.ts';
import { erasePerson } from '../../../contracts/portal/retention/erasures.ts';
import {
  holdDocument,
  type NewRetention,
  setRetention,
} from '../../../contracts/portal/retention/retention.ts';
import { badField } from '../../../machines/portal/portal-refusals.ts';
import type { AccountNotice, AccountPage } from '../../../web/pages/portal/account-frame.ts';
import { RETENTION_PATH as PATH, retentionPage } from '../../../web/pages/portal/accounts/retention-view.tsx';
import type { AnyRoute } from '../../core/router.ts';
import { documentId, folderId } from '../input/ids.ts';
import { accountGet, accountReply, formText } from './account-route.ts';
import { accountForm, doneNotice, doneReply } from './outcomes.ts';

const SHOWN = 50;
const REPORTS_SHOWN = 10;
const FOLDERS_OFFERED = 1_000;

export interface RetentionPages {
  readonly retention: Retention;
  readonly legalHolds: LegalHolds;
  readonly erasures: Erasures;
  readonly folders: Folders;
}

const ruleParams = z.object({ folder: z.string().max(64), status: z.string().max(64) });
const holdParams = z.object({ type: z.string().max(64), id: z.string().max(64) });

export function retentionPageRoutes(pages: RetentionPages): readonly AnyRoute[] {
  const again = (notice: AccountNotice, { page, user }: { page: AccountPage; user: SignedInUser }) =>
    show(pages, page, user, notice);
  return [
    accountGet({
      path: PATH,
      summary: 'A page for administrators: rules of retention, legal holds, and what rules delete.',
      handle: ({ page, user, query }) => show(pages, page, user, doneNotice(page, query)),
    }),
    ...ruleRoutes(pages, again),
    ...holdRoutes(pages, again),
    accountForm({
      path: `${PATH}/erasures`,
      summary: 'Erases a person.',
      description: 'The rules are those of `POST /api/erasures`.',
      body: z.object({ email: formText, keepFor: formText }),
      async act({ page, user, body }) {
        const { email, keepFor } = body;
        const request = parsedInput(erasePerson.body, { email, keepFor: keepFor || null });
        await pages.erasures.begin(user.tenant, request);
        return doneReply(page, PATH, 'erasureBegun');
      },
      again,
      sent: ({ page: { texts }, body }) => ({
        action: `${PATH}/erasures`,
        values: body,
        faults: { Email: ['email', texts.retention.emailFault] },
      }),
    }),
  ];
}

type Again = (
  notice: AccountNotice,
  viewed: { page: AccountPage; user: SignedInUser },
) => ReturnType<typeof show>;

function ruleRoutes({ retention }: RetentionPages, again: Again): readonly AnyRoute[] {
  const change = async ({ tenant }: SignedInUser, changed: (now: NewRetention) => unknown) =>
    retention.set(tenant, parsedInput(setRetention.body, changed(await retention.get(tenant))));
  return [
    accountForm({
      path: `${PATH}/rules`,
      summary: 'Adds a rule, or changes that of the same folder and status.',
      description: 'The rules are those of `PUT /api/retention`.',
      body: z.object({ folderId: formText, status: formText, days: formText }),
      async act({ page, user, body }) {
        const rule = {
          folderId: body.folderId || null,
          status: body.status || null,
          days: numberOf('Days', body.days),
        };
        await change(user, ({ noticeDays, rules }) => ({
          noticeDays,
          rules: [...rules.filter((one) => !isOf(one, rule)), rule],
        }));
        return doneReply(page, PATH, 'retentionSaved');
      },
      again,
      sent: ({ page: { texts }, body }) => ({
        action: `${PATH}/rules`,
        values: body,
        faults: { Days: ['days', texts.retention.daysFault], Rules: ['days', texts.retention.daysFault] },
      }),
    }),
    accountForm({
      path: `${PATH}/rules/{folder}/{status}/removal`,
      summary: 'Removes a rule.',
      description: 'What it would have deleted is kept, unless another rule says so.',
      params: ruleParams,
      body: z.object({}),
      async act({ page, user, params }) {
        const rule = {
          folderId: params.folder === 'all' ? null : params.folder,
          status: params.status === 'each' ? null : params.status,
        };
        await change(user, ({ noticeDays, rules }) => ({
          noticeDays,
          rules: rules.filter((one) => !isOf(one, rule)),
        }));
        return doneReply(page, PATH, 'retentionSaved');
      },
      again,
    }),
    accountForm({
      path: `${PATH}/notice`,
      summary: 'Sets the days between notice and deletion.',
      description: 'The rules are those of `PUT /api/retention`.',
      body: z.object({ noticeDays: formText }),
      async act({ page, user, body }) {
        const noticeDays = numberOf('NoticeDays', body.noticeDays);
        await change(user, ({ rules }) => ({ noticeDays, rules }));
        return doneReply(page, PATH, 'retentionSaved');
      },
      again,
      sent: ({ page: { texts }, body }) => ({
        action: `${PATH}/notice`,
        values: body,
        faults: { NoticeDays: ['noticeDays', texts.retention.noticeFault] },
      }),
    }),
  ];
}

function holdRoutes({ legalHolds }: RetentionPages, again: Again): readonly AnyRoute[] {
  const hold = ({ tenant }: SignedInUser, { type, id }: z.infer<typeof holdParams>, reason: string | null) =>
    type === 'Document'
      ? legalHolds.ofDocument(tenant, documentId(id), reason)
      : legalHolds.ofFolder(tenant, folderId(id), reason);
  return [
    accountForm({
      path: `${PATH}/holds`,
      summary: 'Puts a folder or a document under legal hold.',
      description: 'The rules are those of `PUT /api/folders/{id}/hold` and `PUT /api/documents/{id}/hold`.',
      body: z.object({ type: formText, id: formText, reason: formText }),
      async act({ page, user, body }) {
        const { reason } = parsedInput(holdDocument.body, { reason: body.reason });
        if (reason === null) throw badField('Reason', 'is required');
        await hold(user, body, reason);
        return doneReply(page, PATH, 'holdSaved');
      },
      again,
      sent: ({ page: { texts }, body }) => ({
        action: `${PATH}/holds`,
        values: body,
        faults: { Reason: ['reason', texts.retention.reasonFault] },
      }),
    }),
    accountForm({
      path: `${PATH}/holds/{type}/{id}/removal`,
      summary: 'Ends a legal hold.',
      description: 'Rules and people may delete it again.',
      params: holdParams,
      body: z.object({}),
      async act({ page, user, params }) {
        await hold(user, params, null);
        return doneReply(page, PATH, 'holdEnded');
      },
      again,
    }),
  ];
}

async function show(
  { retention, folders, erasures }: RetentionPages,
  page: AccountPage,
  user: SignedInUser,
  notice: AccountNotice | undefined,
) {
  const { tenant } = user;
  const first = { limit: SHOWN, offset: 0 };
  const [held, planned, deleted] = await Promise.all([
    retention.list(tenant, { ...first, list: 'Held' }),
    retention.list(tenant, { ...first, list: 'Planned' }),
    retention.list(tenant, { ...first, list: 'Deleted', order: 'Desc' }),
  ]);
  const data = {
    retention: await retention.get(tenant),
    folders: (await folders.list(tenant, { limit: FOLDERS_OFFERED, offset: 0, order: 'Asc', q: undefined }))
      .items,
    held,
    planned,
    deleted,
    erasures: (await erasures.list(tenant, { limit: REPORTS_SHOWN, offset: 0 })).items,
    notice,
  };
  return accountReply(200, retentionPage(page, user, data));
}

function isOf(
  one: { readonly folderId: string | null; readonly status: string | null },
  other: { readonly folderId: string | null; readonly status: string | null },
): boolean {
  return one.folderId === other.folderId && one.status === other.status;
}

/** Null for an empty field. Refusals: `BadRequest`. */
function numberOf(field: string, given: string): number | null {
  const text = given.trim();
  if (text === '') return null;
  if (!/^\d{1,6}$/.test(text)) throw badField(field, 'must be a whole number');
  return Number(text);
}
