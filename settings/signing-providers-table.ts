/** `Portal:SigningProviders`: remote signing services of participants. Source: docs/decisions/0405-keys-behind-the-network.md. */
import type { Fault } from './findings.ts';
import { issuer, providerName } from './identity-table.ts';
import { key, optional, records, required, type Shape } from './keys.ts';
import { isProxy, PROXY_RULE, secretText, secretVariable, text } from './kinds.ts';
import { name } from './portal-table.ts';

/** Members of one entry. */
export const SIGNING_PROVIDER_KEYS = {
  Name: required(providerName, 'unnamed', {
    says: 'Name in the address `/signing-provider/<Name>/return`, which the provider has to allow.',
  }),
  Title: optional(name, { says: 'Name on the pages. Left out: `Name`.' }),
  Organization: optional(name, {
    says: 'Organization whose documents are signed there. Left out: all.',
  }),
  Address: required(issuer, 'https://localhost/csc/v2', {
    says: 'Address of its API with the version, as `https://remote.example.org/csc/v2`.',
  }),
  Authorization: optional(issuer, {
    says: 'Address above `/oauth2/authorize` and `/oauth2/token`. Left out: what the provider says, public or on the host of `Address`.',
  }),
  ClientId: required(text('client id'), 'unnamed', { says: 'Client id that the provider has issued.' }),
  ClientSecret: required(secretText(), 'unnamed', { says: 'Client secret that the provider has issued.' }),
  ProxyEnvVar: optional(secretVariable(), {
    says: 'As `KeyService:ProxyEnvVar`. Other hosts that the provider names are asked directly: set `Authorization`.',
  }),
} as const;

export const SIGNING_PROVIDERS_KEYS = {
  'Portal:SigningProviders': key(records(SIGNING_PROVIDER_KEYS), [], {
    says: 'Remote signing services (CSC API) at which participants sign with certificates that are kept there.',
  }),
} as const;

interface ProviderSettings {
  readonly portal: { readonly signingProviders: readonly Shape<typeof SIGNING_PROVIDER_KEYS>[] };
}

export function checkSigningProviders(
  { portal: { signingProviders: providers } }: ProviderSettings,
  faults: Fault[],
): void {
  for (const [index, { name: own, proxyEnvVar }] of providers.entries()) {
    if (proxyEnvVar !== undefined && !isProxy(proxyEnvVar.value))
      faults.push({ key: `Portal:SigningProviders:${index}:ProxyEnvVar`, rule: PROXY_RULE });
    const twin = providers.findIndex((one) => one.name === own);
    if (twin < index)
      faults.push({
        key: `Portal:SigningProviders:${index}:Name`,
        rule: `is also the name of Portal:SigningProviders:${twin}; names must be unique`,
      });
  }
}
