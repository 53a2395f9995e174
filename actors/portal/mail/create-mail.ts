/** Creates one mail actor per notice of a document; each is sent and retried on its own. */

import type { EffectHandler } from '@sealwright/runtime';
import type { MailRequest } from '../../../machines/portal/portal-types.ts';
import { derivedId } from '../shared/effect-ids.ts';
import { createMail } from './mails.ts';

/** Asked for by documents. */
export interface CreateMailEffect {
  readonly do: 'notify';
  readonly notices: readonly MailRequest[];
}

/**
 * Needs no step, since a repetition does no harm: each mail has an id of its own. Waits until the step is durable: a
 * power cut must not undo a step that a mail reports.
 */
export function createMailHandler(): EffectHandler<CreateMailEffect> {
  return {
    after: 'durable',
    async run({ notices }, { key }, { system, clock }) {
      const at = clock.now();
      await Promise.all(
        notices.map((content, index) =>
          createMail(system, derivedId('notice', key, index), {
            organizationId: content.document.organizationId,
            content,
            at,
          }),
        ),
      );
      return null;
    },
  };
}
