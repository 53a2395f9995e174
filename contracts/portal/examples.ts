/** Values that the examples of several operations and members share. */

/** Ids in the examples, by what they name. */
export const EXAMPLE_IDS = {
  upload: '9b2f7c1e-4d3a-4f6b-8c5d-7e1f0a2b3c4d',
  document: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  flowAction: '5d7e1f0a-2b3c-4d9b-af7c-1e4d3a4f6b8c',
  table: '1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f',
  template: '2d3e4f5a-6b7c-4d8e-9f0a-1b2c3d4e5f6a',
  ticket: '0f8c1d2e3b4a59687786a5b4c3d2e1f0',
} as const;

/** A validation key. */
export const EXAMPLE_KEY = 'K3M9Q7W2E5R8T1Y4U6I0';

export const ANA = { name: 'Ana Silva', email: 'ana@example.com', identifier: '52998224725' };

export const FILE = {
  id: EXAMPLE_IDS.upload,
  displayName: 'Lease agreement',
  name: 'contract.pdf',
  contentType: 'application/pdf',
};

export const SIGNER = { type: 'Signer', step: 1, title: 'Tenant', allowElectronicSignature: true, user: ANA };

export const CREATION = { files: [FILE], flowActions: [SIGNER] };

export const REASON = { reason: 'The price has changed.' };
