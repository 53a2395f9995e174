/**
 * Properties of a document, each once: a creation request gives it, the document stores it under the same name, replies
 * and webhooks show it. Members of requests, replies and webhooks, the types of stored documents, the API description and
 * the client follow from here. New ones go into `storedIfGiven`; one with a `webhook` is also named in
 * `document-notifications.ts`, as the compiler says.
 */

import { z } from 'zod';
import { anyText, list, map, maybeFlag, maybeLine, maybeText, members, shown, word } from '../fields.ts';
import type { Value } from '../operation.ts';
import { disableNotifications, documentType, isEnvelope, signatureLevel } from './entities.ts';
import { DOCUMENT_TYPES, SIGNATURE_TYPES } from './words.ts';

/** Characters of an external id. */
export const MAX_EXTERNAL_ID = 200;

const textMap = map(anyText.nullable(), 'must be a map of texts');

const additionalInfo = members({
  fields: shown(textMap.nullish(), 'Texts by name of the client’s choice.', { department: 'Sales' }),
  metadata: shown(textMap.nullish(), 'Texts by name of the client’s choice.', { costCenter: '1200' }),
  healthData: members({
    professional: members({
      id: shown(maybeText, 'Number of the professional in the register.', '123456'),
      region: shown(maybeText, 'State or region of the register.', 'SP'),
    })
      .nullish()
      .describe('Professional who is responsible for the record.'),
    items: list(
      members({
        name: shown(maybeText, 'Title of the health record.', 'Prescription 1'),
        description: shown(maybeText, 'First line about the health record.', 'Amoxicillin 500 mg'),
        description2: shown(maybeText, 'Second line about the health record.', 'One capsule every 8 hours'),
      }),
    )
      .nullish()
      .describe('Entries of this page of the list.'),
  })
    .nullish()
    .describe('Data of health documents. Kept with the document.'),
}).meta({ id: 'NewAdditionalInfo' });

/** Every document has these, with `otherwise` where its request gave nothing. */
const alwaysStored = {
  isEnvelope: {
    request: maybeFlag.describe('Whether all files become one document. All must be PDF. Default false.'),
    otherwise: false,
    reply: isEnvelope,
  },
  disableNotifications: { request: disableNotifications, otherwise: false },
  description: {
    request: shown(
      maybeText,
      'Free text about the document, shown to participants.',
      'Lease of the office in Rua Augusta',
    ),
    otherwise: null,
    reply: shown(z.string().nullable(), 'Text given at creation. Null: none.', 'Lease of the office'),
  },
  additionalInfo: {
    request: additionalInfo
      .nullish()
      .describe(
        'Data of the client, which is stored with the document and disclosed to nobody else. At most 1,000 entries.',
      ),
    otherwise: null,
  },
  forceCadesSignature: {
    request: maybeFlag.describe(
      'Whether a PDF is signed beside the file (CAdES) and stays as it is. Default false.',
    ),
    otherwise: false,
    reply: z
      .boolean()
      .describe('Whether a PDF is signed beside the file (CAdES) and stays as it is. Default false.'),
  },
  timestampEnabled: {
    request: maybeFlag.describe(
      'Whether the concluded file gets a time-stamp. Refused when no authority is configured. Default false.',
    ),
    otherwise: false,
  },
  signatureType: {
    request: word(SIGNATURE_TYPES)
      .nullish()
      .describe('Lowest level that signatures must have. `Qualified` refuses electronic ones. Null: `None`.'),
    otherwise: null,
    reply: signatureLevel,
  },
  type: {
    request: word(DOCUMENT_TYPES).nullish().describe('Kind. Absent: the first of the listed values.'),
    otherwise: null,
    reply: documentType,
  },
} as const satisfies Properties;

/** Absent in documents whose request gave none, null, an empty text or false; replies then show `otherwise`. */
const storedIfGiven = {
  requireReading: {
    request: maybeFlag.describe(
      'Whether participants act only after their page has shown every page, or after they have downloaded the file and declared to have read it (`DocumentNotRead`). It rests on what the browser says; applications that act for a participant send `reading` themselves. Default false.',
    ),
    otherwise: false,
    reply: z.boolean().describe('Whether nobody signs before all pages were shown.'),
  },
  externalId: {
    request: shown(
      maybeLine(MAX_EXTERNAL_ID),
      `Id of the document in the system of the client. \`GET /api/documents?ExternalId=\` finds it. At most ${MAX_EXTERNAL_ID} characters.`,
      'order-4711',
    ),
    otherwise: null,
    reply: shown(
      z.string().nullable(),
      'The id that the application gave at creation; null: none.',
      'order-4711',
    ),
    webhook: shown(
      z.string().optional(),
      'The id that the application gave at creation; left out: none.',
      'order-4711',
    ),
  },
} as const satisfies Properties;

interface Property {
  readonly request: z.ZodType;
  /** Value where the request gives nothing. */
  readonly otherwise: null | false;
  /** Absent: no reply shows it. */
  readonly reply?: z.ZodType;
  /** Left out in webhooks where there is none: receivers may know no such member. Absent: no webhook shows it. */
  readonly webhook?: z.ZodType;
}

type Properties = Readonly<Record<string, Property>>;

const properties = { ...alwaysStored, ...storedIfGiven };

type Name = keyof typeof properties;
type RequestValue<Table extends Properties, Member extends keyof Table> = NonNullable<
  Value<Table[Member]['request']>
>;

/** As documents store them. */
export type DocumentProperties = {
  readonly [Member in keyof typeof alwaysStored]:
    | RequestValue<typeof alwaysStored, Member>
    | (typeof alwaysStored)[Member]['otherwise'];
} & { readonly [Member in keyof typeof storedIfGiven]?: RequestValue<typeof storedIfGiven, Member> };

type Shape<Part extends keyof Property> = {
  [Member in Name as (typeof properties)[Member] extends Required<Pick<Property, Part>>
    ? Member
    : never]: (typeof properties)[Member] extends { readonly [part in Part]: infer Schema } ? Schema : never;
};

function shapeOf<Part extends keyof Property>(part: Part): Shape<Part> {
  const entries = Object.entries<Property>(properties).map(([name, property]) => [name, property[part]]);
  return Object.fromEntries(entries.filter(([, schema]) => schema !== undefined)) as Shape<Part>;
}

export const requestProperties = shapeOf('request');
export const replyProperties = shapeOf('reply');
export const webhookProperties = shapeOf('webhook');
/** Names of those that webhooks show. */
export type WebhookProperty = keyof typeof webhookProperties;

/** Those of a request, as its document stores them. */
export function storedProperties(request: { readonly [name in Name]?: unknown }): DocumentProperties {
  const entries = Object.entries<Property>(properties).flatMap(([name, { otherwise }]) => {
    const given = request[name as Name];
    if (given !== undefined && given !== null && given !== '' && given !== false) return [[name, given]];
    return name in alwaysStored ? [[name, otherwise]] : [];
  });
  return Object.fromEntries(entries) as DocumentProperties;
}

/** Those of a document, as replies show them: every one is present. */
export function shownProperties(document: DocumentProperties): Value<z.ZodObject<typeof replyProperties>> {
  const entries = Object.keys(replyProperties).map((name) => [
    name,
    document[name as Name] ?? properties[name as Name].otherwise,
  ]);
  return Object.fromEntries(entries) as Value<z.ZodObject<typeof replyProperties>>;
}
