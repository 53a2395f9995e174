/** Results of the checks of a signature. Source: docs/portal-values.md §17. */
import { z } from 'zod';

export interface ValidationResults {
  readonly isValid: boolean;
  readonly passedChecks: readonly ValidationItem[];
  readonly errors: readonly ValidationItem[];
  readonly warnings: readonly ValidationItem[];
}

export interface ValidationItem {
  readonly type: string;
  readonly message: string;
  readonly detail: string | null;
  readonly innerValidationResults: ValidationResults | null;
}

const validationItem: z.ZodType<ValidationItem> = z
  .strictObject({
    type: z.string().meta({
      description: 'Stable name of the check, such as `certificate.unproven`.',
      exampleValue: 'certificate.unproven',
    }),
    message: z.string().meta({
      description: 'What happened, for people. The text may change.',
      exampleValue: 'The document is already concluded.',
    }),
    detail: z.string().nullable().meta({
      description: 'Technical cause, such as the message of a library. Null: none.',
      exampleValue: 'OCSP response is 3 days old',
    }),
    get innerValidationResults() {
      return validationResults.nullable().meta({
        description:
          'Findings about what this item depends on, such as the certificate of an authority. Null: none.',
      });
    },
  })
  .meta({ id: 'ValidationItem' });

function findings(description: string) {
  return z.array(validationItem).meta({ description });
}

export const validationResults: z.ZodType<ValidationResults> = z
  .strictObject({
    isValid: z.boolean().meta({ description: 'There are no errors.', exampleValue: true }),
    passedChecks: findings('Checks that found nothing wrong.'),
    errors: findings('Findings because of which the signature is not valid. Empty: it is valid.'),
    warnings: findings('Findings that do not make the signature invalid.'),
  })
  .meta({ id: 'ValidationResults' });

/** Lazy: `meta` copies a schema, and a copy of one that contains itself gets other names in the API description (zod 4.6.7). */
export const signatureChecks = z
  .lazy(() => validationResults)
  .meta({ description: 'What the checks of the signature found.' });
