/** The actors of brandings, one per organization that has one. Source: docs/decisions/0130-branding.md. */

import { accepted, type Calls, defineActor } from '@sealwright/runtime';
import { plainLine, plainText } from '../../../contracts/plain-text.ts';
import {
  type BrandingSettings,
  MAX_REDIRECT_ORIGINS,
  type MailPreview,
  type MailWording,
  type NewMailPreview,
} from '../../../contracts/portal/branding.ts';
import {
  BRANDED_MAILS,
  type BrandedMail,
  type Language,
  MAX_REDIRECT_URL,
} from '../../../contracts/portal/words.ts';
import { type OrganizationId, parsePortalId } from '../../../machines/ids.ts';
import {
  type BrandingContext,
  type BrandingMessage,
  brandingMachine,
  NO_BRANDING,
  type PageBranding,
  pageBrandingOf,
} from '../../../machines/portal/branding.ts';
import { checkTogether, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Tenant } from '../api/callers.ts';
import { placeholdersOf, wordingFault } from '../mails/mail-wording.ts';
import { AA_CONTRAST, COLOUR, contrast, readableShade, textOn } from '../shared/contrast.ts';

export const BRANDING = defineActor('branding', { machine: brandingMachine, version: 1 });

/** Grounds of buttons and links: the text of buttons, and the page behind links, in light and dark. */
const LIGHT = ['#ffffff', '#ededed'];
const DARK = ['#06182e', '#232323'];

/** Branding of an organization; ours where it has none. */
export async function brandingOf(
  actors: Pick<Calls, 'read'>,
  organization: string,
): Promise<BrandingContext> {
  const actor = await actors.read(BRANDING, organization);
  return actor === undefined ? NO_BRANDING : { ...NO_BRANDING, ...actor.context };
}

/** Look of the pages of an organization; undefined when they look as ours. */
export async function pageLookOf(
  actors: Pick<Calls, 'read'>,
  organization: { readonly id: OrganizationId; readonly name: string },
): Promise<PageBranding | undefined> {
  return pageBrandingOf(await brandingOf(actors, organization.id), organization);
}

export class BrandingService {
  readonly placeholdersOf = placeholdersOf;
  readonly usableShade = usableShade;

  constructor(
    private readonly actors: Calls,
    private readonly languageOf: (organization: OrganizationId) => Promise<Language>,
  ) {}

  get({ organization }: Tenant): Promise<BrandingContext> {
    return brandingOf(this.actors, organization.id);
  }

  /** Refusals: `InvalidBranding`. */
  async replace(tenant: Tenant, given: BrandingSettings): Promise<BrandingContext> {
    await this.#send(tenant, { type: 'REPLACE', settings: checkedSettings(given) });
    return this.get(tenant);
  }

  /** Null removes it. Refusals: `InvalidBranding`. */
  async setLogo(tenant: Tenant, file: Buffer | null): Promise<BrandingContext> {
    // Threads that host actors load this module, and must not load the signature engine.
    const { cleanLogo } = await import('./logo-file.ts');
    await this.#send(tenant, { type: 'SET_LOGO', logo: file === null ? null : cleanLogo(file) });
    return this.get(tenant);
  }

  /**
   * A mail with sample data; nothing is sent. Refusals: `InvalidBranding`.
   * @param colors in place of the stored ones
   */
  async preview(
    tenant: Tenant,
    { kind, subject, introduction, language }: NewMailPreview,
    colors?: Colors,
  ): Promise<MailPreview> {
    const { id, name } = tenant.organization;
    const own = { ...(await this.get(tenant)), ...(colors && typedColors(colors)) };
    const stored = own.mailTexts[kind];
    const wording = checkedWording(
      {
        subject: subject ?? stored?.subject ?? null,
        introduction: introduction ?? stored?.introduction ?? null,
      },
      kind,
    );
    // The threads of actors load this module for its machine alone.
    const { samplePreview } = await import('../mails/mail-preview.ts');
    return samplePreview(kind, {
      name,
      language: language ?? (await this.languageOf(id)),
      branding: { ...own, mailTexts: { [kind]: wording } },
    });
  }

  /** Logo and stylesheet of any organization, for its pages; undefined = it has none. */
  async logo(organization: string): Promise<{ contentType: string; bytes: Buffer } | undefined> {
    const id = parsePortalId('OrganizationId', organization);
    const { logo } = id ? await brandingOf(this.actors, id) : NO_BRANDING;
    return logo === null
      ? undefined
      : { contentType: logo.contentType, bytes: Buffer.from(logo.bytes, 'base64') };
  }

  /** The stylesheet of colors that are not stored. */
  stylesheetOf(colors: Colors): string {
    return colorRules(typedColors(colors));
  }

  async stylesheet(organization: string): Promise<string | undefined> {
    const id = parsePortalId('OrganizationId', organization);
    const branding = id ? await brandingOf(this.actors, id) : NO_BRANDING;
    return branding.primaryColor === null && branding.headerColor === null ? undefined : colorRules(branding);
  }

  async #send({ organization }: Tenant, message: WithoutTime): Promise<void> {
    if ((await this.actors.read(BRANDING, organization.id)) === undefined) {
      await this.actors.create(BRANDING, organization.id, NO_BRANDING);
    }
    await accepted(
      this.actors.send(BRANDING, organization.id, message),
      () => new PortalRefusal('ServiceBusy'),
    );
  }
}

type WithoutTime = BrandingMessage extends infer Message
  ? Message extends unknown
    ? Omit<Message, 'at'>
    : never
  : never;

/** Refusals: `InvalidBranding`. */
function checkedSettings(given: BrandingSettings): BrandingSettings {
  checkTogether([
    () => primaryColorOf(given.primaryColor),
    () => colorOf(given.headerColor, 'HeaderColor'),
    () => redirectOriginsOf(given.redirectOrigins),
    () => redirectUrlOf(given.redirectUrl),
  ]);
  const redirectOrigins = redirectOriginsOf(given.redirectOrigins);
  const mailTexts: Record<string, MailWording> = {};
  for (const kind of BRANDED_MAILS) {
    const wording = given.mailTexts[kind];
    if (wording !== undefined) mailTexts[kind] = checkedWording(wording, kind);
  }
  return {
    primaryColor: primaryColorOf(given.primaryColor),
    headerColor: colorOf(given.headerColor, 'HeaderColor'),
    mailTexts,
    redirectUrl: checkedRedirect(given.redirectUrl, redirectOrigins),
    redirectOrigins,
  };
}

/** A page after signing. Refusals: `InvalidBranding`. */
export function checkedRedirect(given: string | null, origins: readonly string[]): string | null {
  const url = redirectUrlOf(given);
  if (url === null || origins.includes(url.origin)) return url?.href ?? null;
  throw refused(
    'RedirectUrl',
    `The origin ${url.origin} of the RedirectUrl is not one of the RedirectOrigins. Add it there.`,
  );
}

type Colors = Pick<BrandingSettings, 'primaryColor' | 'headerColor'>;

/** Colors that are being typed: what is no color counts as none, and of one without contrast the nearest shade is shown. */
function typedColors({ primaryColor, headerColor }: Colors): Colors {
  const header = (headerColor ?? '').toLowerCase();
  return {
    primaryColor: usableShade(primaryColor ?? '') ?? null,
    headerColor: COLOUR.test(header) ? header : null,
  };
}

function colorOf(given: string | null, name: string): string | null {
  if (given === null) return null;
  const colour = given.trim().toLowerCase();
  if (!COLOUR.test(colour)) throw refused(name, `The ${name} must have the form #rrggbb.`);
  return colour;
}

function primaryColorOf(given: string | null): string | null {
  const colour = colorOf(given, 'PrimaryColor');
  if (colour === null || LIGHT.every((ground) => contrast(colour, ground) >= AA_CONTRAST)) return colour;
  const least = Math.min(...LIGHT.map((ground) => contrast(colour, ground)));
  const shade = usableShade(colour);
  throw refused(
    'PrimaryColor',
    `The PrimaryColor ${colour} has the contrast ${least.toFixed(1)} with white text and light pages; WCAG 2.2 AA needs ${AA_CONTRAST}. The shade ${shade} has it.`,
  );
}

/** The nearest shade of a color that buttons and links can have; undefined for what is no color. */
function usableShade(given: string): string | undefined {
  const colour = given.trim().toLowerCase();
  return COLOUR.test(colour) ? readableShade(colour, LIGHT, '#000000') : undefined;
}

function checkedWording({ subject, introduction }: MailWording, kind: BrandedMail): MailWording {
  const checked = (text: string | null, name: string, clean: (given: string) => string) => {
    if (text === null || text.trim() === '') return null;
    const fault = wordingFault(text, kind);
    if (fault !== undefined) throw refused(name, `The ${name} of the mail ${kind} ${fault}.`);
    return clean(text);
  };
  const plain = {
    subject: () => checked(subject, 'Subject', plainLine),
    introduction: () => checked(introduction, 'Introduction', plainText),
  };
  checkTogether([plain.subject, plain.introduction]);
  return { subject: plain.subject(), introduction: plain.introduction() };
}

function originOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isBare = url !== undefined && (given === url.origin || given === `${url.origin}/`);
  if (!isBare || !isSafe(url))
    throw refused(
      'RedirectOrigins',
      'Each of the RedirectOrigins must be an origin such as https://app.example.org.',
    );
  return url.origin;
}

function redirectOriginsOf(given: readonly string[]): readonly string[] {
  if (given.length > MAX_REDIRECT_ORIGINS)
    throw refused('RedirectOrigins', `At most ${MAX_REDIRECT_ORIGINS} RedirectOrigins are accepted.`);
  return given.map(originOf);
}

function redirectUrlOf(given: string | null): URL | null {
  if (given === null || given.trim() === '') return null;
  const url = URL.canParse(given) && given.length <= MAX_REDIRECT_URL ? new URL(given) : undefined;
  if (url === undefined || !isSafe(url) || url.username !== '' || url.password !== '')
    throw refused('RedirectUrl', 'The RedirectUrl must be an https address.');
  return url;
}

/** Https; http of the same machine alone, for development. */
function isSafe({ protocol, hostname }: URL): boolean {
  return (
    protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))
  );
}

/** @param member the setting at fault */
function refused(member: string, message: string): PortalRefusal {
  return new PortalRefusal('InvalidBranding', message, { errors: { [member]: [message] } });
}

/** Values of the custom properties of the stylesheet; the shade of dark pages is derived. */
function colorRules({ primaryColor, headerColor }: Colors): string {
  const header = headerColor === null ? '' : `--header: ${headerColor}; --on-header: ${textOn(headerColor)};`;
  const light = primaryColor === null ? '' : `--brand: ${primaryColor}; --on-brand: #ffffff;`;
  const shade = primaryColor === null ? undefined : readableShade(primaryColor, DARK, '#ffffff');
  const dark = shade === undefined ? '' : `--brand: ${shade}; --on-brand: #06182e;`;
  return `:root { ${header} ${light} }
:root[data-theme="dark"] { ${dark} }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { ${dark} } }
`;
}
