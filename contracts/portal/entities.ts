/**
 * Entities that several subjects show. Every member of a reply is always present: null when empty, lists `[]`.
 *
 * Source: docs/portal-values.md §7 and §12, §16 (folder).
 */
import { z } from 'zod';
import { id, text } from '../fields.ts';
import type { Value } from '../operation.ts';

/** Id and name of what clients name. */
export const recordNames = {
  id: id.meta({ description: 'Identifier, unique within the instance.' }),
  name: z.string().meta({ description: 'Name that people read.', exampleValue: 'Lease agreement' }),
};

export const createdBy = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    name: z.string().meta({ description: 'Application that did it.', exampleValue: 'Billing' }),
  })
  .meta({ id: 'CreatedBy', description: 'The application of the key, or the signed-in user, that did it.' });

export const principal = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    type: z.enum(['User', 'Application']).meta({ description: 'Whether a person or a program acted.' }),
    name: z.string().meta({ description: 'Name that people read.', exampleValue: 'Lease agreement' }),
  })
  .meta({ id: 'Principal', description: 'A participant or user, or an application by its key.' });

export const participant = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    name: z.string().nullable().meta({ description: 'Full name of the person.', exampleValue: 'Ana Silva' }),
    identifier: z.string().nullable().meta({
      description:
        'National number or another identifier of the person, at most 50 characters. By configuration its check digits are verified.',
      exampleValue: '52998224725',
    }),
    email: z.string().nullable().meta({
      description: 'E-mail address. Links and codes are sent to it.',
      exampleValue: 'ana@example.com',
    }),
    phone: z.string().nullable().meta({
      description: 'Telephone number with country code. Kept; nothing is sent to it.',
      exampleValue: '+351 912 345 678',
    }),
  })
  .meta({ id: 'Participant' });

/** Characters of a name that clients give to folders, saved flows, drafts and templates. */
export const MAX_NAME_LENGTH = 255;

export const recordName = text.meta({
  description: 'Name that people read.',
  exampleValue: 'Lease agreement',
  openapi: { type: 'string', maxLength: MAX_NAME_LENGTH },
});

export const folder = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    name: z.string().meta({ description: 'Title of the folder.', exampleValue: 'Contracts 2026' }),
    parentId: id.nullable().meta({ description: 'Folder that contains this one. Null: it is at the top.' }),
  })
  .meta({ id: 'Folder' });

/** An application with its key, or a participant or user. */
export type Principal = Value<typeof principal>;
