/** `/mails`: the e-mails of the portal, the development mailbox. */
import type { MailList } from '../../../../clients/typescript/batch.d.ts';
import { MailsView } from '../../../pages/batch/deliveries.tsx';
import { getShared, post, runAction } from '../api.ts';
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
}

const address = new MailListAddress(() => live);

const live = startPage<MailList>({
  load: () => {
    address.keep();
    return getShared<MailList>(`/api/mails?${address.query}`);
  },
  view: (data) => <MailsView query={address.query} data={data} actions={address} />,
});
