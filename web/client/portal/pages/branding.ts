/** Uploads the logo of the organization, and shows the mail with the texts that are being typed. */
import type { MailPreview } from '../../../../clients/typescript/portal.d.ts';
import { below, requireElement } from '../../dom.ts';
import { pageData } from '../page-data.ts';
import { call, type SenderSession } from '../sender/sender-requests.ts';

interface BrandingData extends SenderSession {
  readonly organization: string;
  readonly kind: string;
  readonly language: string;
  readonly words: SenderSession['words'] & { readonly sending: string; readonly noLogo: string };
}

const data = pageData<BrandingData>();
const { words } = data;
const path = `/api/organizations/${encodeURIComponent(data.organization)}/branding`;
const outcome = requireElement('#outcome');
const subject = requireElement('#subject', HTMLInputElement);
const introduction = requireElement('#introduction', HTMLTextAreaElement);
const state = requireElement('#preview-state');

/** Content of a file in Base64. */
function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result).split(',')[1] ?? ''));
    reader.addEventListener('error', () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}

async function upload(button: HTMLButtonElement): Promise<void> {
  const [file] = requireElement('#logo-file', HTMLInputElement).files ?? [];
  if (file === undefined) {
    say(words.noLogo);
    return;
  }
  button.disabled = true;
  try {
    await call(data, 'PUT', `${path}/logo`, { bytes: await base64(file) });
    const { searchParams } = new URL(location.href);
    searchParams.set('done', 'brandingSaved');
    location.assign(below(`/organization/branding?${searchParams}`));
  } catch (error) {
    say(error instanceof Error ? error.message : words.failed);
    button.disabled = false;
  }
}

function say(text: string): void {
  outcome.className = 'outcome bad';
  outcome.textContent = text;
  outcome.focus();
}

/** One request at a time; text that is typed meanwhile is sent afterwards. */
let isAsking = false;
let isStale = false;

async function showPreview(): Promise<void> {
  isStale = isAsking;
  if (isAsking) return;
  isAsking = true;
  const body = {
    kind: data.kind,
    language: data.language,
    subject: subject.value,
    introduction: introduction.value,
  };
  try {
    const preview = await call<MailPreview>(data, 'POST', `${path}/preview`, body);
    requireElement('#preview-subject').textContent = preview.subject;
    requireElement('#preview-text').textContent = preview.text;
    state.textContent = '';
  } catch (error) {
    state.textContent = error instanceof Error ? error.message : words.failed;
  }
  isAsking = false;
  if (isStale) await showPreview();
}

for (const input of [subject, introduction]) input.addEventListener('input', () => void showPreview());
const button = requireElement('#logo-upload', HTMLButtonElement);
button.addEventListener('click', () => void upload(button));
