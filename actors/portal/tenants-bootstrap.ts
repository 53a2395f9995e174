/**
 * The organizations, applications and secrets a start wants to find: those of the settings, and on the first start
 * those the program makes for itself. What is there already stays as it is.
 *
 * Source: running.md, `Portal:Bootstrap`, `Portal:Organizations[]` and "First start, nothing configured".
 */
import type { OrganizationId } from '../../machines/ids.ts';
import type { Language, OrganizationSettings } from '../../machines/organization.ts';
import { describeFailure, Fatal } from '../../runtime/index.ts';
import type { Administration } from './administration.ts';
import type { OrganizationView, WebhookAuthType, WebhookInput } from './api.ts';
import type { WebhookRegistry } from './webhooks.ts';

/** An application that is to be there. */
export interface WantedApplication {
  readonly organization: string;
  readonly application: string;
  readonly role: 'Normal' | 'Monitor' | 'Administrator';
  readonly secret: string;
  /**
   * `configured`: the secret is good after every start. `kept`: it was made by the program; once the application is
   * there, nothing is added, so that a revoked one stays revoked.
   */
  readonly from: 'configured' | 'kept';
}

/** Settings of an organization as code; a missing member changes nothing. */
export interface WantedOrganization {
  readonly name: string;
  readonly identifier?: string | undefined;
  readonly embedOrigins?: readonly string[] | undefined;
  readonly language?: Language | undefined;
  readonly replyTo?: string | undefined;
  /** Without a `url` there is none. */
  readonly webhook?: {
    readonly url: string | undefined;
    readonly authType: WebhookAuthType;
    readonly token: string | undefined;
    readonly secret: string | undefined;
  };
}

/** Names of what the program makes for itself. */
export const FIRST_ORGANIZATION = 'Default';
export const FIRST_APPLICATION = 'default';
export const FIRST_MONITOR = 'monitor';

/**
 * Makes what is missing. Refusals: those of `Administration`.
 * @throws {Fatal} `portal.webhook`: the webhook of an organization cannot be called as its settings say
 */
export async function bootstrapTenants(
  administration: Administration,
  wanted: {
    readonly organizations: readonly WantedOrganization[];
    readonly applications: readonly WantedApplication[];
  },
  webhooks?: Pick<WebhookRegistry, 'configure' | 'configured'>,
): Promise<void> {
  const named = new Set<OrganizationId>();
  for (const { name, webhook, ...settings } of wanted.organizations) {
    const { id } = await organizationNamed(administration, name);
    named.add(id);
    await configure(administration, id, settings);
    try {
      await webhooks?.configure(id, webhookInput(webhook));
    } catch (error) {
      throw new Fatal('portal.webhook', `The webhook of ${name}: ${describeFailure(error).message}`);
    }
  }
  // What settings no longer say is no longer called; webhooks that were registered by API stay.
  for (const id of (await webhooks?.configured()) ?? [])
    if (!named.has(id)) await webhooks?.configure(id, undefined);
  for (const application of wanted.applications) await bootstrapApplication(administration, application);
}

function webhookInput(webhook: WantedOrganization['webhook']): WebhookInput | undefined {
  const { url, ...how } = webhook ?? {};
  return url === undefined ? undefined : { authType: 'NoAuth', ...how, url };
}

async function organizationNamed(administration: Administration, name: string): Promise<OrganizationView> {
  return (await administration.findOrganization(name)) ?? (await administration.createOrganization({ name }));
}

async function configure(
  administration: Administration,
  id: OrganizationId,
  wanted: Omit<WantedOrganization, 'name'>,
): Promise<void> {
  const { identifier, embedOrigins, language, replyTo } = wanted;
  const settings: Partial<OrganizationSettings> = {
    ...(identifier !== undefined && { identifier }),
    ...(embedOrigins !== undefined && { embedOrigins }),
    ...(language !== undefined && { language }),
    ...(replyTo !== undefined && { replyTo }),
  };
  if (Object.keys(settings).length > 0) await administration.configure(id, settings);
}

async function bootstrapApplication(
  administration: Administration,
  { organization, application: name, role, secret, from }: WantedApplication,
): Promise<void> {
  const { id, applications } = await organizationNamed(administration, organization);
  const there = applications.find((application) => application.name === name);
  if (there === undefined) await administration.createApplication(id, { name, role }, secret);
  else if (from === 'configured' && !(await administration.hasSecret(id, there.id, secret)))
    await administration.addSecret(id, there.id, secret);
}
