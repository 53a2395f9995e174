/** A form that an authenticator fills in: the script of the page shows it where the browser knows passkeys. */
import type { ComponentChildren } from 'preact';
import type { PasskeyCreation, PasskeyRequest } from '../../../../actors/portal/api.ts';
import { Button } from '../../../components/controls.tsx';
import { type AccountPage, addressFrom, FORM_TOKEN } from '../account-frame.ts';

/** Script of the pages with such a form. */
export const PASSKEY_SCRIPT = 'passkey.js';

export function PasskeyForm({
  page,
  options,
  action,
  formToken,
  children,
  before,
  isMain = true,
}: {
  page: AccountPage;
  options: PasskeyCreation | PasskeyRequest;
  action: string;
  /** Absent outside of sessions. */
  formToken?: string;
  /** Label of the button. */
  children: ComponentChildren;
  /** Fields before the button. */
  before?: ComponentChildren;
  /** It is the primary action of the page. @default true */
  isMain?: boolean;
}) {
  const { passkey: texts } = page.texts.secondFactor;
  const words = { cancelled: texts.cancelled, known: texts.known };
  return (
    <form
      method="post"
      action={addressFrom(page, action)}
      data-passkey={JSON.stringify(options)}
      data-words={JSON.stringify(words)}
      hidden
    >
      {formToken !== undefined && <input type="hidden" name={FORM_TOKEN} value={formToken} />}
      <input type="hidden" name="credential" value="" />
      {before}
      <Button type="submit" {...(isMain && { rank: 'main' })} big>
        {children}
      </Button>
      <p class="error" role="alert" />
    </form>
  );
}
