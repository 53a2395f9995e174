/** Results of forms: after success the browser goes to a page, which says so; a refusal is shown above the page. */
import type { z } from 'zod';
import type { Texts } from '../../../contracts/texts/texts.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  type AccountNotice,
  type AccountPage,
  addressFrom,
} from '../../../web/pages/portal/account-frame.ts';
import { filled, textBy } from '../../../web/pages/portal/texts.ts';
import { type EmptyReply, type PageReply, redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { type AccountPost, type AccountPostRequest, accountPost } from './account-route.ts';

type Done = keyof Texts['account']['done'];

/** Goes to a page that shows the result. */
export function doneReply(page: AccountPage, path: string, done: Done): EmptyReply {
  return redirect(302, addressFrom(page, `${path}${path.includes('?') ? '&' : '?'}done=${done}`));
}

/** Notice named by the address of a page. */
export function doneNotice(
  { texts }: AccountPage,
  query: { readonly [name: string]: unknown },
): AccountNotice | undefined {
  const name = String(query['done'] ?? '');
  return Object.hasOwn(texts.done, name) ? { kind: 'good', text: texts.done[name as Done] } : undefined;
}

/** A form that is shown again if it is refused. */
export interface SentForm {
  /** Path to which it posts. */
  readonly action: string;
  /** By field; without secrets. */
  readonly values: Readonly<Record<string, string>>;
  /**
   * Code of a refusal, or member that one names → field at fault, and what to say if not the text of the refusal. In the
   * order of the form.
   */
  readonly faults?: Readonly<Record<string, readonly [field: string, text?: string]>>;
}

/** Carries out a form; a refusal becomes a notice on the page, or beside the field at fault. */
export async function orNotice(
  page: AccountPage,
  run: () => Promise<PageReply | EmptyReply>,
  show: (notice: AccountNotice) => Promise<PageReply>,
  sent?: SentForm,
): Promise<PageReply | EmptyReply> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof PortalRefusal)) throw error;
    return { ...(await show(refusalNotice(page, error, sent))), status: 422 };
  }
}

/** A form that is shown again, with what was entered, when it is refused. */
export function accountForm<Params, Shape extends z.ZodRawShape>({
  act,
  again,
  sent,
  ...route
}: Omit<AccountPost<Params, Shape>, 'handle'> & {
  act(request: AccountPostRequest<Params, Shape>): Promise<PageReply | EmptyReply>;
  /** Shows the page of the form. */
  again(notice: AccountNotice, request: AccountPostRequest<Params, Shape>): Promise<PageReply>;
  sent?(request: AccountPostRequest<Params, Shape>): SentForm;
}): AnyRoute {
  return accountPost({
    ...route,
    handle: (request) =>
      orNotice(
        request.page,
        () => act(request),
        (notice) => again(notice, request),
        sent?.(request),
      ),
  });
}

function refusalNotice({ texts }: AccountPage, refusal: PortalRefusal, sent: SentForm | undefined) {
  const text = refusalText(texts, refusal);
  if (sent === undefined) return { kind: 'bad', text } as const;
  const { action, values, faults: known = {} } = sent;
  const named = new Set([refusal.code, ...Object.keys(refusal.errors ?? {})]);
  const found = Object.entries(known).filter(([name]) => named.has(name));
  const faults = Object.fromEntries(found.map(([, [field, own]]) => [field, own ?? text]));
  return { kind: 'bad', text, form: { action, values, faults } } as const;
}

function refusalText({ errors }: Texts['account'], { code, message }: PortalRefusal): string {
  return textBy(code, errors) ?? filled(errors.failed, { reason: message });
}

/** Place in a list: pages from 0. */
export function offsetOf(query: { readonly [name: string]: unknown }): number {
  const offset = Number(query['offset'] ?? 0);
  return Number.isInteger(offset) && offset >= 0 && offset < 1e6 ? offset : 0;
}
