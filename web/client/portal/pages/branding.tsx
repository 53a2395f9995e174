/** `/organization/branding`: uploads the logo, and shows the pages with what is typed. */
import type { MailPreview } from '../../../../clients/typescript/portal.d.ts';
import { type BrandingActions, BrandingEditor } from '../../../pages/portal/accounts/branding-editor.tsx';
import { below, delay } from '../../dom.ts';
import { hydrateIslands } from '../../islands.tsx';
import { pageData } from '../page-data.ts';
import { call, type SenderSession } from '../sender/sender-requests.ts';

interface BrandingData extends SenderSession {
  readonly organization: string;
  readonly kind: string;
  readonly language: string;
}

const data = pageData<BrandingData>();
const path = `/api/organizations/${encodeURIComponent(data.organization)}/branding`;

/** Content of a file in Base64. */
function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result).split(',')[1] ?? ''));
    reader.addEventListener('error', () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}

const actions: BrandingActions = {
  address: below,
  delay,
  async preview(words) {
    const { kind, language } = data;
    const body = { kind, language, ...words };
    const { subject } = await call<MailPreview>(data, 'POST', `${path}/preview`, body);
    return subject;
  },
  async upload(logo) {
    await call(data, 'PUT', `${path}/logo`, { bytes: await base64(logo) });
    const { searchParams } = new URL(location.href);
    searchParams.set('done', 'brandingSaved');
    location.assign(below(`/organization/branding?${searchParams}`));
  },
};

hydrateIslands({
  branding: (props: Parameters<typeof BrandingEditor>[0]) => <BrandingEditor {...props} actions={actions} />,
});
