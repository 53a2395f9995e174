/** Webhooks for ended jobs: handlers of their effects, and queries about deliveries. */
import type { ActorStore, ActorSystem, Clock, EffectHandler } from '@sealwright/runtime';
import { createHttpWebhookCaller } from '../../shared/webhooks/http-webhook.ts';
import type { BatchObserver } from '../api/batch-observer.ts';
import type { JobHandler } from '../effects/effect-handler.ts';
import { callJobWebhookHandler } from './call-job-webhook.ts';
import { enqueueWebhooksHandler } from './enqueue-webhooks.ts';
import { JobDeliveries } from './job-deliveries.ts';
import { type JobWebhookOptions, jobWebhooks } from './job-webhook.ts';

export interface JobWebhooksDependencies {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly observer: Pick<BatchObserver, 'webhookCalled'>;
}

export class JobWebhooks {
  /** True: jobs that are made from now on are announced when they end. */
  readonly areConfigured: boolean;
  readonly handlers: {
    readonly enqueueWebhooks: JobHandler<'enqueueWebhooks'>;
    readonly callJobWebhook: EffectHandler;
  };
  readonly deliveries: JobDeliveries;
  readonly #caller: ReturnType<typeof createHttpWebhookCaller>;

  /** @param options `Notifications:Webhooks` */
  constructor(
    options: readonly JobWebhookOptions[],
    { system, store, clock, observer }: JobWebhooksDependencies,
  ) {
    const webhooks = jobWebhooks(options);
    const caller = createHttpWebhookCaller({ clock, allowPrivate: true });
    this.areConfigured = webhooks.length > 0;
    this.handlers = {
      enqueueWebhooks: enqueueWebhooksHandler(webhooks),
      callJobWebhook: callJobWebhookHandler({ clock, webhooks, caller, observer }),
    };
    this.#caller = caller;
    this.deliveries = new JobDeliveries({ system, store, webhooks });
  }

  /** Closes connections; calls in progress fail and are repeated after the next start. */
  close(): void {
    this.#caller.close();
  }
}
