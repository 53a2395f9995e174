/**
 * `Portal:*`: the portal's address, its API keys, mail, webhooks.
 *
 * Source: docs/configuration.md; docs/portal-values.md §§6, 11, 19, 21.
 */
import { z } from 'zod';
import { computed, key, optional, records, required } from './keys.ts';
import {
  choice,
  flag,
  type ListenUrl,
  linkBase,
  list,
  listenUrl,
  pattern,
  secretText,
  text,
  webUrl,
  whole,
} from './kinds.ts';
import { profileName, QUALIFICATIONS } from './signing-table.ts';

/** Name of an organization or an application. */
export const name = pattern(
  'name',
  'must be a name of 1 to 100 characters without bars and control characters',
  z.string().regex(/^(?!\s)[^|\p{Cc}]{1,100}(?<!\s)$/u),
);
/** Schemes of apps that serve their pages themselves, as `capacitor`; under some others a page stands for nobody, or for anybody. */
const APP_ORIGIN =
  /^(?!(?:about|blob|data|file|filesystem|ftp|https?|javascript|wss?):)[a-z][a-z0-9+.-]{0,40}:\/\/[\w.-]{1,200}(?::\d{1,5})?$/;
const origin = pattern(
  'origin',
  'must be an origin, as https://app.example.com',
  z
    .string()
    .toLowerCase()
    .refine(
      (value) =>
        APP_ORIGIN.test(value) ||
        (/^https?:\/\/[^/?#@\s]+$/.test(value) && URL.canParse(value) && new URL(value).origin === value),
    ),
);
const mailbox = pattern(
  'e-mail address',
  'must be an e-mail address, or a name with one in angle brackets',
  z.string().regex(/^(?:[^<>\p{Cc}]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u),
);

/** Members of one entry of `Portal:Organizations`. */
export const ORGANIZATION_KEYS = {
  Name: required(name, 'unnamed', {
    says: 'Name of the organization; created at start when missing.',
  }),
  Identifier: optional(text('text'), { says: 'Registration number, shown with its documents.' }),
  EmbedOrigins: optional(list(origin), {
    says: 'Origins whose pages may frame the signing page of its documents; of an app, its own, as `capacitor://localhost`. An empty list allows any origin, as does a new organization.',
  }),
  Language: optional(choice(['en', 'pt', 'es', 'de', 'fr', 'it']), {
    says: 'Language of its mails; `en` for a new organization.',
  }),
  ReplyTo: optional(mailbox, { says: 'Reply-To address of its mails.' }),
  RefuseSignedEnvelopeFiles: optional(flag(), {
    says: 'Refuse envelopes with signed files. Otherwise, and for a new organization: the signed files become attachments of the envelope, which does not contain their signatures.',
  }),
  RequiredQualification: optional(choice(['None', ...QUALIFICATIONS]), {
    says: 'Least qualification of participants’ signatures, as `Require`; nobody signs without a certificate then.',
  }),
  'Webhook:Url': optional(webUrl(), {
    says: 'Address that receives events of documents of the organization.',
  }),
  'Webhook:AuthType': key(choice(['NoAuth', 'Basic', 'Bearer', 'ApiKey']), 'NoAuth', {
    says: 'Authentication of the call: none, `Authorization: Basic <token>`, `Authorization: Bearer <token>`, or `X-Api-Key: <token>`.',
  }),
  'Webhook:Token': optional(secretText(), { says: 'Token of the call, sent unchanged.' }),
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
    {
      says: 'Address of the portal; `http://0.0.0.0:8090` accepts connections from the network, port 0 chooses a free port.',
    },
  ),
  'Portal:PublicUrl': optional(linkBase(), {
    says: 'Base of the links in mails and of `url` and `embedUrl`. It may have a path (`https://host/sign`): the proxy then removes it from requests, and pages, their files and their calls are below it. Left out: `Portal:Url`.',
  }),
  'Portal:Bootstrap:Organization': optional(name, {
    says: 'Organization created at start when missing. Default name: `Default`.',
  }),
  'Portal:Bootstrap:Application': optional(name, {
    says: 'Application created in it; its key is `<Application>|<Secret>`. If absent: `default`, with a secret generated at first start and stored under `{Root}/keys/`.',
  }),
  'Portal:Bootstrap:Secret': optional(secretText(), { says: 'Secret of that application.' }),
  'Portal:Bootstrap:MonitorApplication': optional(name, {
    says: 'Application with the role Monitor, created in the organization `Sys Admin`. If absent: `monitor`, with a secret generated at first start.',
  }),
  'Portal:Bootstrap:MonitorSecret': optional(secretText(), { says: 'Secret of that application.' }),
  'Portal:Organizations': key(records(ORGANIZATION_KEYS), [], {
    says: 'Organizations and their settings, applied at each start.',
  }),
  'Portal:UploadMaxBytes': key(whole(1024), 106_954_752, {
    unit: 'bytes',
    says: 'Maximum size of a file uploaded to the portal.',
  }),
  'Portal:Identifiers': key(choice(['Any', 'Cpf']), 'Any', {
    says: 'Accepted identifiers of participants: any text of up to 50 characters, or national numbers of 11 digits with correct check digits.',
  }),
  'Portal:NotifyParticipants:Concluded': key(flag(), true, {
    says: 'Mail participants when their document is concluded.',
  }),
  'Portal:NotifyParticipants:NewVersion': key(flag(), true, {
    says: 'Mail participants when a document in their flow gets a new version.',
  }),
  'Portal:Smtp:Host': optional(text('host name'), {
    says: 'SMTP relay of the mails. If absent, each mail is written to `{Root}/mail/` and removed after 30 days.',
  }),
  'Portal:Smtp:Port': optional(whole(1, 65_535), {
    says: 'Port of the relay. If absent: 587, or 465 with `Portal:Smtp:Secure`.',
  }),
  'Portal:Smtp:Secure': key(flag(), false, {
    says: 'Use TLS from the start of the connection. Otherwise STARTTLS is used when the relay offers it.',
  }),
  'Portal:Smtp:User': optional(text('user name'), { says: 'User at the relay.' }),
  'Portal:Smtp:Password': optional(secretText(), { says: 'Password of that user.' }),
  'Portal:Smtp:From': optional(mailbox, { says: 'Sender of the mails. Required with a relay.' }),
  'Portal:MessageGateway:Url': optional(webUrl(), {
    says: 'Address that codes by SMS and WhatsApp are posted to ([webhooks.md](webhooks.md#codes-by-sms-and-whatsapp)): https, or http on this machine. If absent, flow actions that require such a code are refused.',
  }),
  'Portal:MessageGateway:Secret': optional(secretText(), {
    says: 'Signs the posts, of the form `whsec_<Base64>`. Required with the address.',
  }),
  'Portal:MessageGateway:MessagesPerDay': key(whole(1, 10_000), 1000, {
    says: 'Codes by SMS and WhatsApp that an organization sends within 24 hours, at most: each costs money. Beyond it 429 until the oldest is a day old. A telephone gets at most ten.',
  }),
  'Portal:AllowUnprovenCertificates': computed(
    flag(),
    '`false` in Production, else `true`',
    ({ environment }) => environment !== 'Production',
    {
      says: 'Treatment of participants’ own certificates without roots in `Signing:Trust`: `true` accepts each valid certificate with a warning; `false` refuses all (`certificate.unproven`). Not used with roots: then a certificate must lead to one of them and must not be revoked.',
    },
  ),
  'Portal:WebhookAllowPrivate': computed(
    flag(),
    '`false` in Production, else `true`',
    ({ environment }) => environment !== 'Production',
    { says: 'Allow webhooks and signing providers of organizations at loopback and private addresses.' },
  ),
  'Portal:WebhookConcludedDelaySeconds': key(whole(0, 86_400), 0, {
    unit: 'seconds',
    says: 'Delay of the event DocumentConcluded after the conclusion.',
  }),
  'Portal:SealProfile': optional(profileName, {
    says: 'Signing profile whose certificate seals electronic signatures. Left out: the first with the Method `Local`; without any, `Signing:Certificate`, or the development certificate where `Signing:AllowSelfSigned` allows it.',
  }),
} as const;
