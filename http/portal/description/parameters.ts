/** Meanings of the parameters of the portal’s operations. Source: docs/portal-values.md §§1 and 12. */
import type { PropertyTexts } from '../../core/openapi/property-texts.ts';

const UUID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';

export const PARAMETERS: PropertyTexts = {
  '?content-range': 'Bytes of this segment, such as `bytes 0-1048575/3145728`. Required with a ticket.',
  'documents/{id}': ['Id of the document, from `POST /api/documents`.', UUID],
  'uploads/{id}': ['Id of the upload.', UUID],
  'operations/{id}': ['Id of the operation.', UUID],
  'document-drafts/{id}': ['Id of the draft.', UUID],
  'document-flows/{id}': ['Id of the saved flow.', UUID],
  'generation/{id}': ['Id of the generation.', UUID],
  'organizations/{id}': [
    'Id of the organization. Without the role Administrator only that of the key.',
    UUID,
  ],
  'keys/{key}': [
    'Validation key of the document: 20 letters and digits. Case, hyphens and spaces do not count.',
    'K3M9Q7W2E5R8T1Y4U6I0',
  ],
  'assets/{name}': 'Name of the file, as the page has it.',
  '?ticket': 'Ticket of the link. Absent: the request needs a key.',
  '?user-agent': 'Program of the client, kept as evidence.',
};
