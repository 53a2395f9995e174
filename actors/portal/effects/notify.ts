/** Makes one mail of each notice a document asks for. They live, wait and fail on their own from then on. */
import type { Notice } from '../../../machines/portal-words.ts';
import type { ActorSystem, Clock, EffectHandler } from '../../../runtime/index.ts';
import { derivedId } from '../effect-ids.ts';
import { createMail } from '../mails.ts';

/** Asked for by documents. */
export interface NotifyEffect {
  readonly do: 'notify';
  readonly notices: readonly Notice[];
}

/** The outcome that nobody waits for. */
const NOTIFIED = { type: 'NOTIFIED' } as const;

/** Nobody hears of a step that a power cut could undo. */
export function notifyHandler(parts: {
  readonly system: () => ActorSystem;
  readonly clock: Clock;
}): EffectHandler<NotifyEffect> {
  return {
    after: 'durable',
    async run({ notices }, { key }) {
      const at = parts.clock.now();
      await Promise.all(
        notices.map((content, index) =>
          createMail(parts.system(), derivedId('notice', key, index), {
            organizationId: content.document.organizationId,
            content,
            at,
          }),
        ),
      );
      return NOTIFIED;
    },
  };
}
