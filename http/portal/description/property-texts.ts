/** Texts of all properties and parameters of the portal. */
import type { PropertyTexts } from '../../core/openapi/property-texts.ts';
import { ANSWER_PROPERTIES } from './answer-properties.ts';
import { PROPERTY_EXAMPLES } from './example-values.ts';
import { PARAMETERS } from './parameters.ts';
import { REQUEST_PROPERTIES } from './request-properties.ts';

/** A name that requests and replies share has the text of requests unless its schema has one of its own. */
export const PORTAL_PROPERTY_TEXTS: PropertyTexts = {
  ...PROPERTY_EXAMPLES,
  ...ANSWER_PROPERTIES,
  ...REQUEST_PROPERTIES,
  ...PARAMETERS,
};
