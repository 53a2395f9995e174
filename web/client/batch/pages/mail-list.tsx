/** `/mails`: the e-mails of the portal, the development mailbox. */
import type { MailList, MailsResent } from '../../../../clients/typescript/batch.d.ts';
import { MailsView } from '../../../pages/batch/deliveries.tsx';
import { counted } from '../../../pages/batch/parts.tsx';
import { getShared, post, runAction } from '../api.ts';
import { ask } from '../dialogs.tsx';
import { ListAddress } from '../list-address.ts';
import { startPage } from '../live-page.tsx';

class MailListAddress extends ListAddress {
  async resend(button: HTMLButtonElement, id: string): Promise<void> {
    await runAction(
      button,
      () => post(`/api/mails/${encodeURIComponent(id)}/resend`),
      () => 'It is sent again.',
    );
    live.refresh();
  }

  async resendFailed(button: HTMLButtonElement): Promise<void> {
    let since = '';
    const isConfirmed = await ask(
      'Send failed e-mails again?',
      'Send again',
      <label>
        That failed since (optional)
        <input
          type="datetime-local"
          name="since"
          onInput={({ currentTarget }) => {
            since = currentTarget.value;
          }}
        />
      </label>,
    );
    if (!isConfirmed) return;
    await runAction(
      button,
      () =>
        post<MailsResent>('/api/mails/resend', since === '' ? {} : { since: new Date(since).toISOString() }),
      ({ count, complete }) =>
        `${counted(count, 'e-mail is', 'e-mails are')} sent again.${complete ? '' : ' There are more: send again.'}`,
    );
    live.refresh();
  }
}

const address = new MailListAddress(() => live);

const live = startPage<MailList>({
  load: () => {
    address.keep();
    return getShared<MailList>(`/api/mails?${address.query}`);
  },
  view: (data) => <MailsView query={address.query} data={data} actions={address} />,
});
