/**
 * Creates the organizations, applications and secrets of the settings at each start, and the default ones at the first
 * start. Keeps what exists.
 *
 * Source: docs/configuration.md, `Portal:Bootstrap`, `Portal:Organizations[]` and "First start, nothing configured".
 */

import { describeFailure, Fatal } from '@sealwright/runtime';
import type { WebhookAuthType, WebhookInput } from '../../contracts/portal/webhooks/webhooks.ts';
import type { Language, QualificationDemand } from '../../contracts/portal/words.ts';
import type { OrganizationId } from '../../machines/ids.ts';
import type { OrganizationSettings } from '../../machines/portal/accounts/organization.ts';
import type { Administration, OrganizationView } from './accounts/administration.ts';
import type { WebhookRegistry } from './webhooks/webhooks.ts';

/** An application that is to be there. */
export interface ApplicationSettings {
  readonly organization: string;
  readonly application: string;
  readonly role: 'Normal' | 'Monitor' | 'Administrator';
  readonly secret: string;
  /**
   * `configured`: the secret is good after every start. `kept`: it was made by the program; once the application is
   * there, nothing is added, so that a revoked one stays revoked.
   */
  readonly from: 'configured' | 'stored';
}

/** Settings of an organization as code; a missing member changes nothing. */
export interface BootstrapOrganization {
  readonly name: string;
  readonly identifier?: string | undefined;
  readonly embedOrigins?: readonly string[] | undefined;
  readonly language?: Language | undefined;
  readonly replyTo?: string | undefined;
  readonly refuseSignedEnvelopeFiles?: boolean | undefined;
  readonly requiredQualification?: QualificationDemand | 'None' | undefined;
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
    readonly organizations: readonly BootstrapOrganization[];
    readonly applications: readonly ApplicationSettings[];
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
  // Removes webhooks that the settings no longer name; those registered by API stay.
  for (const id of (await webhooks?.configured()) ?? [])
    if (!named.has(id)) await webhooks?.configure(id, undefined);
  for (const application of wanted.applications) await bootstrapApplication(administration, application);
}

function webhookInput(webhook: BootstrapOrganization['webhook']): WebhookInput | undefined {
  const { url, ...how } = webhook ?? {};
  return url === undefined ? undefined : { authType: 'NoAuth', ...how, url };
}

async function organizationNamed(administration: Administration, name: string): Promise<OrganizationView> {
  return (await administration.findOrganization(name)) ?? (await administration.createOrganization({ name }));
}

async function configure(
  administration: Administration,
  id: OrganizationId,
  wanted: Omit<BootstrapOrganization, 'name'>,
): Promise<void> {
  const { identifier, embedOrigins, language, replyTo, refuseSignedEnvelopeFiles } = wanted;
  const { requiredQualification: demand } = wanted;
  // An administrator may have typed another address since the same one was configured.
  const isNew = replyTo !== undefined && replyTo !== (await administration.configuredReplyTo(id));
  const settings: Partial<OrganizationSettings> = {
    ...(identifier !== undefined && { identifier }),
    ...(embedOrigins !== undefined && { embedOrigins }),
    ...(language !== undefined && { language }),
    ...(isNew && { replyTo, configuredReplyTo: replyTo }),
    ...(refuseSignedEnvelopeFiles !== undefined && { refuseSignedEnvelopeFiles }),
    ...(demand !== undefined && { requiredQualification: demand === 'None' ? null : demand }),
  };
  if (Object.keys(settings).length > 0) await administration.configure(id, settings);
}

async function bootstrapApplication(
  administration: Administration,
  { organization, application: name, role, secret, from }: ApplicationSettings,
): Promise<void> {
  const { id, applications } = await organizationNamed(administration, organization);
  const existing = applications.find((application) => application.name === name);
  if (existing === undefined) await administration.createApplication(id, { name, role }, secret);
  else if (from === 'configured' && !(await administration.hasSecret(id, existing.id, secret)))
    await administration.addSecret(id, existing.id, secret);
}
