/**
 * Credentials for Azure, found where its own programs find them, in this order: a secret of the environment, a file of a
 * workload identity, the identity of the machine.
 */
import { readFile } from 'node:fs/promises';
import type { TokenSource } from './access-tokens.ts';
import { unavailable } from './key-service.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Domains of vaults, each with tokens of its own. */
const DOMAIN =
  /\.((?:vault|managedhsm)\.azure\.(?:net|cn)|vault\.usgovcloudapi\.net|managedhsm\.usgovcloudapi\.net)$/;

/** Service of the identity of a machine, reachable from it alone. */
const MACHINE_IDENTITY = 'http://169.254.169.254/metadata/identity/oauth2/token';

export function azureTokenSource(vaultAddress: string, env: Environment): TokenSource {
  const [, domain = 'vault.azure.net'] = DOMAIN.exec(new URL(vaultAddress).hostname) ?? [];
  const resource = `https://${domain}`;
  const { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client } = env;
  const isApplication = Boolean(
    tenant && client && (env['AZURE_CLIENT_SECRET'] || env['AZURE_FEDERATED_TOKEN_FILE']),
  );
  return isApplication ? applicationSource(String(tenant), resource, env) : machineSource(resource, env);
}

function applicationSource(tenant: string, resource: string, env: Environment): TokenSource {
  const {
    AZURE_CLIENT_ID: client = '',
    AZURE_CLIENT_SECRET: secret,
    AZURE_FEDERATED_TOKEN_FILE: file = '',
  } = env;
  const authority = (env['AZURE_AUTHORITY_HOST'] || 'https://login.microsoftonline.com').replace(/\/$/, '');
  const proof = async (): Promise<Record<string, string>> =>
    secret
      ? { client_secret: secret }
      : {
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: await assertionIn(file),
        };
  return {
    name: `The application ${client} of the tenant ${tenant}`,
    remedy: secret
      ? 'Check AZURE_TENANT_ID and AZURE_CLIENT_ID, and renew AZURE_CLIENT_SECRET if it has ended.'
      : 'Check AZURE_TENANT_ID, AZURE_CLIENT_ID and the federated credential of the application.',
    async request() {
      return {
        method: 'POST',
        url: `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
        headers: {},
        form: {
          grant_type: 'client_credentials',
          client_id: client,
          scope: `${resource}/.default`,
          ...(await proof()),
        },
      };
    },
  };
}

async function assertionIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unavailable(
      `The token in ${file}`,
      String(error.code),
      'Correct AZURE_FEDERATED_TOKEN_FILE, or let this user read the file.',
    );
  });
  return text.trim();
}

function machineSource(resource: string, env: Environment): TokenSource {
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: header, AZURE_CLIENT_ID: client } = env;
  const isApp = Boolean(endpoint && header);
  const query = new URLSearchParams({
    'api-version': isApp ? '2019-08-01' : '2018-02-01',
    resource,
    ...(client && { client_id: client }),
  });
  return {
    name: 'The identity of this machine',
    remedy:
      'Assign a managed identity to the machine, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET.',
    request: () => ({
      method: 'GET',
      url: `${isApp ? endpoint : MACHINE_IDENTITY}?${query}`,
      headers: isApp ? { 'x-identity-header': String(header) } : { metadata: 'true' },
    }),
  };
}
