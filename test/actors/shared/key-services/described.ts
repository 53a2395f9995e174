/** Signers whose keys are at the services of `key-server.ts`, and the credentials for them. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, systemIds } from '@sealwright/runtime';
import type { ExecutionContext } from 'ava';
import type { KeyPlace, ServiceSigner } from '../../../../actors/shared/key-services/key-service.ts';
import { openServiceSigner } from '../../../../actors/shared/key-services/service-signer.ts';
import { type KeyKind, pki } from '../../../pki/pki.ts';
import { AZURE } from './cloud-protocols.ts';
import type { KeyServer } from './served-signatures.ts';

process.env['AWS_ACCESS_KEY_ID'] = 'test';
process.env['AWS_SECRET_ACCESS_KEY'] = 'test';

export const MACHINE = { clock: systemClock, ids: systemIds };
export const SERVICES = ['Vault', 'AwsKms', 'AzureKeyVault', 'GoogleKms'] as const;
export type Service = (typeof SERVICES)[number];
export const RING = 'projects/p-1/locations/europe-west1/keyRings/r/cryptoKeys';

function placeOf(service: Service, { url }: KeyServer, key: string): KeyPlace {
  switch (service) {
    case 'Vault':
      return {
        service,
        address: `${url}/v1/transit`,
        key,
        namespace: undefined,
        tokenPath: undefined,
        token: 'good',
      };
    case 'AwsKms':
      return { service, key, region: 'eu-central-1', address: url };
    case 'AzureKeyVault':
      return { service, key, address: url };
    case 'GoogleKms':
      return { service, key: `${RING}/${key}`, address: url };
  }
}

const ACCOUNT = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

/** Gives the process credentials for the clouds, as an operator does. */
function giveCredentials(server: KeyServer): void {
  server.account = ACCOUNT;
  const file = join(pki().folder, 'google-account.json');
  const members = {
    type: 'service_account',
    client_email: 'signer@p-1.example.org',
    private_key: ACCOUNT.export({ format: 'pem', type: 'pkcs8' }),
    token_uri: `${server.url}/token`,
  };
  writeFileSync(file, JSON.stringify(members));
  process.env['GOOGLE_APPLICATION_CREDENTIALS'] = file;
  process.env['AZURE_AUTHORITY_HOST'] = server.url;
  process.env['AZURE_TENANT_ID'] = AZURE.tenant;
  process.env['AZURE_CLIENT_ID'] = AZURE.client;
  process.env['AZURE_CLIENT_SECRET'] = AZURE.secret;
}

export function described(server: KeyServer, service: Service, kind: KeyKind = 'p-256'): ServiceSigner {
  giveCredentials(server);
  const { key, ...identity } = pki().signer(kind);
  server.keys.set(kind, [key.keyObject]);
  const place = placeOf(service, server, kind);
  return {
    ...identity,
    where: 'service',
    place,
    limits: { maxInFlight: 32, timeoutMs: 60_000 },
    isTried: true,
  };
}

export function opened(t: ExecutionContext, signer: ServiceSigner) {
  const found = openServiceSigner(signer, MACHINE);
  t.teardown(() => found.key.close());
  return found;
}
