/** Signing providers of the organization. Source: docs/decisions/0405-keys-behind-the-network.md. */
import { z } from 'zod';
import { entity, id, maybeTextOf, members, shown, textOf } from '../fields.ts';
import type { Value } from '../operation.ts';
import { plainLine } from '../plain-text.ts';
import { EXAMPLE_IDS } from './examples.ts';
import { idIn, organizationParams } from './ids.ts';
import { operationsOf } from './operation.ts';

const MAX_TITLE = 100;
const MAX_ADDRESS = 500;
const MAX_CLIENT = 500;

const asIs = (given: string) => given.trim();
const title = { description: 'Name on the pages of participants.', exampleValue: 'Acme Trust' };
const address = {
  description:
    'Address of its API (Cloud Signature Consortium) with the version; https, ending with /v1 or /v2.',
  exampleValue: 'https://remote.example.org/csc/v2',
};
const authorization = {
  description:
    'Address above `/oauth2/authorize` and `/oauth2/token`. Null: what the provider says, on the host of `address`.',
  exampleValue: null,
};
const clientId = { description: 'Client id that the provider has issued.', exampleValue: 'sealwright' };

const provider = entity('SigningProvider', {
  id: id.meta({ description: 'Identifier of the provider.', exampleValue: EXAMPLE_IDS.document }),
  title: z.string().meta(title),
  address: z.string().meta(address),
  authorization: z.string().nullable().meta(authorization),
  clientId: z.string().meta(clientId),
  returnAddress: shown(
    z.string(),
    'The provider has to allow this redirect address.',
    `https://sign.example.org/signing-provider/${EXAMPLE_IDS.document}.${EXAMPLE_IDS.document}/return`,
  ),
});
export type ProviderView = Value<typeof provider>;

const newProvider = members({
  title: textOf(plainLine, MAX_TITLE).meta(title),
  address: textOf(asIs, MAX_ADDRESS).meta(address),
  authorization: maybeTextOf(asIs, MAX_ADDRESS).meta(authorization),
  clientId: textOf(asIs, MAX_CLIENT).meta(clientId),
  clientSecret: shown(
    maybeTextOf(asIs, MAX_CLIENT),
    'Client secret that the provider has issued. Null: as it is, while the hosts of the addresses stay the same.',
    'a-secret-of-the-provider',
  ),
}).meta({ id: 'NewSigningProvider' });
export type ProviderInput = Value<typeof newProvider>;

const EXAMPLE = {
  title: 'Acme Trust',
  address: 'https://remote.example.org/csc/v2',
  clientId: 'sealwright',
  clientSecret: 'a-secret-of-the-provider',
};

const providerParams = organizationParams.extend({
  providerId: idIn('Id of the provider, from `GET /api/organizations/{id}/signing-providers`.'),
});

const operation = operationsOf({ group: 'Organizations' });

export const listProviders = operation('GET /api/organizations/{id}/signing-providers', {
  summary: 'Lists the signing providers of the organization.',
  description:
    'Without those that the operator has configured. Client secrets are not returned. The session of a user needs the role administrator.',
  scope: 'Read',
  sessionScope: 'Administer',
  params: organizationParams,
  reply: z.array(provider),
  refusals: ['OrganizationNotFound'],
});

export const createProvider = operation('POST /api/organizations/{id}/signing-providers', {
  summary: 'Adds a remote signing service at which participants sign with certificates that it keeps.',
  description:
    'For documents of this organization, at most ten. Its credentials are authorized on pages of the provider (`oauth2code`). `BadRequest` names an address that the service may not call, such as a private one or one with a port.',
  scope: 'Administer',
  params: organizationParams,
  body: newProvider,
  reply: provider,
  examples: { request: EXAMPLE },
  refusals: ['OrganizationNotFound', 'LimitExceeded'],
});

export const replaceProvider = operation('PUT /api/organizations/{id}/signing-providers/{providerId}', {
  summary: 'Changes a signing provider.',
  description:
    'Signatures that are under way there end where an address or the client id changes. `NotFound`: the organization has no such provider.',
  scope: 'Administer',
  params: providerParams,
  body: newProvider,
  reply: provider,
  examples: { request: EXAMPLE },
  refusals: ['OrganizationNotFound', 'NotFound'],
});

export const removeProvider = operation('DELETE /api/organizations/{id}/signing-providers/{providerId}', {
  summary: 'Removes a signing provider.',
  description: 'Signatures that are under way there end without one.',
  scope: 'Administer',
  params: providerParams,
  reply: 'empty',
  refusals: ['OrganizationNotFound', 'NotFound'],
});

export const testProvider = operation('POST /api/organizations/{id}/signing-providers/{providerId}/test', {
  summary: 'Asks a signing provider whether it signs hashes and knows the client.',
  description: 'Nobody signs. Whether it allows the return address is seen at the first signature only.',
  scope: 'Administer',
  params: providerParams,
  reply: entity('SigningProviderTest', {
    success: z.boolean().describe('Whether nothing was found that would prevent signatures.'),
    error: shown(z.string().nullable(), 'What would prevent them. Null: nothing.', null),
  }),
  refusals: ['OrganizationNotFound', 'NotFound'],
});
