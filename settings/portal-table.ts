/**
 * `Portal:*`: the portal's address, who may call it, mail, webhooks.
 *
 * Source: running.md, "Configuration"; portal-gaps §§6, 11, 19, 21.
 */
import { computed, key, optional, records, required } from './keys.ts';
import {
  choice,
  flag,
  type ListenUrl,
  list,
  listenUrl,
  pattern,
  secretText,
  text,
  webUrl,
  whole,
} from './kinds.ts';
import { profileName } from './signing-table.ts';

const name = pattern(
  'name',
  'must be a name of 1 to 100 characters without bars and control characters',
  (value) => (/^(?!\s)[^|\p{Cc}]{1,100}(?<!\s)$/u.test(value) ? value : undefined),
);
const origin = pattern('origin', 'must be an origin, as https://app.example.com', (value) =>
  /^https?:\/\/[^/?#@\s]+$/i.test(value) &&
  URL.canParse(value) &&
  new URL(value).origin === value.toLowerCase()
    ? value.toLowerCase()
    : undefined,
);
const mailbox = pattern(
  'e-mail address',
  'must be an e-mail address, or a name with one in angle brackets',
  (value) => (/^(?:[^<>\p{Cc}]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u.test(value) ? value : undefined),
);

/** Members of one entry of `Portal:Organizations`. */
export const ORGANIZATION_KEYS = {
  Name: required(name, 'unnamed', {
    says: 'Name of the organization; made at start when there is none of that name.',
  }),
  Identifier: optional(text('text'), { says: 'Its registration number, shown with its documents.' }),
  EmbedOrigins: optional(list(origin), {
    says: 'Origins whose pages may frame the signing page of its documents. An empty list, and a new organization: any.',
  }),
  Language: optional(choice(['en', 'pt', 'es']), {
    says: 'Language of its mails; `en` for a new organization.',
  }),
  ReplyTo: optional(mailbox, { says: 'Where answers to its mails go.' }),
  'Webhook:Url': optional(webUrl(), {
    says: 'Called when something happens to a document of the organization.',
  }),
  'Webhook:AuthType': key(choice(['NoAuth', 'Basic', 'Bearer', 'ApiKey']), 'NoAuth', {
    says: 'How the call proves itself: nothing, `Authorization: Basic <token>`, `Authorization: Bearer <token>`, or `X-Api-Key: <token>`.',
  }),
  'Webhook:Token': optional(secretText(), { says: 'That token, sent exactly as written.' }),
  'Webhook:Secret': optional(secretText(), {
    says: 'A secret of the form `whsec_<Base64>`: calls are also signed by the rules of Standard Webhooks.',
  }),
} as const;

export const PORTAL_KEYS = {
  'Portal:Enabled': key(flag(), true, { says: 'Serve the portal API and its pages.' }),
  'Portal:Url': computed(
    listenUrl(),
    '`http://127.0.0.1:8090`',
    (): ListenUrl => ({ scheme: 'http', host: '127.0.0.1', port: 8090, href: 'http://127.0.0.1:8090' }),
    { says: 'Where the portal listens; `http://0.0.0.0:8090` serves the network, port 0 takes a free one.' },
  ),
  'Portal:PublicUrl': optional(webUrl(), {
    says: 'Base of the links in mails and of `url` and `embedUrl`. Left out: `Portal:Url`.',
  }),
  'Portal:Bootstrap:Organization': optional(name, {
    says: 'Organization made at start when it is missing. Left out: `Default`.',
  }),
  'Portal:Bootstrap:Application': optional(name, {
    says: 'Application made in it; its key is `<Application>|<Secret>`. Left out: `default`, with a secret made at first start and kept under `{Root}/keys/`.',
  }),
  'Portal:Bootstrap:Secret': optional(secretText(), { says: 'Secret of that application.' }),
  'Portal:Bootstrap:MonitorApplication': optional(name, {
    says: 'Application with the role Monitor, made in the organization `Sys Admin`. Left out: `monitor`, with a secret made at first start.',
  }),
  'Portal:Bootstrap:MonitorSecret': optional(secretText(), { says: 'Secret of that application.' }),
  'Portal:Organizations': key(records(ORGANIZATION_KEYS), [], {
    says: 'Organizations and their settings as code, brought up to date at each start.',
  }),
  'Portal:UploadMaxBytes': key(whole(1024), 106_954_752, {
    unit: 'bytes',
    says: 'Largest file an upload of the portal may hold.',
  }),
  'Portal:Identifiers': key(choice(['Any', 'Cpf']), 'Any', {
    says: 'Which identifiers participants may have: any text of up to 50 characters, or national numbers of 11 digits whose check digits are right.',
  }),
  'Portal:NotifyParticipants:Concluded': key(flag(), true, {
    says: 'Mail participants when their document is concluded.',
  }),
  'Portal:NotifyParticipants:NewVersion': key(flag(), true, {
    says: 'Mail participants when a document they were asked to sign gets a new version.',
  }),
  'Portal:MailFolderKeepDays': key(whole(1, 3650), 30, {
    unit: 'days',
    says: 'How long mails stay in `{Root}/mail/` where there is no relay; older ones are removed when others are written.',
  }),
  'Portal:Smtp:Host': optional(text('host name'), {
    says: 'Relay that takes the mails. Left out: every mail is written to `{Root}/mail/`.',
  }),
  'Portal:Smtp:Port': optional(whole(1, 65_535), {
    says: 'Its port. Left out: 587, or 465 with `Portal:Smtp:Secure`.',
  }),
  'Portal:Smtp:Secure': key(flag(), false, {
    says: 'Speak TLS from the first byte. Otherwise TLS begins when the relay offers it.',
  }),
  'Portal:Smtp:User': optional(text('user name'), { says: 'User at the relay.' }),
  'Portal:Smtp:Password': optional(secretText(), { says: 'Password of that user.' }),
  'Portal:Smtp:From': optional(mailbox, { says: 'Sender of the mails. Required with a relay.' }),
  'Portal:AllowUnprovenCertificates': computed(
    flag(),
    '`false` in Production, else `true`',
    ({ environment }) => environment !== 'Production',
    {
      says: 'What becomes of participants’ own certificates while `Signing:Trust` names no roots: `true` takes every one that is valid, with a warning; `false` takes none (`certificate.unproven`). With roots this is not looked at: a certificate has to lead to one of them and not be revoked.',
    },
  ),
  'Portal:WebhookAllowPrivate': computed(
    flag(),
    '`false` in Production, else `true`',
    ({ environment }) => environment !== 'Production',
    { says: 'Let webhooks call loopback and private addresses.' },
  ),
  'Portal:WebhookConcludedDelaySeconds': key(whole(0, 86_400), 0, {
    unit: 'seconds',
    says: 'How long after its conclusion a document is announced as concluded.',
  }),
  'Portal:SealProfile': optional(profileName, {
    says: 'Signing profile whose certificate seals electronic signatures. Left out: the first with the Method `Local`.',
  }),
} as const;
