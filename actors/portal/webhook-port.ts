/** What leaves for a webhook, and the port it leaves by. */
import type { Millis } from '../../machines/ids.ts';

export interface WebhookCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8 JSON. */
  readonly body: string;
}

export interface WebhookAnswer {
  readonly status: number;
  /** The beginning of its body as text. */
  readonly excerpt: string;
  /** Milliseconds it asked to be left alone (`Retry-After`); null when it did not. */
  readonly retryAfter: Millis | null;
}

export interface WebhookCaller {
  /**
   * Makes one call; follows no redirects.
   * @param signal aborted when nobody waits any longer
   * @throws {WebhookFailure} when there is no answer
   */
  call(call: WebhookCall, signal: AbortSignal): Promise<WebhookAnswer>;
  /** Ends connections; calls under way fail. */
  close(): void;
}

/** Why there is no answer. */
export class WebhookFailure extends Error {
  readonly code: 'webhook.address' | 'webhook.timeout' | 'webhook.unreachable';
  constructor(code: WebhookFailure['code'], message: string) {
    super(message);
    this.name = 'WebhookFailure';
    this.code = code;
  }
}
