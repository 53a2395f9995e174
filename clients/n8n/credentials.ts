/** Addresses and keys, which the program that runs the node encrypts. Each is tried when a person saves it. */
import type { Property } from './host.ts';

const NAME_OF_HEADER = 'X-Api-Key';

function properties(url: string, key: string): Property[] {
  return [
    {
      displayName: 'URL',
      name: 'url',
      type: 'string',
      default: url,
      required: true,
      description: 'Address of the service, without /api',
    },
    {
      displayName: 'Key',
      name: 'key',
      type: 'string',
      default: '',
      required: true,
      typeOptions: { password: true },
      description: key,
    },
  ];
}

function test(url: string) {
  const headers = { [NAME_OF_HEADER]: '={{$credentials.key}}' };
  return { request: { baseURL: "={{$credentials.url.replace(/\\/$/, '')}}", url, headers } };
}

export class SealwrightBatchApi {
  readonly name = 'sealwrightBatchApi';
  readonly displayName = 'Sealwright Batch Service API';
  readonly properties = properties(
    'http://127.0.0.1:8080',
    'API key, or a named key with the scopes it needs',
  );
  readonly test = test('/api/profiles');
}

export class SealwrightPortalApi {
  readonly name = 'sealwrightPortalApi';
  readonly displayName = 'Sealwright Portal API';
  readonly properties = properties('http://127.0.0.1:8090', 'Application and secret, as application|secret');
  readonly test = test('/api/documents?limit=1');
}
