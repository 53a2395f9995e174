/** Forms of the pages of administrators: they work without a script, carry the token of the session, and keep what was entered. */
import type { ComponentChildren } from 'preact';
import type { SignedInUser } from '../../../actors/portal/api.ts';
import { maySend } from '../../../machines/portal/accounts/user-rights.ts';
import { Button, FaultSummary } from '../../components/controls.tsx';
import { type AccountNotice, type AccountPage, addressFrom, FORM_TOKEN } from './account-frame.ts';

/** The form about the sessions of the user, which every role may send. */
export const OWN_SESSIONS = '/account/sessions';
/** The forms about the second factor of the user begin with it. */
export const OWN_FACTOR = '/account/second-factor';
export const OWN_PASSKEYS = '/account/second-factor/passkeys';
/** The sign-in page for a new proof of the person: a session that is open at a provider is none. */
export const SIGN_IN_AGAIN = '/sign-in?again=yes';

/** Sender of a form, and the language of the page after it. */
interface Sender {
  readonly page: Pick<AccountPage, 'culture'>;
  readonly user: Pick<SignedInUser, 'formToken' | 'role'>;
}

/** A page of an administrator: its texts, and for whom it is. */
export interface Viewed {
  readonly page: AccountPage;
  readonly user: SignedInUser;
}

/**
 * The service checks all fields at once and in the language of the page, so the browser checks none. Auditors see the
 * content, and cannot send it.
 * @param isChecked the browser checks the fields. @default false
 */
export function AccountForm({
  of: { page, user },
  action,
  encType,
  isChecked = false,
  children,
}: {
  of: Sender;
  action: string;
  encType?: 'multipart/form-data';
  isChecked?: boolean;
  children: ComponentChildren;
}) {
  const isLocked = !maySend(user.role, action);
  return (
    <form method="post" action={addressFrom(page, action)} encType={encType} noValidate={!isChecked}>
      <input type="hidden" name={FORM_TOKEN} value={user.formToken} />
      {isLocked ? (
        <fieldset class="locked" disabled aria-describedby="reads-only">
          {children}
        </fieldset>
      ) : (
        children
      )}
    </form>
  );
}

/** A button that asks once more, without a script. */
export function Sure({ of, action, ask, sure }: { of: Sender; action: string; ask: string; sure: string }) {
  return (
    <details class="sure">
      <summary class="button">{ask}</summary>
      <AccountForm of={of} action={action}>
        <Button type="submit" rank="bad" icon="trash-2">
          {sure}
        </Button>
      </AccountForm>
    </details>
  );
}

/**
 * Result of the last form. Of a refused one: which fields are at fault.
 * @param labels of the fields that can be at fault; @param end of the ids of the fields
 */
export function Notice({
  page,
  notice,
  labels = {},
  end = '',
}: {
  page: AccountPage;
  notice: AccountNotice | undefined;
  labels?: Readonly<Record<string, string>>;
  end?: string | undefined;
}) {
  if (notice === undefined) return null;
  const faults = Object.keys(notice.form?.faults ?? {});
  if (faults.length > 0)
    return (
      <FaultSummary
        title={page.texts.errors.correct}
        faults={faults.map((name) => [`${name}${end}`, labels[name] ?? name] as const)}
      />
    );
  const { kind, text } = notice;
  return kind === 'bad' ? (
    // biome-ignore lint/a11y/noAutofocus: the person has sent the form, and this is its result.
    <p class="outcome bad" role="alert" tabIndex={-1} autoFocus>
      {text}
    </p>
  ) : (
    <p class="outcome good" role="status">
      {text}
    </p>
  );
}

/** Content of a form: its data, or again what was entered when it was refused. */
export interface Entries {
  readonly isRefused: boolean;
  /** Properties of a control. The first one at fault has the focus. @param otherwise value of a form that was not refused */
  of(name: string, otherwise?: string): Entry;
  checked(name: string, otherwise?: boolean): boolean;
}

interface Entry {
  readonly value: string;
  readonly name: string;
  readonly error?: string | undefined;
  readonly autoFocus?: boolean;
}

/** @param action path to which the form posts */
export function entriesOf(notice: AccountNotice | undefined, action: string): Entries {
  const refused = notice?.form?.action === action ? notice.form : undefined;
  const [first] = Object.keys(refused?.faults ?? {});
  const value = (name: string, otherwise: string) =>
    refused === undefined ? otherwise : (refused.values[name] ?? '');
  return {
    isRefused: refused !== undefined,
    of: (name, otherwise = '') => ({
      value: value(name, otherwise),
      name,
      error: refused?.faults[name],
      ...(name === first && { autoFocus: true }),
    }),
    checked: (name, otherwise = false) => value(name, otherwise ? 'yes' : '') !== '',
  };
}
